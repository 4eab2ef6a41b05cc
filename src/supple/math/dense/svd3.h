// SPDX-License-Identifier: Apache-2.0
// Singular values of a 3×3 matrix with rotations on both sides: F = U diag(σ) Vᵀ, det U = det V = 1,
// σ0 ≥ σ1 ≥ |σ2|, and σ2 < 0 exactly when F turns space inside out (det F < 0).
//
// One-sided Jacobi (Hestenes 1958): rotate the columns of B = F V until they are orthogonal; their lengths are σ.
// Unlike the eigenvalues of FᵀF it keeps small σ accurate, and it has no data-dependent branches, so it runs on packs.
#pragma once

#include "supple/math/simd/pack.h"

#include <Eigen/Geometry>

#include <limits>
#include <utility>

namespace supple {

template <class T>
struct Svd3 {
  Eigen::Matrix<T, 3, 3> U;
  Eigen::Matrix<T, 3, 1> sigma;
  Eigen::Matrix<T, 3, 3> V;
};

namespace detail {

template <class T>
struct LaneScalar {
  using Type = T;
};
template <class T, int W>
struct LaneScalar<Pack<T, W>> {
  using Type = T;
};

/// Multiplies the columns p and q from the right with the rotation of cosine c and sine s.
template <class T>
void rotate_columns(Eigen::Matrix<T, 3, 3>& matrix, int p, int q, T c, T s) {
  for (int i = 0; i < 3; ++i) {
    const T left = matrix(i, p);
    const T right = matrix(i, q);
    matrix(i, p) = c * left - s * right;
    matrix(i, q) = s * left + c * right;
  }
}

/// Makes columns p and q of B orthogonal, V follows. True when they already were, to machine precision.
template <class T>
bool orthogonalize(Eigen::Matrix<T, 3, 3>& B, Eigen::Matrix<T, 3, 3>& V, int p, int q) {
  using std::abs;
  using std::sqrt;
  const T one(1);
  const T zero(0);
  T alpha(0), beta(0), gamma(0);
  for (int i = 0; i < 3; ++i) {
    alpha += B(i, p) * B(i, p);
    beta += B(i, q) * B(i, q);
    gamma += B(i, p) * B(i, q);
  }
  const T epsilon(std::numeric_limits<typename LaneScalar<T>::Type>::epsilon());
  const auto orthogonal = abs(gamma) <= epsilon * sqrt(alpha * beta);
  const T zeta = (beta - alpha) / select(orthogonal, one, T(2) * gamma);
  const T sign = select(zeta < zero, -one, one);
  const T t = select(orthogonal, zero, sign / (abs(zeta) + sqrt(one + zeta * zeta)));
  const T c = one / sqrt(one + t * t);
  rotate_columns(B, p, q, c, c * t);
  rotate_columns(V, p, q, c, c * t);
  return all_lanes(orthogonal, zero);
}

/// Puts the longer of two columns first; one is negated, so that V stays a rotation.
template <class T>
void sort_columns(Eigen::Matrix<T, 3, 3>& B, Eigen::Matrix<T, 3, 3>& V, int p, int q) {
  T alpha(0), beta(0);
  for (int i = 0; i < 3; ++i) {
    alpha += B(i, p) * B(i, p);
    beta += B(i, q) * B(i, q);
  }
  const auto swap = alpha < beta;
  for (Eigen::Matrix<T, 3, 3>* matrix : {&B, &V}) {
    for (int i = 0; i < 3; ++i) {
      const T left = (*matrix)(i, p);
      const T right = (*matrix)(i, q);
      (*matrix)(i, p) = select(swap, right, left);
      (*matrix)(i, q) = select(swap, -left, right);
    }
  }
}

/// v / |v|, or `fallback` where v vanishes against `scale`.
template <class T>
Eigen::Matrix<T, 3, 1> normalized_or(const Eigen::Matrix<T, 3, 1>& v, const Eigen::Matrix<T, 3, 1>& fallback, T scale) {
  using std::sqrt;
  const T length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  const T tiny = T(std::numeric_limits<typename LaneScalar<T>::Type>::min()) +
                 T(8 * std::numeric_limits<typename LaneScalar<T>::Type>::epsilon()) * scale;
  const auto usable = length > tiny;
  const T inverse = T(1) / select(usable, length, T(1));
  Eigen::Matrix<T, 3, 1> result;
  for (int i = 0; i < 3; ++i) result[i] = select(usable, v[i] * inverse, fallback[i]);
  return result;
}

/// Some unit vector perpendicular to the unit vector u.
template <class T>
Eigen::Matrix<T, 3, 1> any_perpendicular(const Eigen::Matrix<T, 3, 1>& u) {
  using std::sqrt;
  const auto mostly_x = T(0.5) < u[0] * u[0];
  const T zero(0);
  // u × z where u leans to x, else u × x; both are far from zero in their case.
  Eigen::Matrix<T, 3, 1> w(select(mostly_x, u[1], zero), select(mostly_x, -u[0], u[2]), select(mostly_x, zero, -u[1]));
  const T inverse = T(1) / sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
  for (int i = 0; i < 3; ++i) w[i] *= inverse;
  return w;
}

}  // namespace detail

template <class T>
Svd3<T> svd3(const Eigen::Matrix<T, 3, 3>& F) {
  using Vector = Eigen::Matrix<T, 3, 1>;
  Eigen::Matrix<T, 3, 3> B = F;
  Svd3<T> result;
  result.V.setIdentity();
  constexpr int max_sweeps = 10;  // four or five are enough in practice; the bound keeps NaN from looping
  for (int sweep = 0; sweep < max_sweeps; ++sweep) {
    bool done = detail::orthogonalize(B, result.V, 0, 1);
    done &= detail::orthogonalize(B, result.V, 0, 2);
    done &= detail::orthogonalize(B, result.V, 1, 2);
    if (done) break;
  }
  detail::sort_columns(B, result.V, 0, 1);
  detail::sort_columns(B, result.V, 0, 2);
  detail::sort_columns(B, result.V, 1, 2);

  const Vector b0 = B.col(0);
  const Vector b1 = B.col(1);
  const Vector u0 = detail::normalized_or<T>(b0, Vector(T(1), T(0), T(0)), T(0));
  const T along = u0.dot(b1);
  const T size = u0.dot(b0);
  const Vector u1 = detail::normalized_or<T>(b1 - u0 * along, detail::any_perpendicular<T>(u0), size);
  const Vector u2 = u0.cross(u1);
  result.U.col(0) = u0;
  result.U.col(1) = u1;
  result.U.col(2) = u2;
  result.sigma = Vector(size, u1.dot(b1), u2.dot(B.col(2)));
  return result;
}

}  // namespace supple
