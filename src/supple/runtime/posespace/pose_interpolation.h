// SPDX-License-Identifier: Apache-2.0
// PoseInterpolation: what a pose p makes of the poses that a model knows (2016 paper, Eq. 14 to 16, 20, 36).
//
//   w(p), as pose-space deformation weighs them             M̂ = Σ_i Σ_j w_i w_j Û_iᵀ M Û_j
//   Υ_c = M̂_cc^(−1/2): columns of unit mass                 M̃ = Υ M̂ Υ
//   Λ̃ = Υ Σ_i w⁺_i Λ_i Υ / Σ_i w⁺_i,  w⁺ = max(0, w), so that it is positive beyond the known poses, too; C likewise
//
// Bases are then Σ_i Û_i diag(w_i Υ): a block asks for the factors of its own columns. Poses that share a column add
// their weights up in the factor of the one that it is from.
#pragma once

#include "supple/runtime/posespace/kept_columns.h"
#include "supple/runtime/posespace/prepared_model.h"

namespace supple {

template <class T>
class PoseInterpolation {
 public:
  PoseInterpolation() = default;
  explicit PoseInterpolation(std::shared_ptr<const PreparedModel<T>> prepared);

  /// Allocates nothing.
  void update(std::span<const double> p);
  /// Which columns count from the next update() on: nothing else is computed, or read. Allocates nothing.
  void keep(const KeptColumns& columns) { kept_ = columns; }
  const KeptColumns& kept() const { return kept_; }

  /// One pose alone: neither bases nor M̃ and Λ̃ change with p, and all factors are one …
  bool constant() const { return prepared_->poses == 1; }
  /// … nor do corrections.
  bool nothing_changes() const { return constant() && !prepared_->model->correction_poses; }
  /// Poses that count.
  std::span<const std::size_t> active() const { return {active_.data(), active_count_}; }
  T weight(std::size_t pose) const { return weights_[pose]; }
  /// Υ_c Σ w_j over the poses j whose column c is from this one, for all c.
  const T* factors(std::size_t pose) const { return factors_.data() + pose * stride(); }

  /// The same for gradients.
  const T* gradient_factors(std::size_t pose) const { return gradient_factors_.data() + pose * stride(); }

  /// Lower triangles of M̃, C and Λ̃, padded columns.
  const T* mass() const { return mass_.data(); }
  const T* correction() const { return correction_.data(); }
  const T* linear() const { return linear_.data(); }

  /// A ← c_M M̃ + c_Λ Λ̃ + C, a lower triangle in padded columns …
  void combine(T mass_factor, T linear_factor, T* A) const;
  /// … and P ← c_M M̃ + (c_Λ + 1) Λ̃ along with it.
  void combine(T mass_factor, T linear_factor, T* A, T* P) const;
  /// y += matrix x for a lower triangle of a symmetric matrix; all are padded, and what pads is zero.
  void multiply(const T* matrix, const T* x, T* y) const;

  /// Σ_i X_i diag(factors of the block's columns), row by row; `scratch` holds a padded row for each pose. `runs` are
  /// the block's columns that are kept, here in whole vectors.
  void blend(const PoseMatrices<T>& matrices, const BlockColumns& columns, std::span<const ColumnRun> runs, T* scratch,
             T* result) const;
  /// What a blended column is summed up from: where it is stored, and its factor.
  struct Term {
    T factor;
    std::uint32_t place;
  };
  /// Likewise the gradients of elements; they stay divided by the columns' scale. `terms` have room for all that is
  /// stored of a batch, `ends` for its columns.
  void blend(const PreparedElements<T>& elements, std::span<const ColumnRun> runs, std::span<Term> terms,
             std::span<std::uint32_t> ends, typename PreparedElements<T>::Stored* result) const;

 private:
  std::size_t stride() const { return to_size(prepared_->stride); }
  /// body(c, begin, end) for each kept column and the kept rows of its lower triangle, in whole vectors.
  template <class Body>
  void for_each_column(const Body& body) const;
  /// multiply() with a few columns next to each other, of a run: a vector of y is read and written once for all.
  template <int count>
  void multiply_columns(const T* matrix, int first, std::size_t run, const T* x, T* y) const;
  /// Of blend(): a vector of columns, from `column` on, of all rows; `factors` and `result` start there.
  void blend_vector(const PoseMatrices<T>& matrices, std::size_t column, const T* factors, T* result) const;
  void combine_mass();
  void find_factors(const std::vector<int>& sources, std::vector<T>& factors) const;
  /// What each pattern's groups count with.
  template <class Vector>
  void find_summed(const TriangleStack<Vector>& stack, const std::vector<T>& factors);
  void combine_stiffness();
  void combine_corrections();
  /// A few places of a pattern, whose groups that count end at `end`: sums that don't wait for each other.
  template <int count, class Pattern>
  void sum_places(const Pattern& pattern, std::size_t first, std::size_t end, const T* scale, T* result) const;
  /// result ← Σ_k factors_k matrix_k, rows and columns then times `scale` where that is given.
  template <class Vector>
  void sum(const TriangleStack<Vector>& stack, const std::vector<T>& factors, const T* scale, T* result);

  std::shared_ptr<const PreparedModel<T>> prepared_;
  KeptColumns kept_;
  std::vector<double> exact_, correction_exact_, scratch_;
  std::vector<T> weights_, scale_, linear_scale_, factors_, gradient_factors_, mass_, correction_, linear_;
  std::vector<T> products_, shares_, correction_shares_;  ///< w_i w_j of all pairs, and w⁺_i / Σ w⁺
  std::vector<std::size_t> active_;
  std::vector<char> stored_;             ///< of each pose: some pose that counts has columns from it
  std::vector<T> group_factors_;         ///< of a TriangleStack …
  std::vector<Term> summed_;             ///< … and those that aren't zero …
  std::vector<std::size_t> summed_end_;  ///< … of each of its patterns
  std::size_t active_count_ = 0;
};

extern template class PoseInterpolation<float>;
extern template class PoseInterpolation<double>;

}  // namespace supple
