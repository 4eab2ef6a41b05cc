// SPDX-License-Identifier: Apache-2.0
// Against the singular value decomposition of the whole matrix.
#include "supple/math/dense/streaming_pca.h"
#include "support/dense_truth.h"

#include <gtest/gtest.h>

#include <random>

namespace supple::streaming_pca_test {
namespace {

/// Columns with singular values that fall by a factor of two, and noise of 1e-5.
MatX decaying_matrix(Index rows, Index columns, Index rank) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  const auto noise = [&](Index r, Index c) { return MatX(MatX::NullaryExpr(r, c, [&]() { return normal(random); })); };
  MatX sum = 1e-5 * noise(rows, columns);
  for (Index k = 0; k < rank; ++k) sum += std::pow(0.5, k) * noise(rows, 1).normalized() * noise(1, columns);
  return sum;
}

StreamingPca streamed(const MatX& matrix, Index most, Index block, double cutoff) {
  StreamingPca pca(static_cast<Index>(matrix.rows()), most, block, cutoff);
  for (Eigen::Index c = 0; c < matrix.cols(); ++c) {
    const Eigen::VectorXf column = matrix.col(c).cast<float>();
    pca.add({column.data(), to_size(column.size())});
  }
  pca.finish();
  return pca;
}

TEST(StreamingPca, OneBlockIsTheDecomposition) {
  const MatX matrix = decaying_matrix(500, 40, 8);
  const truth::SingularValues svd = truth::singular_values(matrix);
  const StreamingPca pca = streamed(matrix, 8, 40, 0);
  ASSERT_EQ(pca.direction_count(), 8);
  for (Index k = 0; k < 8; ++k) {
    EXPECT_NEAR(pca.singular_values()[to_size(k)], svd.values[k], 1e-4);
    EXPECT_NEAR(std::abs(pca.directions().col(k).cast<double>().dot(svd.U.col(k))), 1.0, 1e-4) << k;
  }
}

TEST(StreamingPca, ManyBlocksLoseNothingThatMatters) {
  const MatX matrix = decaying_matrix(500, 200, 10);
  const truth::SingularValues svd = truth::singular_values(matrix);
  const StreamingPca pca = streamed(matrix, 14, 9, 1e-3);
  ASSERT_GE(pca.direction_count(), 10);
  const MatX U = pca.directions().cast<double>();
  EXPECT_LT((U.transpose() * U - MatX::Identity(U.cols(), U.cols())).cwiseAbs().maxCoeff(), 1e-3);
  const double best = std::sqrt(svd.values.tail(190).squaredNorm());
  const MatX ten = U.leftCols(10);
  EXPECT_LT((matrix - ten * (ten.transpose() * matrix)).norm(), 1.05 * best);
}

TEST(StreamingPca, DropsWhatIsBelowTheCutoff) {
  const MatX matrix = decaying_matrix(300, 30, 3);
  EXPECT_EQ(streamed(matrix, 20, 30, 1e-2).direction_count(), 3);
  EXPECT_EQ(streamed(MatX::Zero(30, 5), 20, 30, 0).direction_count(), 0);
  StreamingPca empty(30, 4, 4, 0);
  empty.finish();
  EXPECT_EQ(empty.direction_count(), 0);
}

}  // namespace
}  // namespace supple::streaming_pca_test
