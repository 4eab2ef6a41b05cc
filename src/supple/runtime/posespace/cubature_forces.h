// SPDX-License-Identifier: Apache-2.0
// CubatureForces: elastic force and stiffness of a PoseSpaceModel, in the nine-dimensional space of the deformation
// gradients of its cubature elements (2016 paper, Eq. 21 and 22).
//
// Around the rest shape of a pose an element sees  F = 1 + ∇(R U q) = 1 + R G0 F_Φ⁻¹,  G0 = Σ_a (U_a q) ∂N_a/∂Xᵀ: the
// rotation is taken as constant in the element. Energy doesn't depend on how the element is turned, so with F_Φ = R S
//   Ψ(F) = Ψ(Rᵀ F R) = Ψ(1 + G0 S⁻¹),   vec(G0) = D_e q
// where D_e is known beforehand and only the stretch S of the rest shape changes with the pose. The chain rule through
// S⁻¹ acts on nine numbers of an element, not on its r columns: with the weight w,
//   energy = Σ w Ψ      f̃ = Σ w D_eᵀ vec(P S⁻¹)      K̃ = Σ w D_eᵀ H D_e,   H = (S⁻¹ ⊗ 1) (∂P/∂F) (S⁻¹ ⊗ 1)
// besides what the model's linear correction C adds: qᵀCq/2, C q and C (asset/pose_space_model.h).
// Taking the gradient of R along would strain flesh wherever limbs bend, however little it moves: R is a choice of
// directions, blended from few sites, and its wrinkles are not the body's (measured: docs/theory.md).
#pragma once

#include "supple/runtime/posespace/frame_field.h"
#include "supple/runtime/subspace/dense_cholesky.h"

namespace supple {

template <class T>
class CubatureForces {
 public:
  static constexpr int width = PosedTets<T>::width;

  CubatureForces() = default;
  explicit CubatureForces(const PoseSpaceModel& model);

  int size() const { return r_; }
  int stride() const { return stride_; }

  /// The rest shape: where the model's points are in a pose.
  void set_pose(std::span<const Vec3> positions);

  /// Stresses at q, plus stiffness damping β (∂P/∂F : D v) along the velocity v. `q` and `v` are padded to stride().
  void evaluate(const T* q, const T* v, T stiffness_damping);
  /// f += f̃ of the last evaluate().
  void add_force(T* f) const;
  /// The lower triangle of `matrix` += factor · K̃ of the last evaluate().
  void add_stiffness(T factor, DenseCholesky<T>& matrix);
  /// Elastic energy at q [J].
  T energy(const T* q);

 private:
  using Lanes = Pack<T, width>;
  using LaneMatrix = Eigen::Matrix<Lanes, 3, 3>;

  const T* row(const std::vector<T>& matrix, std::size_t index) const {
    return matrix.data() + index * static_cast<std::size_t>(stride_);
  }
  /// Σ_c D(row, c) x(c) for the nine rows of the elements of a batch.
  LaneMatrix gather(std::size_t batch, const T* x) const;
  template <class Model>
  void evaluate_with(const T* q, const T* v, T stiffness_damping);
  template <class Model>
  T energy_with(const T* q) const;
  void multiply_jacobian(std::size_t batch, const Eigen::Matrix<Lanes, 9, 9>& H);
  /// C x, into a padded vector.
  void correct(const T* x, std::vector<T>& result) const;

  int r_ = 0;
  int stride_ = 0;
  MaterialModel material_ = MaterialModel::flesh;
  PosedTets<T> tets_;
  std::size_t elements_ = 0;
  std::vector<Lanes> base_weight_, weight_;
  std::vector<Lame<Lanes>> lame_;
  std::vector<LaneMatrix> inverse_stretch_;  ///< S⁻¹, symmetric
  std::vector<T> D_;                         ///< nine padded rows per element
  std::vector<T> JD_;                        ///< w H D, likewise
  std::vector<T> stress_;                    ///< w P S⁻¹, nine per element
  std::vector<T> correction_;                ///< C, padded rows
  std::vector<T> corrected_;                 ///< C (q + β v) of the last evaluate()
  std::vector<T> moved_;                     ///< q + β v
};

extern template class CubatureForces<float>;
extern template class CubatureForces<double>;

}  // namespace supple
