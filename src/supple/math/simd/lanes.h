// SPDX-License-Identifier: Apache-2.0
// What packs (pack.h) need besides arithmetic: in and out of memory, sums over lanes, transposes, small vectors and
// matrices of packs.
//
//   LanesOf<T>   the pack that fills a register: eight floats or four doubles
//   Pack4        four doubles, where four is what the algorithm wants and not what the register has
//   Quad<T>      four numbers of one vertex, side by side in memory; a transpose turns four of them into lanes
#pragma once

#include "supple/math/simd/pack.h"

#include <array>
#include <cstdint>
#include <cstring>

namespace supple {

template <class T>
using LanesOf = Pack<T, 32 / static_cast<int>(sizeof(T))>;

template <class T>
LanesOf<T> load(const T* source) {
  LanesOf<T> result;
  std::memcpy(&result.v, source, sizeof result.v);
  return result;
}
template <class T>
void store(T* target, LanesOf<T> value) {
  std::memcpy(target, &value.v, sizeof value.v);
}

// By halves: one lane after the other would wait for every addition.
inline float sum_of(Pack<float, 8> lanes) {
  const auto four =
      __builtin_shufflevector(lanes.v, lanes.v, 0, 1, 2, 3) + __builtin_shufflevector(lanes.v, lanes.v, 4, 5, 6, 7);
  const auto two = four + __builtin_shufflevector(four, four, 2, 3, 0, 1);
  return two[0] + two[1];
}
inline double sum_of(Pack<double, 4> lanes) {
  const auto two = __builtin_shufflevector(lanes.v, lanes.v, 0, 1) + __builtin_shufflevector(lanes.v, lanes.v, 2, 3);
  return two[0] + two[1];
}

/// Gives Σ a_c b_c over arrays of whole vectors.
template <class T>
T dot(const T* a, const T* b, int stride) {
  constexpr int width = LanesOf<T>::width;
  LanesOf<T> sums(T(0));
  for (int c = 0; c < stride; c += width) sums += load(a + c) * load(b + c);
  return sum_of(sums);
}

/// A B and A Bᵀ, entry by entry: Eigen's products of matrices of vectors go through memory.
template <class Lanes>
Eigen::Matrix<Lanes, 3, 3> product(const Eigen::Matrix<Lanes, 3, 3>& A, const Eigen::Matrix<Lanes, 3, 3>& B) {
  Eigen::Matrix<Lanes, 3, 3> result;
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 3; ++i) result(i, j) = A(i, 0) * B(0, j) + A(i, 1) * B(1, j) + A(i, 2) * B(2, j);
  return result;
}
template <class Lanes>
Eigen::Matrix<Lanes, 3, 3> product_transposed(const Eigen::Matrix<Lanes, 3, 3>& A,
                                              const Eigen::Matrix<Lanes, 3, 3>& B) {
  Eigen::Matrix<Lanes, 3, 3> result;
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 3; ++i) result(i, j) = A(i, 0) * B(j, 0) + A(i, 1) * B(j, 1) + A(i, 2) * B(j, 2);
  return result;
}

// ---- four at a time -----------------------------------------------------------------------------------------------

using Pack4 = Pack<double, 4>;
using Pack4Vec3 = std::array<Pack4, 3>;

inline Pack4 dot(const Pack4Vec3& a, const Pack4Vec3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
inline Pack4Vec3 cross(const Pack4Vec3& a, const Pack4Vec3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

/// Through registers: numbers that are written one by one can't be read as a vector at once.
inline void transpose(std::array<Pack4, 4>& m) {
  const auto a = __builtin_shufflevector(m[0].v, m[1].v, 0, 4, 2, 6);
  const auto b = __builtin_shufflevector(m[0].v, m[1].v, 1, 5, 3, 7);
  const auto c = __builtin_shufflevector(m[2].v, m[3].v, 0, 4, 2, 6);
  const auto d = __builtin_shufflevector(m[2].v, m[3].v, 1, 5, 3, 7);
  m[0].v = __builtin_shufflevector(a, c, 0, 1, 4, 5);
  m[1].v = __builtin_shufflevector(b, d, 0, 1, 4, 5);
  m[2].v = __builtin_shufflevector(a, c, 2, 3, 6, 7);
  m[3].v = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

/// Stores the first three lanes.
inline void store_three(double* target, Pack4 value) {
  const auto two = __builtin_shufflevector(value.v, value.v, 0, 1);
  std::memcpy(target, &two, sizeof two);
  target[2] = value[2];
}

// ---- four numbers of each vertex ----------------------------------------------------------------------------------

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

/// Gives a in lanes where b isn't negative, and −a in the others.
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

/// Gives the sums over the lanes of four vectors, one in each lane of the result.
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
    const auto low = __builtin_shufflevector(lanes[to_size(k)].v, lanes[0].v, 0, 1, 2, 3);
    const auto high = __builtin_shufflevector(lanes[to_size(k)].v, lanes[0].v, 4, 5, 6, 7);
    std::memcpy(target + 4 * k, &low, sizeof low);
    std::memcpy(target + 4 * (k + 4), &high, sizeof high);
  }
}
inline void store_quads(double* target, std::array<LanesOf<double>, 4> lanes) {
  transpose(lanes);
  for (int k = 0; k < 4; ++k) store(target + 4 * k, lanes[to_size(k)]);
}

}  // namespace supple
