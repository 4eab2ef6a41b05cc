// SPDX-License-Identifier: Apache-2.0
#include "supple/math/sparse/block_matrix.h"

#include <gtest/gtest.h>

#include <random>

namespace supple::block_matrix_test {
namespace {

// Two tetrahedra that share a face, and a vertex 5 that nothing uses.
const std::vector<Index> elements = {0, 1, 2, 3, 3, 2, 1, 4};

BlockMatrix random_symmetric(std::shared_ptr<const BlockPattern> pattern, unsigned seed) {
  BlockMatrix A(std::move(pattern));
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (Index row = 0; row < A.rows(); ++row) {
    for (Index k = A.pattern().row_begin[to_size(row)]; k < A.pattern().row_begin[to_size(row) + 1]; ++k) {
      const Index col = A.pattern().column[to_size(k)];
      if (col < row) continue;
      Mat3 block = Mat3::NullaryExpr([&] { return uniform(generator); });
      if (col == row) block = (block + block.transpose()).eval();
      A.block_at(row, col) = block;
      A.block_at(col, row) = block.transpose();
    }
  }
  return A;
}

MatX dense(const BlockMatrix& A) {
  MatX result = MatX::Zero(3 * A.rows(), 3 * A.rows());
  for (Index row = 0; row < A.rows(); ++row) {
    for (Index k = A.pattern().row_begin[to_size(row)]; k < A.pattern().row_begin[to_size(row) + 1]; ++k) {
      const Index col = A.pattern().column[to_size(k)];
      result.block<3, 3>(3 * row, 3 * col) = Eigen::Map<const Mat3>(A.block(k));
    }
  }
  return result;
}

TEST(BlockPattern, CouplesTheVerticesOfEachElement) {
  const auto pattern = make_block_pattern(6, elements, 4);
  ASSERT_EQ(pattern->rows(), 6);
  const std::vector<std::vector<Index>> expected = {{0, 1, 2, 3},    {0, 1, 2, 3, 4}, {0, 1, 2, 3, 4},
                                                    {0, 1, 2, 3, 4}, {1, 2, 3, 4},    {5}};
  for (std::size_t row = 0; row < expected.size(); ++row) {
    const std::vector<Index> columns(pattern->column.begin() + pattern->row_begin[row],
                                     pattern->column.begin() + pattern->row_begin[row + 1]);
    EXPECT_EQ(columns, expected[row]) << "row " << row;
  }
  EXPECT_EQ(pattern->blocks(), 4 + 5 + 5 + 5 + 4 + 1);
  EXPECT_EQ(pattern->find(4, 3), pattern->row_begin[4] + 2);
}

TEST(BlockMatrix, MultipliesLikeADenseMatrix) {
  const BlockMatrix A = random_symmetric(make_block_pattern(6, elements, 4), 1);
  const VecX x = VecX::LinSpaced(18, -1, 2);
  EXPECT_LT((A * x - dense(A) * x).norm(), 1e-14);
}

TEST(BlockMatrix, CombinesLinearly) {
  const auto pattern = make_block_pattern(6, elements, 4);
  BlockMatrix A = random_symmetric(pattern, 1);
  const BlockMatrix B = random_symmetric(pattern, 2);
  const MatX expected = 2 * dense(A) - 3 * dense(B);
  A.combine(2, -3, B);
  EXPECT_LT((dense(A) - expected).norm(), 1e-14);
  A.set_zero();
  EXPECT_EQ(dense(A).norm(), 0);
}

TEST(BlockMatrix, ConvertsToOrdinarySparseMatrices) {
  const BlockMatrix A = random_symmetric(make_block_pattern(6, elements, 4), 3);
  const MatX expected = dense(A);
  EXPECT_EQ(MatX(A.to_sparse()), expected);

  const std::vector<Index> keep = {0, 2, 4, 5};
  MatX kept(12, 12);
  for (int r = 0; r < 4; ++r) {
    for (int c = 0; c < 4; ++c)
      kept.block<3, 3>(3 * r, 3 * c) = expected.block<3, 3>(3 * keep[to_size(r)], 3 * keep[to_size(c)]);
  }
  const Eigen::SparseMatrix<double> lower = A.to_sparse_lower(keep);
  EXPECT_EQ(MatX(lower), MatX(kept.triangularView<Eigen::Lower>()));
  for (Eigen::Index column = 0; column < lower.cols(); ++column) {  // inner indices must ascend
    Eigen::Index before = -1;
    for (Eigen::SparseMatrix<double>::InnerIterator entry(lower, column); entry; ++entry) {
      EXPECT_GT(entry.row(), before);
      before = entry.row();
    }
  }
}

}  // namespace
}  // namespace supple::block_matrix_test
