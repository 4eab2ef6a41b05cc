// SPDX-License-Identifier: Apache-2.0
// FloatingInertia: the inertia of a deformable body in a frame that moves with it, from its mass moments alone.
//
// A point of the body is at y = X + U q in its frame. With ∫ the mass integral over the body, everything that inertia
// needs is
//   m = ∫ 1,   s = ∫ y,   C = ∫ y yᵀ,   S = [∫ φ_a],   W_a = ∫ φ_a yᵀ,   M̃ = UᵀMU
// and W(q) is linear in q: one matrix-vector product per change of q. From W follow C = W_0 + Σ q_a W_a (φ_0 = X), the
// inertia tensor I = tr(C) 1 − C, and the coupling of rotation and deformation, h_a = ∫ y × φ_a = axl(W_aᵀ) with
// axl(A)_i = ε_ijk A_jk. The mass matrix of (frame velocity, angular velocity, q̇), all in the frame, is
//        ⎡  m 1   −[s]×   S ⎤
//   A =  ⎢ [s]×     I     H ⎥
//        ⎣  Sᵀ      Hᵀ    M̃ ⎦
#pragma once

#include "supple/asset/subspace_model.h"

namespace supple {

/// The moments W_a, a = 0 … r, of one deformation: column a holds the entries of ∫ φ_a yᵀ, column by column.
using FrameMoments = Eigen::Matrix<double, 9, Eigen::Dynamic>;

class FloatingInertia {
 public:
  FloatingInertia() = default;
  /// `moments` with densities: mass_moments(model).
  explicit FloatingInertia(const MassMoments& moments);

  int size() const { return static_cast<int>(mass_matrix_.cols()); }
  double mass() const { return mass_; }
  /// Root mean square distance of the mass from its centre, at rest.
  double gyration_radius() const { return gyration_radius_; }
  const MatX& mass_matrix() const { return mass_matrix_; }                                          ///< M̃
  const Eigen::Matrix<double, 3, Eigen::Dynamic>& shape_moments() const { return shape_moments_; }  ///< S

  FrameMoments moments_at(const VecX& q) const;
  /// The same without allocation.
  void moments_at(const VecX& q, FrameMoments& result) const { advance_moments(rest_moments_, q, result); }
  /// Computes the moments at q without allocation, from `start`, those at q − Δq.
  void advance_moments(const FrameMoments& start, const VecX& delta_q, FrameMoments& end) const;
  Vec3 first_moment(const VecX& q) const { return rest_first_ + shape_moments_ * q; }
  /// ∫ y_left yᵀ, where q belongs to y_left and the moments to y.
  Mat3 second_moment(const VecX& q_left, const FrameMoments& moments) const;
  /// Fills the mass matrix A, of 6 + r rows, in both triangles.
  void mass_matrix(const VecX& q, const FrameMoments& moments, MatX& A) const;

 private:
  double mass_ = 0.0;
  double gyration_radius_ = 0.0;
  Vec3 rest_first_ = Vec3::Zero();
  Eigen::Matrix<double, 3, Eigen::Dynamic> shape_moments_;
  MatX mass_matrix_;
  FrameMoments rest_moments_;
  MatX slopes_;  ///< 9(r+1) × r: ∂W/∂q
};

/// axl(A)_i = ε_ijk A_jk: a × b for A = a bᵀ.
inline Vec3 axial(const Mat3& A) { return {A(1, 2) - A(2, 1), A(2, 0) - A(0, 2), A(0, 1) - A(1, 0)}; }
/// Gives the matrix [a]× with [a]× b = a × b.
inline Mat3 cross_matrix(const Vec3& a) {
  Mat3 result;
  result << 0, -a.z(), a.y(), a.z(), 0, -a.x(), -a.y(), a.x(), 0;
  return result;
}

}  // namespace supple
