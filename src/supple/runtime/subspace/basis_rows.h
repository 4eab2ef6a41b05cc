// SPDX-License-Identifier: Apache-2.0
// BasisRows: the rows of a basis that belong to chosen points, laid out for the two things a running object does with
// them: displacements out (u = U q) and sparse forces in (f̃ += U_vᵀ f). The work depends on the chosen points only.
#pragma once

#include "supple/base/assert.h"
#include "supple/base/types.h"
#include "supple/math/simd/pack.h"

#include <cstring>
#include <span>
#include <vector>

namespace supple {

template <class T>
class BasisRows {
 public:
  static constexpr int width = 32 / static_cast<int>(sizeof(T));

  BasisRows() = default;
  /// `basis` has three rows per point (a model's own basis, or one interpolated to a surface); `points` chooses among
  /// them, in any order. Row by row, padded to whole SIMD vectors.
  BasisRows(const MatX& basis, std::span<const Index> points)
      : points_(static_cast<int>(points.size())),
        r_(static_cast<int>(basis.cols())),
        stride_((r_ + width - 1) / width * width),
        rows_(to_size(3 * points_) * to_size(stride_), T(0)) {
    for (int k = 0; k < points_; ++k) {
      for (int i = 0; i < 3; ++i) {
        const Eigen::Index source = 3 * static_cast<Eigen::Index>(points[to_size(k)]) + i;
        SUPPLE_ASSERT(source < basis.rows());
        for (int c = 0; c < r_; ++c) row(k, i)[c] = static_cast<T>(basis(source, c));
      }
    }
  }

  int point_count() const { return points_; }
  int size() const { return r_; }
  std::size_t bytes() const { return rows_.size() * sizeof(T); }

  /// u of all points: x, y, z of point 0, then of point 1, … (3 point_count() entries).
  void displacements(std::span<const T> q, std::span<T> u) const {
    SUPPLE_ASSERT(static_cast<int>(q.size()) == r_ && static_cast<int>(u.size()) == 3 * points_);
    const T* source = rows_.data();
    for (T& value : u) {
      value = dot(source, q.data());
      source += stride_;
    }
  }

  /// Gives the displacement of one point.
  Eigen::Matrix<T, 3, 1> displacement(int point, const T* q) const {
    return {dot(row(point, 0), q), dot(row(point, 1), q), dot(row(point, 2), q)};
  }
  /// r entries: the part of every basis vector in one coordinate of a point.
  const T* row(int point, int axis) const {
    return rows_.data() + static_cast<std::ptrdiff_t>(3 * point + axis) * stride_;
  }

  /// Adds U_pᵀ force of one point to the reduced force.
  void add_force(int point, const T (&force)[3], std::span<T> reduced) const {
    SUPPLE_ASSERT(point >= 0 && point < points_ && static_cast<int>(reduced.size()) == r_);
    const T* x = row(point, 0);
    const T* y = row(point, 1);
    const T* z = row(point, 2);
    for (int c = 0; c < r_; ++c) reduced[to_size(c)] += x[c] * force[0] + y[c] * force[1] + z[c] * force[2];
  }

 private:
  T* row(int point, int axis) { return rows_.data() + static_cast<std::ptrdiff_t>(3 * point + axis) * stride_; }

  /// Whole vectors first; the last few entries of q one by one, since q is not padded.
  T dot(const T* a, const T* q) const {
    Pack<T, width> sums(T(0));
    int c = 0;
    for (; c + width <= r_; c += width) {
      Pack<T, width> left, right;
      std::memcpy(&left.v, a + c, sizeof left.v);
      std::memcpy(&right.v, q + c, sizeof right.v);
      sums += left * right;
    }
    T total = T(0);
    for (; c < r_; ++c) total += a[c] * q[c];
    for (int lane = 0; lane < width; ++lane) total += sums[lane];
    return total;
  }

  int points_ = 0;
  int r_ = 0;
  int stride_ = 0;
  std::vector<T> rows_;
};

}  // namespace supple
