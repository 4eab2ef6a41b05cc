// SPDX-License-Identifier: Apache-2.0
#include "supple/math/sparse/block_matrix.h"

#include "supple/base/assert.h"
#include "supple/base/parallel.h"

#include <algorithm>

namespace supple {
namespace {

constexpr std::int64_t row_grain = 1024;
constexpr std::int64_t value_grain = 32'768;

/// For each vertex the elements around it, in compressed form.
struct Incidence {
  std::vector<Index> begin;
  std::vector<Index> element;
};

Incidence elements_around_vertices(Index vertex_count, std::span<const Index> elements, int nodes) {
  Incidence result;
  result.begin.assign(to_size(vertex_count) + 1, 0);
  for (const Index vertex : elements) ++result.begin[to_size(vertex) + 1];
  for (std::size_t v = 1; v < result.begin.size(); ++v) result.begin[v] += result.begin[v - 1];
  result.element.resize(elements.size());
  std::vector<Index> next(result.begin.begin(), result.begin.end() - 1);
  for (std::size_t k = 0; k < elements.size(); ++k) {
    result.element[to_size(next[to_size(elements[k])]++)] = static_cast<Index>(k) / nodes;
  }
  return result;
}

}  // namespace

Index BlockPattern::find(Index row, Index col) const {
  const auto first = column.begin() + row_begin[to_size(row)];
  const auto last = column.begin() + row_begin[to_size(row) + 1];
  const auto found = std::lower_bound(first, last, col);
  SUPPLE_ASSERT(found != last && *found == col);
  return static_cast<Index>(found - column.begin());
}

std::shared_ptr<const BlockPattern> make_block_pattern(Index vertex_count, std::span<const Index> elements,
                                                       int nodes_per_element) {
  const Incidence around = elements_around_vertices(vertex_count, elements, nodes_per_element);
  auto pattern = std::make_shared<BlockPattern>();
  pattern->row_begin.reserve(to_size(vertex_count) + 1);
  pattern->row_begin.push_back(0);
  std::vector<Index> neighbours;
  for (Index vertex = 0; vertex < vertex_count; ++vertex) {
    neighbours.assign(1, vertex);  // the diagonal exists even for a vertex that no element uses
    for (Index k = around.begin[vertex]; k < around.begin[vertex + 1]; ++k) {
      const auto nodes = elements.subspan(to_size(around.element[k]) * to_size(nodes_per_element), nodes_per_element);
      neighbours.insert(neighbours.end(), nodes.begin(), nodes.end());
    }
    std::sort(neighbours.begin(), neighbours.end());
    neighbours.erase(std::unique(neighbours.begin(), neighbours.end()), neighbours.end());
    pattern->column.insert(pattern->column.end(), neighbours.begin(), neighbours.end());
    pattern->row_begin.push_back(static_cast<Index>(pattern->column.size()));
  }
  return pattern;
}

void BlockMatrix::set_zero() { std::fill(values_.begin(), values_.end(), 0.0); }

void BlockMatrix::multiply(const VecX& x, VecX& y) const {
  SUPPLE_ASSERT(x.size() == 3 * rows());
  y.resize(x.size());
  const double* in = x.data();
  double* out = y.data();
  const Index* column = pattern_->column.data();
  parallel_ranges(rows(), row_grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      // Nine independent sums: a single running sum per coordinate would wait for each addition to finish.
      Mat3 sums = Mat3::Zero();
      const Index last = pattern_->row_begin[to_size(row) + 1];
      for (Index k = pattern_->row_begin[to_size(row)]; k < last; ++k) {
        const double* b = block(k);
        const double* v = in + 3 * static_cast<std::ptrdiff_t>(column[k]);
        for (int c = 0; c < 3; ++c) {
          for (int r = 0; r < 3; ++r) sums(r, c) += b[3 * c + r] * v[c];
        }
      }
      for (int r = 0; r < 3; ++r) out[3 * row + r] = sums(r, 0) + sums(r, 1) + sums(r, 2);
    }
  });
}

VecX BlockMatrix::operator*(const VecX& x) const {
  VecX y;
  multiply(x, y);
  return y;
}

void BlockMatrix::combine(double a, double b, const BlockMatrix& B) {
  SUPPLE_ASSERT(values_.size() == B.values_.size());
  parallel_for(static_cast<std::int64_t>(values_.size()), value_grain,
               [&](std::int64_t k) { values_[to_size(k)] = a * values_[to_size(k)] + b * B.values_[to_size(k)]; });
}

Eigen::SparseMatrix<double> BlockMatrix::to_sparse_lower(std::span<const Index> keep) const {
  std::vector<Index> kept_index(to_size(rows()), -1);
  for (std::size_t k = 0; k < keep.size(); ++k) kept_index[to_size(keep[k])] = static_cast<Index>(k);

  // The pattern is symmetric: column k of the lower triangle is row k right of the diagonal, transposed.
  const auto for_each_below = [&](Index k, const auto& visit) {
    const auto row = to_size(keep[to_size(k)]);
    for (Index position = pattern_->row_begin[row]; position < pattern_->row_begin[row + 1]; ++position) {
      const Index other = kept_index[to_size(pattern_->column[to_size(position)])];
      if (other >= k) visit(position, other);
    }
  };
  const auto count = static_cast<Index>(keep.size());
  Eigen::SparseMatrix<double> lower(3 * count, 3 * count);
  Index total = 0;
  for (Index k = 0; k < count; ++k) {
    Index blocks = 0;
    for_each_below(k, [&](Index, Index) { ++blocks; });
    for (Index c = 0; c < 3; ++c) {  // the diagonal block loses its upper triangle: c entries in column c
      lower.outerIndexPtr()[3 * k + c] = total;
      total += 3 * blocks - c;
    }
  }
  lower.outerIndexPtr()[3 * count] = total;
  lower.resizeNonZeros(total);
  parallel_for(count, row_grain, [&](std::int64_t vertex) {
    const auto k = static_cast<Index>(vertex);
    for (Index c = 0; c < 3; ++c) {
      Index entry = lower.outerIndexPtr()[3 * k + c];
      for_each_below(k, [&](Index position, Index other) {
        for (Index r = other == k ? c : 0; r < 3; ++r, ++entry) {
          lower.innerIndexPtr()[entry] = 3 * other + r;
          lower.valuePtr()[entry] = block(position)[3 * r + c];  // entry (c, r) of block (k, other)
        }
      });
    }
  });
  return lower;
}

Eigen::SparseMatrix<double> BlockMatrix::to_sparse() const {
  std::vector<Index> all(to_size(rows()));
  for (std::size_t k = 0; k < all.size(); ++k) all[k] = static_cast<Index>(k);
  return to_sparse_lower(all).selfadjointView<Eigen::Lower>();
}

}  // namespace supple
