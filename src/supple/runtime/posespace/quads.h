// SPDX-License-Identifier: Apache-2.0
// Four numbers of each vertex, side by side in memory, and the same as four vectors with a lane for each vertex.
// Through registers: numbers that are written one by one can't be read as a vector at once.
#pragma once

#include "supple/math/four.h"
#include "supple/math/lanes.h"

#include <array>
#include <cstdint>

namespace supple {

template <class T>
struct QuadOf;
template <>
struct QuadOf<float> {
  typedef float Type __attribute__((vector_size(16)));  // NOLINT(modernize-use-using): the attribute needs typedef
};
template <>
struct QuadOf<double> {
  typedef double Type __attribute__((vector_size(32)));  // NOLINT(modernize-use-using)
};
template <class T>
using Quad = typename QuadOf<T>::Type;

template <class T>
Quad<T> load_quad(const T* source) {
  Quad<T> result;
  std::memcpy(&result, source, sizeof result);
  return result;
}

/// a, or −a where b is negative.
template <class T, int W>
Pack<T, W> with_sign_of(Pack<T, W> a, Pack<T, W> b) {
  using Bits = typename detail::VectorOf<T, W>::Bits;
  const auto sign = std::bit_cast<Bits>(b.v) & std::bit_cast<Bits>(Pack<T, W>(T(-0.0)).v);
  return Pack<T, W>(std::bit_cast<typename Pack<T, W>::Vector>(std::bit_cast<Bits>(a.v) ^ sign));
}

/// Within each half of the vectors, which hold four numbers each.
inline void transpose(std::array<LanesOf<float>, 4>& m) {
  const auto a = __builtin_shufflevector(m[0].v, m[1].v, 0, 8, 1, 9, 4, 12, 5, 13);
  const auto b = __builtin_shufflevector(m[0].v, m[1].v, 2, 10, 3, 11, 6, 14, 7, 15);
  const auto c = __builtin_shufflevector(m[2].v, m[3].v, 0, 8, 1, 9, 4, 12, 5, 13);
  const auto d = __builtin_shufflevector(m[2].v, m[3].v, 2, 10, 3, 11, 6, 14, 7, 15);
  m[0].v = __builtin_shufflevector(a, c, 0, 1, 8, 9, 4, 5, 12, 13);
  m[1].v = __builtin_shufflevector(a, c, 2, 3, 10, 11, 6, 7, 14, 15);
  m[2].v = __builtin_shufflevector(b, d, 0, 1, 8, 9, 4, 5, 12, 13);
  m[3].v = __builtin_shufflevector(b, d, 2, 3, 10, 11, 6, 7, 14, 15);
}

/// The sum of each vector's numbers.
inline Quad<float> sums_of(std::array<LanesOf<float>, 4> m) {
  transpose(m);
  const auto sums = (m[0].v + m[1].v) + (m[2].v + m[3].v);
  return __builtin_shufflevector(sums, sums, 0, 1, 2, 3) + __builtin_shufflevector(sums, sums, 4, 5, 6, 7);
}
inline Quad<double> sums_of(std::array<LanesOf<double>, 4> m) {
  transpose(m);
  return (m[0].v + m[1].v) + (m[2].v + m[3].v);
}

/// Lane l gets the four numbers from source + place[l] on.
inline std::array<LanesOf<float>, 4> gather_quads(const float* source, const std::array<std::uint32_t, 8>& place) {
  std::array<LanesOf<float>, 4> result;
  for (std::size_t k = 0; k < 4; ++k) {
    const auto low = load_quad(source + place[k]);
    const auto high = load_quad(source + place[k + 4]);
    result[k].v = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
  }
  transpose(result);
  return result;
}
inline std::array<LanesOf<double>, 4> gather_quads(const double* source, const std::array<std::uint32_t, 4>& place) {
  std::array<LanesOf<double>, 4> result;
  for (std::size_t k = 0; k < 4; ++k) result[k].v = load_quad(source + place[k]);
  transpose(result);
  return result;
}

/// The four numbers of lane l go to target + 4 l.
inline void store_quads(float* target, std::array<LanesOf<float>, 4> lanes) {
  transpose(lanes);
  for (int k = 0; k < 4; ++k) {
    const auto low = __builtin_shufflevector(lanes[static_cast<std::size_t>(k)].v, lanes[0].v, 0, 1, 2, 3);
    const auto high = __builtin_shufflevector(lanes[static_cast<std::size_t>(k)].v, lanes[0].v, 4, 5, 6, 7);
    std::memcpy(target + 4 * k, &low, sizeof low);
    std::memcpy(target + 4 * (k + 4), &high, sizeof high);
  }
}
inline void store_quads(double* target, std::array<LanesOf<double>, 4> lanes) {
  transpose(lanes);
  for (int k = 0; k < 4; ++k) store(target + 4 * k, lanes[static_cast<std::size_t>(k)]);
}

}  // namespace supple
