// SPDX-License-Identifier: Apache-2.0
// Non-negative least squares against the conditions of optimality, and against trying every set of positive entries.
#include "supple/math/dense/nonnegative_least_squares.h"

#include "support/bodies.h"
#include "support/dense_truth.h"

namespace supple::nonnegative_least_squares_test {
namespace {

MatX random_matrix(Eigen::Index rows, Eigen::Index columns, unsigned seed) {
  return random_vector(rows * columns, seed).reshaped(rows, columns);
}

/// x ≥ 0; Gx − h ≥ 0, and = 0 where x > 0: relative to the largest |h| of unit columns.
void expect_optimal(const MatX& G, const VecX& h, const VecX& x, double tolerance = 1e-9) {
  ASSERT_EQ(x.size(), h.size());
  ASSERT_TRUE(x.allFinite());
  const VecX length = G.diagonal().cwiseMax(1e-300).cwiseSqrt();
  const VecX gradient = (G * x - h).cwiseQuotient(length);
  const double scale = h.cwiseQuotient(length).cwiseAbs().maxCoeff();
  EXPECT_GE(x.minCoeff(), 0);
  EXPECT_GE(gradient.minCoeff(), -tolerance * scale);
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    if (!(x[i] > 0)) continue;
    EXPECT_LE(std::abs(gradient[i]), tolerance * scale) << "entry " << i;
  }
}

/// |A x − b|² of the best x ≥ 0, by solving for every set of entries.
double best_of_all_sets(const MatX& A, const VecX& b) {
  const auto n = static_cast<int>(A.cols());
  double best = b.squaredNorm();
  for (int set = 1; set < (1 << n); ++set) {
    std::vector<Eigen::Index> chosen;
    for (int i = 0; i < n; ++i)
      if (set >> i & 1) chosen.push_back(i);
    const MatX part = A(Eigen::all, chosen);
    const VecX x = truth::least_squares(part, b);
    if (x.minCoeff() >= 0) best = std::min(best, (part * x - b).squaredNorm());
  }
  return best;
}

TEST(NonnegativeLeastSquares, FulfilsTheConditionsOfOptimality) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    const Eigen::Index n = 1 + 7 * (seed % 9);
    const MatX A = random_matrix(n + 10, n, seed);
    const VecX h = A.transpose() * random_vector(n + 10, seed + 1000);
    const MatX G = A.transpose() * A;
    expect_optimal(G, h, nonnegative_least_squares(G, h));
  }
}

TEST(NonnegativeLeastSquares, FindsWhatTryingAllSetsFinds) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    const Eigen::Index n = 1 + seed % 8;
    const MatX A = random_matrix(10, n, seed);
    const VecX b = random_vector(10, seed + 500);
    const VecX x = nonnegative_least_squares(A.transpose() * A, A.transpose() * b);
    EXPECT_NEAR((A * x - b).squaredNorm(), best_of_all_sets(A, b), 1e-9 * b.squaredNorm()) << seed;
  }
}

TEST(NonnegativeLeastSquares, FewerRowsThanColumns) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    const MatX A = random_matrix(4, 8, seed);
    const VecX b = random_vector(4, seed + 500);
    const MatX G = A.transpose() * A;
    const VecX h = A.transpose() * b;
    const VecX x = nonnegative_least_squares(G, h);
    expect_optimal(G, h, x);
    EXPECT_NEAR((A * x - b).squaredNorm(), best_of_all_sets(A, b), 1e-8 * b.squaredNorm()) << seed;
  }
}

TEST(NonnegativeLeastSquares, TwinsAndEmptyColumns) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    MatX A = random_matrix(12, 8, seed);
    A.col(3) = 2.5 * A.col(1);
    A.col(5) = A.col(1) + A.col(2);
    A.col(6).setZero();
    const VecX b = random_vector(12, seed + 500);
    const MatX G = A.transpose() * A;
    const VecX h = A.transpose() * b;
    const VecX x = nonnegative_least_squares(G, h);
    expect_optimal(G, h, x);
    EXPECT_EQ(x[6], 0);
    EXPECT_NEAR((A * x - b).squaredNorm(), best_of_all_sets(A, b), 1e-8 * b.squaredNorm()) << seed;
  }
}

TEST(NonnegativeLeastSquares, NothingPointsTheRightWay) {
  const MatX A = random_matrix(20, 8, 3).cwiseAbs();
  const MatX G = A.transpose() * A;
  EXPECT_EQ(nonnegative_least_squares(G, -VecX::Ones(8)).norm(), 0);
  EXPECT_EQ(nonnegative_least_squares(G, VecX::Zero(8)).norm(), 0);
  EXPECT_EQ(nonnegative_least_squares(MatX(0, 0), VecX(0)).size(), 0);
}

TEST(NonnegativeLeastSquares, ColumnsOfAnyLengthCountTheSame) {
  const MatX A = random_matrix(30, 12, 5);
  const VecX b = random_vector(30, 6);
  const VecX x = nonnegative_least_squares(A.transpose() * A, A.transpose() * b);
  VecX lengths = random_vector(12, 7);
  for (double& value : lengths) value = std::pow(10, 6 * value);
  const MatX B = A * lengths.asDiagonal();
  const VecX y = nonnegative_least_squares(B.transpose() * B, B.transpose() * b);
  EXPECT_LT((lengths.cwiseProduct(y) - x).norm(), 1e-9 * x.norm());
}

// Sums in single precision leave a matrix that is not quite positive semi-definite.
TEST(NonnegativeLeastSquares, MatricesOfSinglePrecision) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    MatX A = random_matrix(40, 60, seed);
    A.rightCols(20) = A.leftCols(20) * 1.00001;
    const Eigen::MatrixXf single = A.cast<float>();
    const MatX G = (single.transpose() * single).cast<double>();
    const VecX b = A * VecX::Ones(60) + random_vector(40, seed + 500);
    const VecX x = nonnegative_least_squares(G, A.transpose() * b);
    ASSERT_TRUE(x.allFinite()) << seed;
    EXPECT_GE(x.minCoeff(), 0);
    const VecX exact = nonnegative_least_squares(A.transpose() * A, A.transpose() * b);
    EXPECT_LT((A * x - b).norm() - (A * exact - b).norm(), 1e-3 * b.norm()) << seed;
  }
}

}  // namespace
}  // namespace supple::nonnegative_least_squares_test
