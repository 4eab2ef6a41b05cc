// SPDX-License-Identifier: Apache-2.0
// CubatureForces: elastic force and stiffness of a PoseSpaceModel, in the nine-dimensional space of the deformation
// gradients of its cubature elements (2016 paper, Eq. 21 and 22).
//
// Around the rest shape of a pose an element sees  F = 1 + ∇u = 1 + G F_Φ⁻¹,  vec(G) = D_e q,  G = ∂u/∂X. Bases are
// kept turned back, by the element's rotation R in the poses that are known: u = R û. Energy doesn't depend on how the
// element is turned, so with F_Φ = R S
//   Ψ(F) = Ψ(Rᵀ F R) = Ψ(1 + Ĝ S⁻¹),   vec(Ĝ) = D_e q,  D_e = Σ_i w_i D_e,i Υ
// (with directions of the world: Ψ(1 + G F_Φ⁻¹)). The chain rule through B = S⁻¹ or F_Φ⁻¹ acts on nine numbers of an
// element, not on its r columns: with the weight w,
//   energy = Σ w Ψ      f̃ = Σ w D_eᵀ vec(P Bᵀ)      K̃ = Σ w D_eᵀ H D_e,   H = (B ⊗ 1) (∂P/∂F) (Bᵀ ⊗ 1)
// Forces are always those of all elements. K̃ only says which way an implicit step goes, and changes slowly; its sum may
// be refreshed in turn, a part of the elements at a time.
//
// To force and stiffness the corrections C̃ of the poses' linear responses are added (asset/pose_space_model.h).
// Between known poses the rotation counts as constant in an element. Taking its gradient along would strain flesh
// wherever limbs bend, however little it moves: R is a choice of directions, blended from few sites, and its wrinkles
// are not the body's (measured: docs/theory.md).
#pragma once

#include "supple/runtime/posespace/pose_interpolation.h"

namespace supple {

template <class T>
class CubatureForces {
 public:
  static constexpr int width = PosedTets<T>::width;
  static constexpr int all_parts = -1;

  CubatureForces() = default;
  /// `parts`: in how many parts the stiffness is kept.
  explicit CubatureForces(std::shared_ptr<const PreparedModel<T>> prepared, int parts = 1);

  int size() const { return prepared_->size; }
  int stride() const { return prepared_->stride; }

  /// The rest shape: a pose, and where the model's points are in it.
  void set_pose(std::span<const double> p, std::span<const Vec3> positions);
  /// What the pose made of bases and weights.
  const PoseInterpolation<T>& pose() const { return pose_; }

  int parts() const { return static_cast<int>(parts_.size()); }

  /// Stresses at q, padded to stride(), and the stiffness of one part of the elements there, or of all.
  void evaluate(const T* q, int part = all_parts);
  /// f += f̃ of the last evaluate().
  void add_force(T* f);
  /// The lower triangle of `matrix` += factor · K̃, each part as it was last evaluated.
  void add_stiffness(T factor, T* matrix) const;
  /// y += K̃ x, likewise.
  void multiply_stiffness(const T* x, T* y) const;
  /// Elastic energy at q [J].
  T energy(const T* q);

 private:
  using Lanes = Pack<T, width>;
  using LaneMatrix = Eigen::Matrix<Lanes, 3, 3>;

  /// What changes while time runs, of one block of elements.
  struct Block {
    std::vector<Lanes> weight, mu, lambda;
    std::vector<LaneMatrix> B;
    std::vector<T> blended;  ///< D of the pose; empty where the model has one pose
    const T* D = nullptr;    ///< nine padded rows per element
    std::vector<T> JD;       ///< w H D, likewise
    std::vector<T> stress;   ///< w P Bᵀ, nine per element
  };

  void pose_block(std::span<const Vec3> positions, const PreparedElements<T>& prepared, Block& block);
  /// The batches of a part.
  std::array<std::size_t, 2> range(const PreparedElements<T>& prepared, int part) const;
  template <class Model>
  void evaluate_block(const PreparedElements<T>& prepared, int part, Block& block);
  void refresh(int part);
  void sum_parts();
  template <class Model>
  T block_energy(const PreparedElements<T>& prepared, const Block& block) const;

  std::shared_ptr<const PreparedModel<T>> prepared_;
  PoseInterpolation<T> pose_;
  std::vector<Block> blocks_;
  std::vector<std::vector<T>> parts_;  ///< of K̃ without corrections, lower triangles in padded columns …
  std::vector<T> stiffness_;           ///< … and all together, with corrections
  std::vector<T> linear_;              ///< C̃ q of the last evaluate()
  std::vector<T> q_, f_;               ///< of a block
  std::vector<T> scratch_, product_;
};

extern template class CubatureForces<float>;
extern template class CubatureForces<double>;

}  // namespace supple
