// SPDX-License-Identifier: Apache-2.0
#include "supple/math/sparse/block_incomplete_cholesky.h"

#include "supple/base/assert.h"
#include "supple/base/parallel.h"

#include <algorithm>
#include <numeric>

namespace supple {
namespace {

constexpr Index rows_per_slab = 2000;
constexpr Index most_slabs = 16;

using Block = Eigen::Map<Mat3>;
using ConstBlock = Eigen::Map<const Mat3>;

/// L of a 3×3 block and its inverse; false where a pivot is too small to be trusted.
bool invert_factor(const Mat3& A, const Mat3& original, Mat3& inverse) {
  constexpr double least = 1e-4;  // of what the pivot was before elimination
  Mat3 L = Mat3::Zero();
  for (int c = 0; c < 3; ++c) {
    double pivot = A(c, c);
    for (int k = 0; k < c; ++k) pivot -= L(c, k) * L(c, k);
    if (!(pivot > least * original(c, c))) return false;
    L(c, c) = std::sqrt(pivot);
    for (int r = c + 1; r < 3; ++r) {
      double sum = A(r, c);
      for (int k = 0; k < c; ++k) sum -= L(r, k) * L(c, k);
      L(r, c) = sum / L(c, c);
    }
  }
  inverse.setZero();
  for (int c = 0; c < 3; ++c) {
    inverse(c, c) = 1 / L(c, c);
    for (int r = c + 1; r < 3; ++r) {
      double sum = 0;
      for (int k = c; k < r; ++k) sum -= L(r, k) * inverse(k, c);
      inverse(r, c) = sum / L(r, r);
    }
  }
  return true;
}

}  // namespace

PartedOrder slab_order(const BlockPattern& pattern, std::span<const Index> rows, std::span<const Vec3> points) {
  Vec3 low = Vec3::Constant(std::numeric_limits<double>::infinity()), high = -low;
  for (const Vec3& x : points) low = low.cwiseMin(x), high = high.cwiseMax(x);
  int axis = 0;
  if (!points.empty()) (high - low).maxCoeff(&axis);
  std::vector<Index> sorted(rows.size());
  std::iota(sorted.begin(), sorted.end(), 0);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](Index a, Index b) { return points[to_size(a)][axis] < points[to_size(b)][axis]; });
  const auto count = static_cast<Index>(rows.size());
  const Index slabs = std::clamp<Index>(count / rows_per_slab, 1, most_slabs);
  std::vector<Index> slab_of(to_size(pattern.rows()), -1);
  for (Index k = 0; k < count; ++k)
    slab_of[to_size(rows[to_size(sorted[to_size(k)])])] =
        static_cast<Index>(std::int64_t{k} * slabs / std::max<Index>(count, 1));
  const auto joins = [&](Index row) {
    for (Index k = pattern.row_begin[to_size(row)]; k < pattern.row_begin[to_size(row) + 1]; ++k)
      if (slab_of[to_size(pattern.column[to_size(k)])] > slab_of[to_size(row)]) return true;
    return false;
  };
  PartedOrder order;
  std::vector<Index> joining;
  Index slab = -1;
  for (const Index place : sorted) {
    const Index row = rows[to_size(place)];
    for (; slab < slab_of[to_size(row)]; ++slab) order.part_begin.push_back(static_cast<Index>(order.rows.size()));
    (joins(row) ? joining : order.rows).push_back(row);
  }
  order.part_begin.push_back(static_cast<Index>(order.rows.size()));
  order.rows.insert(order.rows.end(), joining.begin(), joining.end());
  return order;
}

BlockIncompleteCholesky::BlockIncompleteCholesky(const BlockMatrix& A, PartedOrder order) : order_(std::move(order)) {
  gather(A);
  constexpr double first = 1e-3, growth = 4;
  for (shift_ = 0; !factorize(shift_);) {
    shift_ = shift_ > 0 ? growth * shift_ : first;
    SUPPLE_ASSERT(shift_ < 1e6);
    if (!(shift_ < 1e6)) break;
  }
  lower_ = {};
  diagonal_ = {};
}

void BlockIncompleteCholesky::gather(const BlockMatrix& A) {
  const BlockPattern& pattern = A.pattern();
  std::vector<Index> place(to_size(pattern.rows()), -1);
  for (Index i = 0; i < rows(); ++i) place[to_size(order_.rows[to_size(i)])] = i;
  row_begin_.assign(1, 0);
  diagonal_.resize(9 * to_size(rows()));
  std::vector<std::pair<Index, Index>> entries;  // column, position in A
  for (Index i = 0; i < rows(); ++i) {
    entries.clear();
    const auto row = to_size(order_.rows[to_size(i)]);
    for (Index k = pattern.row_begin[row]; k < pattern.row_begin[row + 1]; ++k) {
      const Index j = place[to_size(pattern.column[to_size(k)])];
      if (j == i) std::copy_n(A.block(k), 9, &diagonal_[9 * to_size(i)]);
      if (j >= 0 && j < i) entries.emplace_back(j, k);
    }
    std::sort(entries.begin(), entries.end());
    for (const auto& [j, k] : entries) {
      column_.push_back(j);
      lower_.insert(lower_.end(), A.block(k), A.block(k) + 9);
    }
    row_begin_.push_back(static_cast<Index>(column_.size()));
  }
  block_.resize(lower_.size());
  inverse_diagonal_.resize(diagonal_.size());
}

bool BlockIncompleteCholesky::factorize(double shift) {
  std::vector<double> L(lower_.size()), inverse(diagonal_.size());
  // Rows of a part look at rows of the same part only, so that parts are factored side by side.
  const auto factor_rows = [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const auto first = to_size(row_begin_[to_size(i)]), last = to_size(row_begin_[to_size(i) + 1]);
      const Mat3 original = ConstBlock(&diagonal_[9 * to_size(i)]);
      Mat3 D = (1 + shift) * original;
      for (std::size_t k = first; k < last; ++k) {
        const auto j = to_size(column_[k]);
        Mat3 sum = ConstBlock(&lower_[9 * k]);
        std::size_t a = first, b = to_size(row_begin_[j]);
        const std::size_t b_end = to_size(row_begin_[j + 1]);
        while (a < k && b < b_end) {
          if (column_[a] == column_[b]) {
            sum.noalias() -= ConstBlock(&L[9 * a]) * ConstBlock(&L[9 * b]).transpose();
            ++a, ++b;
          } else if (column_[a] < column_[b]) {
            ++a;
          } else {
            ++b;
          }
        }
        const Mat3 own = sum * ConstBlock(&inverse[9 * j]).transpose();
        Block(L.data() + 9 * k) = own;
        D.noalias() -= own * own.transpose();
      }
      Mat3 factor;
      if (!invert_factor(D, original, factor)) return false;
      Block(inverse.data() + 9 * to_size(i)) = factor;
    }
    return true;
  };
  const auto parts = std::ssize(order_.part_begin) - 1;
  std::vector<char> sound(to_size(parts), 0);
  parallel_for(parts, 1, [&](std::int64_t p) {
    sound[to_size(p)] = factor_rows(order_.part_begin[to_size(p)], order_.part_begin[to_size(p) + 1]) ? 1 : 0;
  });
  if (std::find(sound.begin(), sound.end(), 0) != sound.end()) return false;
  if (!factor_rows(order_.part_begin.back(), rows())) return false;
  std::transform(L.begin(), L.end(), block_.begin(), [](double x) { return static_cast<float>(x); });
  std::transform(inverse.begin(), inverse.end(), inverse_diagonal_.begin(),
                 [](double x) { return static_cast<float>(x); });
  return true;
}

void BlockIncompleteCholesky::forward_rows(float* y, Index begin, Index end) const {
  for (Index i = begin; i < end; ++i) {
    float* own = y + 3 * to_size(i);
    float r[3] = {own[0], own[1], own[2]};
    for (Index k = row_begin_[to_size(i)]; k < row_begin_[to_size(i) + 1]; ++k) {
      const float* b = &block_[9 * to_size(k)];
      const float* v = y + 3 * to_size(column_[to_size(k)]);
      for (int c = 0; c < 3; ++c)
        for (int row = 0; row < 3; ++row) r[row] -= b[3 * c + row] * v[c];
    }
    const float* d = &inverse_diagonal_[9 * to_size(i)];
    own[0] = d[0] * r[0];
    own[1] = d[1] * r[0] + d[4] * r[1];
    own[2] = d[2] * r[0] + d[5] * r[1] + d[8] * r[2];
  }
}

void BlockIncompleteCholesky::backward_rows(float* y, Index begin, Index end) const {
  for (Index i = end; i-- > begin;) {
    float* own = y + 3 * to_size(i);
    const float* d = &inverse_diagonal_[9 * to_size(i)];
    const float z[3] = {d[0] * own[0] + d[1] * own[1] + d[2] * own[2], d[4] * own[1] + d[5] * own[2], d[8] * own[2]};
    std::copy_n(z, 3, own);
    for (Index k = row_begin_[to_size(i)]; k < row_begin_[to_size(i) + 1]; ++k) {
      const float* b = &block_[9 * to_size(k)];
      float* v = y + 3 * to_size(column_[to_size(k)]);
      for (int c = 0; c < 3; ++c) v[c] -= b[3 * c] * z[0] + b[3 * c + 1] * z[1] + b[3 * c + 2] * z[2];
    }
  }
}

void BlockIncompleteCholesky::forward(float* y) const {
  parallel_for(std::ssize(order_.part_begin) - 1, 1, [&](std::int64_t p) {
    forward_rows(y, order_.part_begin[to_size(p)], order_.part_begin[to_size(p) + 1]);
  });
  forward_rows(y, order_.part_begin.back(), rows());
}

void BlockIncompleteCholesky::backward(float* y) const {
  backward_rows(y, order_.part_begin.back(), rows());
  parallel_for(std::ssize(order_.part_begin) - 1, 1, [&](std::int64_t p) {
    backward_rows(y, order_.part_begin[to_size(p)], order_.part_begin[to_size(p) + 1]);
  });
}

void BlockIncompleteCholesky::solve(float* y) const {
  forward(y);
  backward(y);
}

}  // namespace supple
