// SPDX-License-Identifier: Apache-2.0
// Pack<T, W>: W numbers that move in step, one per element, so that a formula written once for a scalar T also runs on
// W elements at once (SIMD across elements, not inside one). Branches become `select`.
//
// A scalar and a pack answer to the same free functions (sqrt, log, select, …), so templates need no special cases.
#pragma once

#include "supple/base/to_size.h"

#include <Eigen/Core>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace supple {

namespace detail {
// Spelled out per type: compilers differ on vector attributes that depend on a template parameter.
template <class T, int W>
struct VectorOf;
template <>
struct VectorOf<double, 4> {
  typedef double Type __attribute__((vector_size(32)));  // NOLINT(modernize-use-using): the attribute needs typedef
  typedef std::int64_t Bits __attribute__((vector_size(32)));  // NOLINT(modernize-use-using)
};
template <>
struct VectorOf<float, 8> {
  typedef float Type __attribute__((vector_size(32)));         // NOLINT(modernize-use-using)
  typedef std::int32_t Bits __attribute__((vector_size(32)));  // NOLINT(modernize-use-using)
};
}  // namespace detail

template <class T, int W>
struct Pack {
  using Vector = typename detail::VectorOf<T, W>::Type;
  static constexpr int width = W;

  Vector v;

  Pack() = default;
  Pack(T value) : v(value - Vector{}) {}  // NOLINT(google-explicit-constructor): constants in formulas
  Pack(Vector vector) : v(vector) {}      // NOLINT(google-explicit-constructor)

  T operator[](int lane) const { return v[lane]; }
  void set(int lane, T value) { v[lane] = value; }

  Pack operator-() const { return Pack(-v); }
  Pack& operator+=(Pack b) { return *this = Pack(v + b.v); }
  Pack& operator-=(Pack b) { return *this = Pack(v - b.v); }
  Pack& operator*=(Pack b) { return *this = Pack(v * b.v); }
  Pack& operator/=(Pack b) { return *this = Pack(v / b.v); }
  friend Pack operator+(Pack a, Pack b) { return Pack(a.v + b.v); }
  friend Pack operator-(Pack a, Pack b) { return Pack(a.v - b.v); }
  friend Pack operator*(Pack a, Pack b) { return Pack(a.v * b.v); }
  friend Pack operator/(Pack a, Pack b) { return Pack(a.v / b.v); }

  /// A truth value for each lane.
  struct Mask {
    decltype(Vector{} < Vector{}) m;
    friend Mask operator&(Mask a, Mask b) { return {a.m & b.m}; }
  };
  friend Mask operator<(Pack a, Pack b) { return {a.v < b.v}; }
  friend Mask operator>(Pack a, Pack b) { return {a.v > b.v}; }
  friend Mask operator<=(Pack a, Pack b) { return {a.v <= b.v}; }
};

/// Gives a in lanes where the mask is true, and b in the others.
template <class T, int W>
Pack<T, W> select(typename Pack<T, W>::Mask mask, Pack<T, W> a, Pack<T, W> b) {
  return Pack<T, W>(mask.m ? a.v : b.v);
}
template <class Mask, class T, int W>
bool all_lanes(Mask mask, const Pack<T, W>&) {
  for (int lane = 0; lane < W; ++lane) {
    if (!mask.m[lane]) return false;
  }
  return true;
}

template <class T, int W>
Pack<T, W> sqrt(Pack<T, W> a) {
  Pack<T, W> result;
  for (int lane = 0; lane < W; ++lane) result.v[lane] = std::sqrt(a.v[lane]);
  return result;
}

/// To a few units in the last place. With a = 2^e m, m within √½ … √2, and z = (m − 1)/(m + 1):
///   log a = e log 2 + 2 (z + z³/3 + z⁵/5 + …),  z² < 0.03
/// (Calls of the scalar function, lane after lane, took a third of the time of a step.)
template <class T, int W>
Pack<T, W> log(Pack<T, W> a) {
  using Lanes = Pack<T, W>;
  using Bits = typename detail::VectorOf<T, W>::Bits;
  constexpr bool single = sizeof(T) == 4;
  constexpr int mantissa = single ? 23 : 52, terms = single ? 5 : 11;
  const Lanes root_half(T(0.70710678118654752));
  const Bits e = (std::bit_cast<Bits>(a.v) - std::bit_cast<Bits>(root_half.v)) >> mantissa;
  const Lanes m(std::bit_cast<typename Lanes::Vector>(std::bit_cast<Bits>(a.v) - (e << mantissa)));
  const Lanes z = (m - Lanes(T(1))) / (m + Lanes(T(1))), zz = z * z;
  Lanes series(T(1) / (2 * terms + 1));
  for (int k = terms - 1; k >= 0; --k) series = series * zz + Lanes(T(1) / (2 * k + 1));
  const Lanes exponent(__builtin_convertvector(e, typename Lanes::Vector));
  const Lanes result = exponent * Lanes(T(0.69314718055994531)) + Lanes(T(2)) * z * series;
  const Lanes zero(T(0)), infinite(std::numeric_limits<T>::infinity());
  const Lanes within = select(a < infinite, result, a);
  return select(a > zero, within, select(zero <= a, -infinite, Lanes(std::numeric_limits<T>::quiet_NaN())));
}
template <class T, int W>
Pack<T, W> abs(Pack<T, W> a) {
  return select(a < Pack<T, W>(T(0)), -a, a);
}

// The same vocabulary for plain scalars.
inline double select(bool mask, double a, double b) { return mask ? a : b; }
inline float select(bool mask, float a, float b) { return mask ? a : b; }
inline bool all_lanes(bool mask, double) { return mask; }
inline bool all_lanes(bool mask, float) { return mask; }

}  // namespace supple

namespace Eigen {
template <class T, int W>
struct NumTraits<supple::Pack<T, W>> : GenericNumTraits<supple::Pack<T, W>> {
  using Real = supple::Pack<T, W>;
  using NonInteger = supple::Pack<T, W>;
  using Nested = supple::Pack<T, W>;
  using Literal = T;
  // NOLINTBEGIN(readability-identifier-naming): Eigen's names
  enum {
    IsComplex = 0,
    IsInteger = 0,
    IsSigned = 1,
    RequireInitialization = 0,
    ReadCost = 1,
    AddCost = 1,
    MulCost = 1,
  };
  // NOLINTEND(readability-identifier-naming)
};
}  // namespace Eigen
