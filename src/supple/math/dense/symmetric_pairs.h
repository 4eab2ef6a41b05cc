// SPDX-License-Identifier: Apache-2.0
// Small symmetric matrices in the pair numbering of asset/subspace_model.h: row b holds the entries (0 … b, b).
#pragma once

namespace supple {

/// y = A x. Every stored entry is used for both of its places.
template <class T>
void multiply_symmetric_pairs(const T* __restrict pairs, int r, const T* __restrict x, T* __restrict y) {
  for (int b = 0; b < r; ++b) {
    T sum = T(0);
    for (int a = 0; a < b; ++a) {
      sum += pairs[a] * x[a];
      y[a] += pairs[a] * x[b];
    }
    y[b] = sum + pairs[b] * x[b];
    pairs += b + 1;
  }
}

}  // namespace supple
