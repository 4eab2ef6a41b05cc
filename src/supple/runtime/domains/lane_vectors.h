// SPDX-License-Identifier: Apache-2.0
// Three-vectors and 3×3 matrices of lanes, entry by entry: four domains move in step (math/simd/pack.h). T is a pack of
// doubles, or a plain double in tests.
#pragma once

#include "supple/math/simd/lanes.h"

namespace supple::domains {

template <class T>
struct Vector3 {
  T x, y, z;

  friend Vector3 operator+(const Vector3& a, const Vector3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
  friend Vector3 operator-(const Vector3& a, const Vector3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  friend Vector3 operator*(T s, const Vector3& a) { return {s * a.x, s * a.y, s * a.z}; }
  Vector3& operator+=(const Vector3& b) { return *this = *this + b; }
  static Vector3 zero() { return {T(0), T(0), T(0)}; }
};

template <class T>
T dot(const Vector3<T>& a, const Vector3<T>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class T>
Vector3<T> cross(const Vector3<T>& a, const Vector3<T>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/// Entries by rows.
template <class T>
struct Matrix3 {
  T m[9];

  T& operator()(int i, int j) { return m[3 * i + j]; }
  T operator()(int i, int j) const { return m[3 * i + j]; }
  Vector3<T> row(int i) const { return {m[3 * i], m[3 * i + 1], m[3 * i + 2]}; }
  T trace() const { return m[0] + m[4] + m[8]; }
  Matrix3 transposed() const { return {{m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8]}}; }

  static Matrix3 zero() { return {{T(0), T(0), T(0), T(0), T(0), T(0), T(0), T(0), T(0)}}; }
  static Matrix3 identity() { return {{T(1), T(0), T(0), T(0), T(1), T(0), T(0), T(0), T(1)}}; }
  /// v ↦ a × v
  static Matrix3 cross_with(const Vector3<T>& a) { return {{T(0), -a.z, a.y, a.z, T(0), -a.x, -a.y, a.x, T(0)}}; }

  friend Matrix3 operator+(const Matrix3& a, const Matrix3& b) {
    Matrix3 c;
    for (int k = 0; k < 9; ++k) c.m[k] = a.m[k] + b.m[k];
    return c;
  }
  friend Matrix3 operator-(const Matrix3& a, const Matrix3& b) {
    Matrix3 c;
    for (int k = 0; k < 9; ++k) c.m[k] = a.m[k] - b.m[k];
    return c;
  }
  friend Matrix3 operator*(T s, const Matrix3& a) {
    Matrix3 c;
    for (int k = 0; k < 9; ++k) c.m[k] = s * a.m[k];
    return c;
  }
  friend Matrix3 operator*(const Matrix3& a, const Matrix3& b) {
    Matrix3 c;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) c(i, j) = a(i, 0) * b(0, j) + a(i, 1) * b(1, j) + a(i, 2) * b(2, j);
    return c;
  }
  friend Vector3<T> operator*(const Matrix3& a, const Vector3<T>& v) {
    return {dot(a.row(0), v), dot(a.row(1), v), dot(a.row(2), v)};
  }
};

/// Aᵀ v
template <class T>
Vector3<T> transposed_times(const Matrix3<T>& a, const Vector3<T>& v) {
  return {a.m[0] * v.x + a.m[3] * v.y + a.m[6] * v.z, a.m[1] * v.x + a.m[4] * v.y + a.m[7] * v.z,
          a.m[2] * v.x + a.m[5] * v.y + a.m[8] * v.z};
}
/// Columns are the cross products of rows: A⁻ᵀ det A.
template <class T>
Matrix3<T> cofactors(const Matrix3<T>& a) {
  const Vector3<T> x = cross(a.row(1), a.row(2)), y = cross(a.row(2), a.row(0)), z = cross(a.row(0), a.row(1));
  return {{x.x, x.y, x.z, y.x, y.y, y.z, z.x, z.y, z.z}};
}
template <class T>
T determinant(const Matrix3<T>& a) {
  return dot(a.row(0), cross(a.row(1), a.row(2)));
}
/// The axis a for which (B − Bᵀ) v = a × v.
template <class T>
Vector3<T> twist_of(const Matrix3<T>& b) {
  return {b(2, 1) - b(1, 2), b(0, 2) - b(2, 0), b(1, 0) - b(0, 1)};
}

}  // namespace supple::domains
