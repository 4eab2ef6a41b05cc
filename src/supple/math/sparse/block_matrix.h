// SPDX-License-Identifier: Apache-2.0
// BlockMatrix: a sparse matrix of 3×3 blocks, one block row per vertex, columns ascending in each row (block CSR).
//
// Finite-element matrices couple vertices, not coordinates: one index serves nine numbers, and a product reads the
// values once, front to back. The pattern is symmetric and both triangles are stored, so that rows can be multiplied
// in parallel with the same bits for any thread count.
#pragma once

#include "supple/base/types.h"

#include <Eigen/SparseCore>

#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace supple {

/// Which vertices are coupled. Shared by all matrices of one body, never changed after it is built.
struct BlockPattern {
  std::vector<Index> row_begin;  ///< rows + 1 entries
  std::vector<Index> column;

  Index rows() const { return static_cast<Index>(row_begin.size()) - 1; }
  Index blocks() const { return static_cast<Index>(column.size()); }
  /// Position of block (row, col), which must exist.
  Index find(Index row, Index col) const;
};

/// The pattern in which every vertex of an element is coupled to every other; `elements` holds nodes_per_element each.
std::shared_ptr<const BlockPattern> make_block_pattern(Index vertex_count, std::span<const Index> elements,
                                                       int nodes_per_element);

class BlockMatrix {
 public:
  static constexpr std::size_t block_size = 9;

  BlockMatrix() = default;
  explicit BlockMatrix(std::shared_ptr<const BlockPattern> pattern)
      : pattern_(std::move(pattern)), values_(block_size * to_size(pattern_->blocks()), 0.0) {}

  const BlockPattern& pattern() const { return *pattern_; }
  const std::shared_ptr<const BlockPattern>& shared_pattern() const { return pattern_; }
  Index rows() const { return pattern_->rows(); }

  /// Block at a position of the pattern, column-major.
  double* block(Index position) { return values_.data() + block_size * to_size(position); }
  const double* block(Index position) const { return values_.data() + block_size * to_size(position); }
  Eigen::Map<Mat3> block_at(Index row, Index col) { return Eigen::Map<Mat3>(block(pattern_->find(row, col))); }

  std::vector<double>& values() { return values_; }
  const std::vector<double>& values() const { return values_; }
  void set_zero();

  /// Overwrites y with A x.
  void multiply(const VecX& x, VecX& y) const;
  VecX operator*(const VecX& x) const;

  /// A ← a A + b B for a matrix of the same pattern.
  void combine(double a, double b, const BlockMatrix& B);

  /// The lower triangle, or all of it, as an ordinary sparse matrix; `keep` lists the block rows to keep (ascending).
  Eigen::SparseMatrix<double> to_sparse_lower(std::span<const Index> keep) const;
  Eigen::SparseMatrix<double> to_sparse() const;

 private:
  std::shared_ptr<const BlockPattern> pattern_;
  std::vector<double> values_;
};

}  // namespace supple
