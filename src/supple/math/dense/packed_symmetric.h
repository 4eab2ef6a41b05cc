// SPDX-License-Identifier: Apache-2.0
// PackedSymmetric: a constant symmetric matrix laid out for y = S x at the speed of the cache.
//
// Only the strict lower triangle and the diagonal are stored, and every stored number is used twice while it is in a
// register: once for y_row, once for y_column. Columns come in groups of four; a group is a contiguous run of tiles,
// W rows × 4 columns each, from the row of its first column (rounded down to a multiple of W) to the bottom:
//
//      J=0    J=1                     tile = 4 vectors of W rows, stored one after the other
//     [d    ]                         y_rows += tile · x_columns
//     [* d  ]  tiles above the        y_columns += tileᵀ · x_rows
//     [* * d]  diagonal hold zeros
#pragma once

#include "supple/base/types.h"
#include "supple/math/simd/pack.h"

#include <cstring>
#include <vector>

namespace supple {

template <class T>
class PackedSymmetric {
 public:
  static constexpr int width = 32 / static_cast<int>(sizeof(T));
  static constexpr int columns_per_group = 4;
  using Vector = Pack<T, width>;

  PackedSymmetric() = default;
  explicit PackedSymmetric(const MatX& matrix) { assign(matrix); }

  /// Lays out a symmetric matrix; does not allocate when the size is as before.
  void assign(const MatX& matrix) {
    const auto n = static_cast<int>(matrix.rows());
    padded_ = (n + width - 1) / width * width;
    diagonal_.assign(to_size(padded_), T(0));
    tiles_.clear();
    for (int first = 0; first < n; first += columns_per_group) {
      for (int row = first / width * width; row < padded_; row += width) {
        for (int column = first; column < first + columns_per_group; ++column) {
          for (int i = row; i < row + width; ++i) {
            tiles_.push_back(i > column && i < n ? static_cast<T>(matrix(i, column)) : T(0));
          }
        }
      }
    }
    for (int i = 0; i < n; ++i) diagonal_[to_size(i)] = static_cast<T>(matrix(i, i));
  }

  /// Vectors for multiply() have this many entries; those beyond the matrix must be zero in x.
  int padded_size() const { return padded_; }
  std::size_t bytes() const { return (tiles_.size() + diagonal_.size()) * sizeof(T); }

  /// y = S x. Both have padded_size() entries, do not overlap, and may lie anywhere in memory.
  void multiply(const T* x, T* y) const {
    for (int i = 0; i < padded_; ++i) y[i] = diagonal_[to_size(i)] * x[i];
    const T* tile = tiles_.data();
    for (int first = 0; first < padded_ && tile != tiles_.data() + tiles_.size(); first += columns_per_group) {
      tile = multiply_group(tile, first, x, y);
    }
  }

 private:
  static Vector load(const T* source) {
    Vector result;
    std::memcpy(&result.v, source, sizeof result.v);
    return result;
  }
  static void store(T* target, Vector value) { std::memcpy(target, &value.v, sizeof value.v); }
  static T sum(Vector value) {
    T total = value[0];
    for (int lane = 1; lane < width; ++lane) total += value[lane];
    return total;
  }

  const T* multiply_group(const T* tile, int first, const T* x, T* y) const {
    const Vector x0(x[first]), x1(x[first + 1]), x2(x[first + 2]), x3(x[first + 3]);
    Vector s0(T(0)), s1(T(0)), s2(T(0)), s3(T(0));
    for (int row = first / width * width; row < padded_; row += width, tile += columns_per_group * width) {
      const Vector t0 = load(tile), t1 = load(tile + width), t2 = load(tile + 2 * width), t3 = load(tile + 3 * width);
      const Vector rows = load(x + row);
      store(y + row, load(y + row) + (t0 * x0 + t1 * x1) + (t2 * x2 + t3 * x3));
      s0 += t0 * rows;
      s1 += t1 * rows;
      s2 += t2 * rows;
      s3 += t3 * rows;
    }
    y[first] += sum(s0);
    y[first + 1] += sum(s1);
    y[first + 2] += sum(s2);
    y[first + 3] += sum(s3);
    return tile;
  }

  int padded_ = 0;
  std::vector<T> tiles_;
  std::vector<T> diagonal_;
};

}  // namespace supple
