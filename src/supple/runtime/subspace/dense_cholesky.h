// SPDX-License-Identifier: Apache-2.0
// DenseCholesky: L Lᵀ of a small symmetric positive definite matrix (r up to a few hundred), without allocation.
// Columns are padded to whole SIMD vectors, so that the inner loop is a plain multiply-add over contiguous memory.
#pragma once

#include "supple/base/types.h"
#include "supple/math/pack.h"

#include <cmath>
#include <cstring>
#include <vector>

namespace supple {

template <class T>
class DenseCholesky {
 public:
  static constexpr int width = 32 / static_cast<int>(sizeof(T));

  void resize(int n) {
    n_ = n;
    stride_ = rows_ = (n + width - 1) / width * width;
    L_.assign(static_cast<std::size_t>(stride_) * static_cast<std::size_t>(n), T(0));
    inverse_diagonal_.assign(static_cast<std::size_t>(n), T(0));
  }

  /// From now on the first n columns and rows alone count. Allocates nothing.
  void lead(int n) {
    n_ = n;
    rows_ = (n + width - 1) / width * width;
  }

  /// Lower triangle, column-major; fill it before factorize().
  T& operator()(int row, int index) { return column(index)[row]; }
  T* column(int index) { return L_.data() + static_cast<std::ptrdiff_t>(index) * stride_; }

  /// False when the matrix is not positive definite to working precision.
  bool factorize() {
    for (int j = 0; j < n_; ++j) {
      T* target = column(j);
      subtract_previous_columns(target, j);
      const T pivot = target[j];
      if (!(pivot > T(0)) || !std::isfinite(pivot)) return false;
      const T inverse = T(1) / std::sqrt(pivot);
      inverse_diagonal_[static_cast<std::size_t>(j)] = inverse;
      for (int i = j; i < n_; ++i) target[i] *= inverse;
    }
    return true;
  }

  /// x ← A⁻¹ x
  void solve(T* __restrict x) const {
    for (int j = 0; j < n_; ++j) {
      const T* __restrict l = L_.data() + j * stride_;
      const T value = x[j] *= inverse_diagonal_[static_cast<std::size_t>(j)];
      for (int i = j + 1; i < n_; ++i) x[i] -= l[i] * value;
    }
    for (int j = n_ - 1; j >= 0; --j) {
      const T* __restrict l = L_.data() + j * stride_;
      x[j] = (x[j] - dot(l, x, j + 1)) * inverse_diagonal_[static_cast<std::size_t>(j)];
    }
  }

 private:
  /// target −= Σ_{k<j} L_jk L_k, from row j (rounded down to a vector) to the bottom; four columns at a time.
  void subtract_previous_columns(T* target, int j) {
    using Vector = Pack<T, width>;
    const int begin = j / width * width;
    int k = 0;
    for (; k + 4 <= j; k += 4) {
      const T* l0 = column(k);
      const T* l1 = column(k + 1);
      const T* l2 = column(k + 2);
      const T* l3 = column(k + 3);
      const Vector f0(l0[j]), f1(l1[j]), f2(l2[j]), f3(l3[j]);
      for (int i = begin; i < rows_; i += width) {
        store(target + i,
              load(target + i) - (f0 * load(l0 + i) + f1 * load(l1 + i)) - (f2 * load(l2 + i) + f3 * load(l3 + i)));
      }
    }
    for (; k < j; ++k) {
      const T* l = column(k);
      const Vector f(l[j]);
      for (int i = begin; i < rows_; i += width) store(target + i, load(target + i) - f * load(l + i));
    }
  }
  /// Σ l_i x_i from row `first` on; in whole vectors, which a compiler may not do by itself to a sum.
  T dot(const T* l, const T* x, int first) const {
    Pack<T, width> sums(T(0));
    int i = first;
    for (; i + width <= n_; i += width) sums += load(l + i) * load(x + i);
    T total = T(0);
    for (; i < n_; ++i) total += l[i] * x[i];
    for (int lane = 0; lane < width; ++lane) total += sums[lane];
    return total;
  }
  static Pack<T, width> load(const T* source) {
    Pack<T, width> result;
    std::memcpy(&result.v, source, sizeof result.v);
    return result;
  }
  static void store(T* target, Pack<T, width> value) { std::memcpy(target, &value.v, sizeof value.v); }

  int n_ = 0;
  int stride_ = 0;
  int rows_ = 0;  ///< n_, padded
  std::vector<T> L_;
  std::vector<T> inverse_diagonal_;
};

}  // namespace supple
