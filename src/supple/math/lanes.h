// SPDX-License-Identifier: Apache-2.0
// Whole vectors in and out of padded memory.
#pragma once

#include "supple/math/pack.h"

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

/// Σ a_c b_c over whole vectors.
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

}  // namespace supple
