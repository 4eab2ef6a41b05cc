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
// to which the corrections C̃ of the poses' linear responses are added (asset/pose_space_model.h). Between known poses
// the rotation counts as constant in an element. Taking its gradient along would strain flesh wherever limbs bend,
// however little it moves: R is a choice of directions, blended from few sites, and its wrinkles are not the body's
// (measured: docs/theory.md).
#pragma once

#include "supple/runtime/posespace/pose_interpolation.h"
#include "supple/runtime/subspace/dense_cholesky.h"

namespace supple {

template <class T>
class CubatureForces {
 public:
  static constexpr int width = PosedTets<T>::width;

  CubatureForces() = default;
  explicit CubatureForces(std::shared_ptr<const PreparedModel<T>> prepared);

  int size() const { return prepared_->size; }
  int stride() const { return prepared_->stride; }

  /// The rest shape: a pose, and where the model's points are in it.
  void set_pose(std::span<const double> p, std::span<const Vec3> positions);
  /// What the pose made of bases and weights.
  const PoseInterpolation<T>& pose() const { return pose_; }

  /// Stresses at q, plus stiffness damping β (∂P/∂F : D v) along the velocity v. `q` and `v` are padded to stride().
  void evaluate(const T* q, const T* v, T stiffness_damping);
  /// f += f̃ of the last evaluate().
  void add_force(T* f);
  /// The lower triangle of `matrix` += factor · K̃ of the last evaluate().
  void add_stiffness(T factor, DenseCholesky<T>& matrix);
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
  template <class Model>
  void evaluate_block(const PreparedElements<T>& prepared, T stiffness_damping, Block& block);
  template <class Model>
  T block_energy(const PreparedElements<T>& prepared, const Block& block) const;

  std::shared_ptr<const PreparedModel<T>> prepared_;
  PoseInterpolation<T> pose_;
  std::vector<Block> blocks_;
  std::vector<T> along_, linear_;  ///< q + β v of the last evaluate(), and C̃ times it
  std::vector<T> q_, v_, f_;       ///< of a block
  std::vector<T> scratch_, product_;
};

extern template class CubatureForces<float>;
extern template class CubatureForces<double>;

}  // namespace supple
