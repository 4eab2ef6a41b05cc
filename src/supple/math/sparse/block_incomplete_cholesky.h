// SPDX-License-Identifier: Apache-2.0
// Incomplete Cholesky factorisation of a matrix of 3×3 blocks, A ≈ L Lᵀ with L as sparse as A: a preconditioner.
//
// Finite-element matrices of elasticity aren't M-matrices, so a pivot may turn out not positive; then the factorisation
// starts anew with a little more of the diagonal added, A + s diag(A), s = 10⁻³, 4·10⁻³ … Factors are kept in single
// precision, which is more than a preconditioner needs and half of what has to be read.
//
// Rows are eliminated part by part. Parts that aren't coupled to each other are solved for side by side, and after them
// the rows that hold them together; the bits are the same for any number of threads.
#pragma once

#include "supple/math/sparse/block_matrix.h"

namespace supple {

/// In which order rows are eliminated.
struct PartedOrder {
  std::vector<Index> rows;        ///< of the matrix
  std::vector<Index> part_begin;  ///< places in `rows` where parts begin; the last one is where the joining rows do
};

/// Cuts the graph of some rows into slabs along the longest side of their points' box, in the order of that side. Rows
/// of a slab that are coupled to the next one join them.
PartedOrder slab_order(const BlockPattern& pattern, std::span<const Index> rows, std::span<const Vec3> points);

class BlockIncompleteCholesky {
 public:
  BlockIncompleteCholesky() = default;
  /// The principal submatrix of the order's rows. A must be positive definite.
  BlockIncompleteCholesky(const BlockMatrix& A, PartedOrder order);

  Index rows() const { return static_cast<Index>(order_.rows.size()); }
  const PartedOrder& order() const { return order_; }
  /// Gives s, the share of the diagonal that was added.
  double shift() const { return shift_; }
  std::size_t blocks() const { return column_.size(); }

  /// y ← (L Lᵀ)⁻¹ y; three numbers for each row, in the order of elimination.
  void solve(float* y) const;
  /// y ← L⁻¹ y alone …
  void forward(float* y) const;
  /// … and y ← L⁻ᵀ y.
  void backward(float* y) const;

  /// Entries of row i left of the diagonal: columns (places in the order) and blocks, column-major; the inverse of the
  /// diagonal block.
  std::span<const Index> columns(Index i) const {
    return {column_.data() + row_begin_[to_size(i)], column_.data() + row_begin_[to_size(i) + 1]};
  }
  const float* block(Index i, std::size_t k) const { return &block_[9 * (to_size(row_begin_[to_size(i)]) + k)]; }
  const float* inverse_diagonal(Index i) const { return &inverse_diagonal_[9 * to_size(i)]; }

 private:
  void gather(const BlockMatrix& A);
  bool factorize(double shift);
  void forward_rows(float* y, Index begin, Index end) const;
  void backward_rows(float* y, Index begin, Index end) const;

  PartedOrder order_;
  std::vector<Index> row_begin_, column_;
  std::vector<double> lower_, diagonal_;  ///< of A; empty once it is factored
  std::vector<float> block_, inverse_diagonal_;
  double shift_ = 0;
};

}  // namespace supple
