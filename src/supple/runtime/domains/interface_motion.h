// SPDX-License-Identifier: Apache-2.0
// How the frame of an interface turns: the rotation of the polar decomposition A(t) = Q(t) S(t), and its first and
// second derivative in time (2011 paper, Eq. 7 to 9, appendix A).
//
// With Q̇ = ω̃ Q, the part of QᵀȦ = (Qᵀω)~ S + Ṡ that isn't symmetric gives three equations for w = Qᵀω:
//   (tr S − S) w = axis of (QᵀȦ − (QᵀȦ)ᵀ)                                                          (Eq. 7)
// and their derivative, with Ä given,
//   (tr S − S) Qᵀω̇ = axis of Qᵀ(Ä − ω̃Ȧ) − (tr Ṡ − Ṡ) w,   Ṡ = Qᵀ(Ȧ − ω̃QS)                      (Eq. 9)
// tr S − S has the sums of two singular values of A as eigenvalues: regular unless A is flat in two directions. A
// turned inside out has its smallest singular value negative, so that Q stays a rotation; sums that vanish are kept
// away from zero.
#pragma once

#include "supple/math/dense/svd3.h"
#include "supple/runtime/domains/lane_vectors.h"

namespace supple::domains {

/// The rotation of A = Q S by Newton's iteration X ← (X + X⁻ᵀ)/2, which doubles the digits each time; where A is nearly
/// flat or inside out, by singular values.
template <class T>
Matrix3<T> polar_rotation(const Matrix3<T>& A) {
  using Scalar = typename detail::LaneScalar<T>::Type;
  Matrix3<T> X = A;
  for (int iteration = 0; iteration < 10; ++iteration) {
    const Matrix3<T> C = cofactors(X);
    const T det = dot(X.row(0), C.row(0));
    if (!all_lanes(det > T(Scalar(0.05)), T(0))) break;
    const T inverse = T(1) / det;
    T change(0);
    for (int k = 0; k < 9; ++k) {
      const T next = T(Scalar(0.5)) * (X.m[k] + inverse * C.m[k]);
      const T step = next - X.m[k];
      change += step * step;
      X.m[k] = next;
    }
    // The error after a step is half the square of it: 1e-8 leaves rounding.
    if (all_lanes(change < T(Scalar(1e-16)), T(0))) return X;
  }
  Eigen::Matrix<T, 3, 3> F;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) F(i, j) = A(i, j);
  const Svd3<T> parts = svd3(F);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      X(i, j) = parts.U(i, 0) * parts.V(j, 0) + parts.U(i, 1) * parts.V(j, 1) + parts.U(i, 2) * parts.V(j, 2);
  return X;
}

/// The 3×9 matrix Z with ω = Z · (entries of Ȧ by rows), written column by column, where ω = B · axis of QᵀȦ.
template <class T>
void turn_jacobian(const Matrix3<T>& Q, const Matrix3<T>& B, Vector3<T> (&columns)[9]) {
  // The axis is Σ_k (row k of Ȧ) × (row k of Q).
  for (int k = 0; k < 3; ++k) {
    const Vector3<T> row = Q.row(k);
    columns[3 * k] = B * Vector3<T>{T(0), -row.z, row.y};
    columns[3 * k + 1] = B * Vector3<T>{row.z, T(0), -row.x};
    columns[3 * k + 2] = B * Vector3<T>{-row.y, row.x, T(0)};
  }
}

/// Q of an interface, and what its derivatives need.
template <class T>
struct InterfaceTurn {
  Matrix3<T> Q;
  Matrix3<T> S;
  Matrix3<T> inverse;  ///< (tr S − S)⁻¹

  explicit InterfaceTurn(const Matrix3<T>& A) : Q(polar_rotation(A)) {
    using Scalar = typename detail::LaneScalar<T>::Type;
    S = Q.transposed() * A;
    Matrix3<T> G = T(-1) * S;
    const T trace = S.trace();
    for (int i = 0; i < 3; ++i) G(i, i) += trace;
    const Matrix3<T> C = cofactors(G);
    T det = dot(G.row(0), C.row(0));
    const T size = trace * trace * trace, least = T(Scalar(1e-9)) * select(size < T(0), -size, size) + T(1e-30);
    det = select(det > least, det, least);
    inverse = (T(1) / det) * C.transposed();
  }

  /// ω for a given Ȧ: it is linear in Ȧ.
  Vector3<T> velocity(const Matrix3<T>& A_dot) const { return Q * (inverse * twist_of(Q.transposed() * A_dot)); }

  /// ω̇ for Ȧ, its ω, and Ä = 0; what Ä adds is velocity(Ä).
  Vector3<T> bias(const Matrix3<T>& A_dot, const Vector3<T>& omega) const {
    const Matrix3<T> W = Matrix3<T>::cross_with(omega);
    const Matrix3<T> S_dot = Q.transposed() * (A_dot - W * (Q * S));
    const Vector3<T> w = transposed_times(Q, omega);
    const Vector3<T> turned = twist_of(Q.transposed() * (W * A_dot));
    const Vector3<T> changed = S_dot.trace() * w - S_dot * w;
    return Q * (inverse * (Vector3<T>::zero() - turned - changed));
  }

  /// The 3×9 matrix Z with velocity(Ȧ) = Z · (entries of Ȧ by rows), written column by column.
  void jacobian(Vector3<T> (&columns)[9]) const { turn_jacobian(Q, Q * inverse, columns); }
};

}  // namespace supple::domains
