// SPDX-License-Identifier: Apache-2.0
// DenseCholesky: L Lᵀ of a small symmetric positive definite matrix (r up to a few hundred), without allocation.
//
// Columns are taken as many at a time as a vector holds, a panel, and padded with those of the unit matrix to whole
// panels. A panel is what is left of it after the earlier ones, its corner factored in registers, and the rows below
// divided by the corner. Sums stay in registers, so that time is that of the multiplications: r³/6 of them. Of corners
// the inverse is kept, too, so that solving doesn't wait for one column of a panel after the other. (r = 100 in single
// precision: 6.0 µs, and 0.6 µs for each solution; column by column, through memory, 7.8 and 2.9.)
#pragma once

#include "supple/base/types.h"
#include "supple/math/simd/lanes.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace supple {

template <class T>
class DenseCholesky {
 public:
  using Lanes = LanesOf<T>;
  static constexpr int width = Lanes::width;

  void resize(int n) {
    stride_ = padded(n);
    lead(n);
    const auto size = to_size(stride_);
    L_.assign(size * size, T(0));
    inverse_diagonal_.assign(size, T(0));
    inverse_rows_.assign(size * width, T(0));
    inverse_columns_ = inverse_rows_;
    x_.assign(size, T(0));
  }

  /// Makes only the first n rows and columns count from now on. Allocates nothing.
  void lead(int n) {
    n_ = n;
    rows_ = padded(n);
  }

  /// Lower triangle, column-major; fill it before factorize().
  T& operator()(int row, int index) { return column(index)[row]; }
  T* column(int index) { return L_.data() + static_cast<std::ptrdiff_t>(index) * stride_; }

  /// False when the matrix is not positive definite to working precision.
  bool factorize() {
    fill_padding();
    for (int panel = 0; panel < rows_; panel += width) {
      subtract_earlier(panel);
      if (!factorize_corner(panel)) return false;
      divide_below(panel);
    }
    return true;
  }

  /// Solves A y = x and writes y over x.
  void solve(T* x) {
    std::copy(x, x + n_, x_.begin());
    std::fill(x_.begin() + n_, x_.begin() + rows_, T(0));
    for (int panel = 0; panel < rows_; panel += width) solve_forward(panel);
    for (int panel = rows_ - width; panel >= 0; panel -= width) solve_back(panel);
    std::copy(x_.begin(), x_.begin() + n_, x);
  }

  /// The factor, saved or restored by a runtime/state_bytes.h.
  template <class Bytes>
  void exchange(Bytes& bytes) {
    bytes(n_);
    bytes(rows_);
    bytes(L_);
    bytes(inverse_diagonal_);
    bytes(inverse_rows_);
    bytes(inverse_columns_);
  }

 private:
  static int padded(int n) { return (n + width - 1) / width * width; }
  const T* column(int index) const { return L_.data() + static_cast<std::ptrdiff_t>(index) * stride_; }

  void fill_padding() {
    for (int c = 0; c < n_; ++c) std::fill(column(c) + n_, column(c) + rows_, T(0));
    for (int c = n_; c < rows_; ++c) {
      std::fill(column(c) + n_, column(c) + rows_, T(0));
      column(c)[c] = T(1);
    }
  }

  /// A panel minus Σ_k L_k L_kᵀ over the columns k of earlier ones.
  void subtract_earlier(int panel) {
    int row = panel;
    if ((rows_ - panel) / width % 2 == 1) {
      subtract_rows<1>(row, panel);
      row += width;
    }
    for (; row < rows_; row += 2 * width) subtract_rows<2>(row, panel);
  }

  /// Pack4 columns at a time, so that all sums have registers.
  template <int vectors>
  void subtract_rows(int row, int panel) {
    for (int c = panel; c < panel + width; c += 4) subtract_tile<vectors>(row, c, panel);
  }

  template <int vectors>
  void subtract_tile(int row, int c, int earlier) {
    Lanes sums[vectors][4];
    for (auto& four : sums)
      for (Lanes& sum : four) sum = Lanes(T(0));
    const T* l = L_.data();
    for (int k = 0; k < earlier; ++k, l += stride_) {
      for (int v = 0; v < vectors; ++v) {
        const Lanes entries = load(l + row + v * width);
        for (int i = 0; i < 4; ++i) sums[v][i] += entries * Lanes(l[c + i]);
      }
    }
    for (int i = 0; i < 4; ++i) {
      T* target = column(c + i) + row;
      for (int v = 0; v < vectors; ++v) store(target + v * width, load(target + v * width) - sums[v][i]);
    }
  }

  bool factorize_corner(int panel) {
    Lanes l[width];
    for (int c = 0; c < width; ++c) l[c] = load(column(panel + c) + panel);
    T* diagonal = inverse_diagonal_.data() + panel;
#pragma GCC unroll 8
    for (int c = 0; c < width; ++c) {
      const T pivot = l[c][c];
      if (!(pivot > T(0)) || !std::isfinite(pivot)) return false;
      diagonal[c] = T(1) / std::sqrt(pivot);
      l[c] *= Lanes(diagonal[c]);
#pragma GCC unroll 8
      for (int i = c + 1; i < width; ++i) l[i] -= l[c] * Lanes(l[c][i]);
    }
    for (int c = 0; c < width; ++c) store(column(panel + c) + panel, l[c]);
    invert_corner(panel, l, diagonal);
    return true;
  }

  /// X of L X = 1, the first row first, and of X L = 1, the last column first.
  void invert_corner(int panel, const Lanes (&l)[width], const T* diagonal) {
    Lanes rows[width], columns[width];
    for (int i = 0; i < width; ++i) {
      rows[i] = Lanes(T(0));
      rows[i].set(i, T(1));
      columns[i] = rows[i];
    }
#pragma GCC unroll 8
    for (int c = 0; c < width; ++c) {
      rows[c] *= Lanes(diagonal[c]);
#pragma GCC unroll 8
      for (int i = c + 1; i < width; ++i) rows[i] -= rows[c] * Lanes(l[c][i]);
    }
#pragma GCC unroll 8
    for (int i = width - 1; i >= 0; --i) {
      columns[i] *= Lanes(diagonal[i]);
#pragma GCC unroll 8
      for (int c = 0; c < i; ++c) columns[c] -= columns[i] * Lanes(l[c][i]);
    }
    for (int i = 0; i < width; ++i) {
      store(inverse_rows_.data() + (panel + i) * width, rows[i]);
      store(inverse_columns_.data() + (panel + i) * width, columns[i]);
    }
  }

  /// The rows below the corner C of a panel: X ← X C⁻ᵀ
  void divide_below(int panel) {
    for (int row = panel + width; row < rows_; row += width) {
      Lanes x[width];
      for (int c = 0; c < width; ++c) x[c] = load(column(panel + c) + row);
#pragma GCC unroll 8
      for (int c = 0; c < width; ++c) {
        const T* corner = column(panel + c) + panel;
        x[c] *= Lanes(inverse_diagonal_[to_size(panel + c)]);
        store(column(panel + c) + row, x[c]);
#pragma GCC unroll 8
        for (int i = c + 1; i < width; ++i) x[i] -= x[c] * Lanes(corner[i]);
      }
    }
  }

  /// Σ_c vectors_c factor_c, in two sums that don't wait for each other.
  template <class Factor>
  static Lanes combined(const T* vectors, std::ptrdiff_t apart, const Factor& factor) {
    Lanes even(T(0)), odd(T(0));
    for (int c = 0; c < width; c += 2) {
      even += load(vectors + c * apart) * factor(c);
      odd += load(vectors + (c + 1) * apart) * factor(c + 1);
    }
    return even + odd;
  }

  void solve_forward(int panel) {
    T* own = x_.data() + panel;
    const Lanes solved = combined(inverse_columns_.data() + panel * width, width, [&](int c) { return Lanes(own[c]); });
    store(own, solved);
    Lanes factors[width];
    for (int c = 0; c < width; ++c) factors[c] = Lanes(own[c]);
    for (int row = panel + width; row < rows_; row += width)
      store(x_.data() + row,
            load(x_.data() + row) - combined(column(panel) + row, stride_, [&](int c) { return factors[c]; }));
  }

  void solve_back(int panel) {
    Lanes sums[width];
    for (Lanes& sum : sums) sum = Lanes(T(0));
    const T* l = column(panel);
    for (int row = panel + width; row < rows_; row += width) {
      const Lanes below = load(x_.data() + row);
      for (int c = 0; c < width; ++c) sums[c] += load(l + c * stride_ + row) * below;
    }
    T* own = x_.data() + panel;
    store(own, combined(inverse_rows_.data() + panel * width, width,
                        [&](int c) { return Lanes(own[c] - sum_of(sums[c])); }));
  }

  int n_ = 0;
  int stride_ = 0;  ///< rows and columns that there is room for, padded
  int rows_ = 0;    ///< n_, padded
  std::vector<T> L_;
  std::vector<T> inverse_diagonal_;
  std::vector<T> inverse_rows_, inverse_columns_;  ///< of the corners, in either order
  std::vector<T> x_;                               ///< padded
};

}  // namespace supple
