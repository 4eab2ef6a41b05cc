// SPDX-License-Identifier: Apache-2.0
// Four numbers, or four vectors of three, that move in step; and the same as rows of memory.
#pragma once

#include "supple/math/pack.h"

#include <array>
#include <cstring>

namespace supple {

using Four = Pack<double, 4>;
using FourVec3 = std::array<Four, 3>;

inline Four dot(const FourVec3& a, const FourVec3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
inline FourVec3 cross(const FourVec3& a, const FourVec3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

/// Through registers: numbers that are written one by one can't be read as a vector at once.
inline void transpose(std::array<Four, 4>& m) {
  const auto a = __builtin_shufflevector(m[0].v, m[1].v, 0, 4, 2, 6);
  const auto b = __builtin_shufflevector(m[0].v, m[1].v, 1, 5, 3, 7);
  const auto c = __builtin_shufflevector(m[2].v, m[3].v, 0, 4, 2, 6);
  const auto d = __builtin_shufflevector(m[2].v, m[3].v, 1, 5, 3, 7);
  m[0].v = __builtin_shufflevector(a, c, 0, 1, 4, 5);
  m[1].v = __builtin_shufflevector(b, d, 0, 1, 4, 5);
  m[2].v = __builtin_shufflevector(a, c, 2, 3, 6, 7);
  m[3].v = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

/// Four numbers from `source` on, wherever that is.
inline Four load_four(const double* source) {
  Four result;
  std::memcpy(&result.v, source, sizeof result.v);
  return result;
}
inline void store_four(double* target, Four value) { std::memcpy(target, &value.v, sizeof value.v); }
/// The first three of them.
inline void store_three(double* target, Four value) {
  const auto two = __builtin_shufflevector(value.v, value.v, 0, 1);
  std::memcpy(target, &two, sizeof two);
  target[2] = value[2];
}

}  // namespace supple
