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

template <class T, int W>
T sum_of(Pack<T, W> lanes) {
  T total = T(0);
  for (int lane = 0; lane < W; ++lane) total += lanes[lane];
  return total;
}

/// Σ a_c b_c over whole vectors.
template <class T>
T dot(const T* a, const T* b, int stride) {
  constexpr int width = LanesOf<T>::width;
  LanesOf<T> sums(T(0));
  for (int c = 0; c < stride; c += width) sums += load(a + c) * load(b + c);
  return sum_of(sums);
}

}  // namespace supple
