// SPDX-License-Identifier: Apache-2.0
// PoseInterpolation: what a pose p makes of the poses that a model knows (2016 paper, Eq. 14 to 16, 20, 36).
//
//   w(p) and Υ_c = M̂_cc^(−1/2) of pose_factors.h            M̂ = Σ_i Σ_j w_i w_j Û_iᵀ M Û_j,   M̃ = Υ M̂ Υ
//   Λ̃ = Υ Σ_i w⁺_i Λ_i Υ / Σ_i w⁺_i,  w⁺ = max(0, w), so that it is positive beyond the known poses, too; C likewise
//
// The blended basis is Σ_i Û_i diag(w_i Υ), so a blend of any matrix with one column per coordinate needs one factor
// for each pose and coordinate: those of PoseFactors.
//
// What happens in update(p), in this order; each line reads what the one before has written:
//   1. w and, where corrections are known at more poses, their weights        PoseSpaceWeights::evaluate
//   2. w_i w_j of all pairs, Υ and the factors of bases                       PoseFactors::update
//   3. M̂, the sum over PreparedModel::mass, and M̃ in place of it              combine_mass()
//   4. Λ̃ and C, sums over PreparedModel::linear and ::corrections             combine_stiffness()
//   5. the factors of gradients, whose columns may come from other poses      PoseFactors::find
// Afterwards each block asks for its own blend(): gradients of elements batch by batch, bases of vertices in vectors of
// columns. Both read each stored number once, in the order in which it lies, and pass over factors that are zero.
#pragma once

#include "supple/runtime/posespace/kept_columns.h"
#include "supple/runtime/posespace/pose_factors.h"

namespace supple {

template <class T>
class PoseInterpolation {
 public:
  PoseInterpolation() = default;
  explicit PoseInterpolation(std::shared_ptr<const PreparedModel<T>> prepared);

  /// Computes everything below for the pose p. Allocates nothing.
  void update(std::span<const double> p);
  /// Says which coordinates count from the next update() on: columns of others are neither computed nor read. Allocates
  /// nothing.
  void keep(const KeptColumns& columns) { kept_ = columns; }
  const KeptColumns& kept() const { return kept_; }

  /// True for a model of one pose: bases, M̃ and Λ̃ don't depend on p, and all factors are one. Corrections may still be
  /// known at other poses and change.
  bool constant() const { return prepared_->poses == 1; }
  /// True where corrections don't change either.
  bool nothing_changes() const { return constant() && !prepared_->model->correction_poses; }
  /// Weights of the poses, Υ, and the factors of bases, for all coordinates, kept or not.
  const PoseFactors<T>& basis() const { return basis_; }
  std::span<const std::size_t> active() const { return basis_.active(); }
  T weight(std::size_t pose) const { return basis_.weight(pose); }
  const T* factors(std::size_t pose) const { return basis_.factors(pose); }
  /// The same as factors() for gradients of elements, which poses may have from others than they have the basis from.
  const T* gradient_factors(std::size_t pose) const { return gradient_factors_.data() + pose * stride(); }

  /// M̃, C and Λ̃ as lower triangles: columns of PreparedModel::stride entries, whole vectors from the diagonal on.
  const T* mass() const { return mass_.data(); }
  const T* correction() const { return correction_.data(); }
  const T* linear() const { return linear_.data(); }

  /// The part of the damping's stiffness that is a matrix: Λ̃, or C where strain is exact and elements have the rest.
  const T* damping_matrix() const { return prepared_->model->exact_strain ? correction() : linear(); }
  /// w⁺_i / Σ w⁺ of the poses at which Λ is known.
  const std::vector<T>& stiffness_shares() const {
    return prepared_->model->exact_strain ? correction_shares_ : shares_;
  }

  /// A ← c_M M̃ + c_Λ Λ̃ + C (with exact strain c_M M̃ + (c_Λ + 1) C), a lower triangle in padded columns …
  void combine(T mass_factor, T linear_factor, T* A) const;
  /// … and P ← c_M M̃ + (c_Λ + 1) Λ̃ along with it.
  void combine(T mass_factor, T linear_factor, T* A, T* P) const;
  /// y += matrix x for a lower triangle of a symmetric matrix; all are padded, and what pads is zero.
  void multiply(const T* matrix, const T* x, T* y) const;

  /// result ← Σ_i X_i diag(factors(i)), row by row, for the columns of a block. `scratch` has room for a padded row of
  /// each pose; `runs` are the columns of the block that are kept, as whole vectors.
  void blend(const PoseMatrices<T>& matrices, const BlockColumns& columns, std::span<const ColumnRun> runs, T* scratch,
             T* result) const;
  /// One summand of a blended column: its factor, and where its packs are stored.
  struct Term {
    T factor;
    std::uint32_t place;
  };
  /// Blends the gradients of a block's elements in the same way; the result stays divided by the columns' scale.
  /// `terms` and `ends` are scratch: room for StoredPoses::count() and for one end per column.
  void blend(const PreparedElements<T>& elements, std::span<const ColumnRun> runs, std::span<Term> terms,
             std::span<std::uint32_t> ends, typename PreparedElements<T>::Stored* result) const;

 private:
  std::size_t stride() const { return to_size(prepared_->stride); }
  /// Calls body(c, begin, end) for each kept column and each run of kept rows of its lower triangle, in whole vectors.
  template <class Body>
  void for_each_column(const Body& body) const;
  /// A part of multiply(): `count` neighbouring columns at once, so that a vector of y is read and written once for
  /// all.
  template <int count>
  void multiply_columns(const T* matrix, int first, std::size_t run, const T* x, T* y) const;
  /// A part of blend(): one vector of columns, from `column` on, in all rows. `factors` and `result` point to its
  /// start.
  void blend_vector(const PoseMatrices<T>& matrices, std::size_t column, const T* factors, T* result) const;
  /// Computes M̃ from the weights and Υ, and then all that depends on them.
  void combine_mass();
  /// Adds the factors of matrices that share a vector, pattern by pattern, and lists the groups that don't come to
  /// zero.
  template <class Vector>
  void find_summed(const TriangleStack<Vector>& stack, const std::vector<T>& factors);
  /// Sums up Λ̃ and C.
  void combine_stiffness();
  /// The second half of blending gradients, for elements of so many rows.
  template <std::size_t rows>
  static void blend_batches(const PreparedElements<T>& elements, std::span<const ColumnRun> runs,
                            std::span<const Term> terms, std::span<const std::uint32_t> ends,
                            typename PreparedElements<T>::Stored* result);
  /// Sums `count` neighbouring places of a pattern at once, so that no sum waits for another. The groups that count are
  /// summed_[pattern.first] to summed_[end − 1].
  template <int count, class Pattern>
  void sum_places(const Pattern& pattern, std::size_t first, std::size_t end, const T* scale, T* result) const;
  /// result ← Σ_k factors_k matrix_k, rows and columns then times `scale` where that is given.
  template <class Vector>
  void sum(const TriangleStack<Vector>& stack, const std::vector<T>& factors, const T* scale, T* result);

  std::shared_ptr<const PreparedModel<T>> prepared_;
  KeptColumns kept_;
  PoseFactors<T> basis_;
  std::vector<double> correction_exact_, scratch_;
  std::vector<T> linear_scale_, gradient_factors_, mass_, correction_, linear_;
  std::vector<T> shares_, correction_shares_;  ///< w⁺_i / Σ w⁺ of the poses, and of those with a correction …
  std::vector<T> counting_shares_;             ///< … times what counts of corrections here (correction_share())
  std::vector<char> stored_;                   ///< for each pose, whether an active pose has columns from it
  std::vector<T> group_factors_;               ///< scratch of find_summed(): the factors of a pattern's groups
  std::vector<Term> summed_;                   ///< those of them that aren't zero, pattern after pattern
  std::vector<std::size_t> summed_end_;        ///< for each pattern, where its own end in summed_
};

extern template class PoseInterpolation<float>;
extern template class PoseInterpolation<double>;

}  // namespace supple
