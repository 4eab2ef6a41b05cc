// SPDX-License-Identifier: Apache-2.0
#include "supple/math/sparse/sparse_factor.h"
#include "support/dense_truth.h"

#include "math/sparse_matrices.h"
#include "supple/base/parallel.h"

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include <cmath>

namespace supple::sparse_factor_test {
namespace {

Eigen::VectorXd some_vector(Eigen::Index n) {
  return Eigen::VectorXd::NullaryExpr(n, [](Eigen::Index i) { return std::sin(1.7 * static_cast<double>(i) + 0.3); });
}

Eigen::VectorXd solve_one(const SparseFactor& factor, const Eigen::VectorXd& b) {
  Eigen::VectorXd x(b.size());
  factor.solve(b, x);
  return x;
}

double residual(const Sparse& lower, const Eigen::VectorXd& x, const Eigen::VectorXd& b) {
  return (lower.selfadjointView<Eigen::Lower>() * x - b).norm() / b.norm();
}

/// Solutions and determinant against a dense factorisation.
void expect_like_dense(const Sparse& lower, int block_size) {
  SparseFactor factor;
  factor.analyze(lower, block_size);
  ASSERT_TRUE(factor.factorize(lower));
  EXPECT_EQ(factor.failed_column(), -1);
  const MatX dense = dense_of(lower), L = truth::cholesky(dense);
  ASSERT_EQ(L.rows(), lower.rows());
  const Eigen::VectorXd b = some_vector(lower.rows());
  const Eigen::VectorXd expected = truth::solve_symmetric(dense, b);
  EXPECT_LE((solve_one(factor, b) - expected).norm(), 1e-12 * expected.norm());
  const double log_determinant = 2 * L.diagonal().array().log().sum();
  EXPECT_NEAR(factor.log_determinant(), log_determinant, 1e-11 * (1 + std::abs(log_determinant)));
  EXPECT_GE(factor.factor_nonzeros(), lower.nonZeros());
}

TEST(SparseCholesky, SolvesRandomPatternsLikeADenseFactorisation) {
  for (const int vertices : {2, 3, 5, 8, 13, 40, 100, 250}) {
    for (const int density : {0, 1, 3, 8}) {
      for (const int b : {1, 2, 3, 4}) {
        SCOPED_TRACE(testing::Message() << vertices << " vertices, density " << density << ", blocks of " << b);
        expect_like_dense(random_spd(vertices, vertices * density, b, static_cast<unsigned>(vertices + density)), b);
      }
    }
  }
}

TEST(SparseCholesky, BlockSizeIsOnlyAHint) {
  const Sparse matrix = random_spd(60, 150, 3, 7);  // 180 rows
  for (const int b : {1, 2, 3, 5, 6, 7, 180}) expect_like_dense(matrix, b);
}

TEST(SparseCholesky, BlocksMayBeIncomplete) {
  Sparse matrix = random_spd(50, 100, 3, 3);
  matrix.prune([](Eigen::Index row, Eigen::Index column, double) { return row == column || (row + column) % 4 != 0; });
  expect_like_dense(matrix, 3);
}

TEST(SparseCholesky, TakesTridiagonalDenseAndArrowMatrices) {
  for (const int n : {1, 2, 3, 11, 12, 13, 24, 25, 130, 300}) {
    SCOPED_TRACE(n);
    Entries chain;
    for (int i = 0; i < n; ++i) chain.emplace_back(i, i, 2.1);
    for (int i = 1; i < n; ++i) chain.emplace_back(i, i - 1, -1.0);
    expect_like_dense(sparse_from(n, chain), 1);
    const Eigen::MatrixXd full =
        Eigen::MatrixXd::NullaryExpr(n, n, [](auto i, auto j) { return std::exp(-0.3 * std::abs(double(i - j))); });
    expect_like_dense(lower_of(full), 1);
    if (n % 3 == 0) expect_like_dense(lower_of(full), 3);
    expect_like_dense(arrow(n, true), 1);
    expect_like_dense(arrow(n, false), 1);
  }
}

TEST(SparseCholesky, TakesLongChainsAndWideStars) {
  const int n = 50'000;
  Entries chain;
  for (int i = 0; i < n; ++i) chain.emplace_back(i, i, 2.1);
  for (int i = 1; i < n; ++i) chain.emplace_back(i, i - 1, -1.0);
  for (const Sparse& matrix : {sparse_from(n, chain), arrow(n, true), arrow(n, false)}) {
    SparseFactor factor;
    factor.analyze(matrix);
    ASSERT_TRUE(factor.factorize(matrix));
    EXPECT_LT(residual(matrix, solve_one(factor, some_vector(n)), some_vector(n)), 1e-14);
    EXPECT_LT(factor.factor_nonzeros(), 40 * n);
  }
}

TEST(SparseCholesky, TakesDisconnectedGraphs) {
  // Two clouds, a pair and isolated vertices, all interleaved.
  const Sparse a = random_spd(60, 200, 3, 1), b = random_spd(30, 60, 3, 2);
  Entries entries;
  const auto place = [](Eigen::Index i, int which) { return (i / 3 * 4 + which) * 3 + i % 3; };
  for (Eigen::Index j = 0; j < a.cols(); ++j)
    for (Sparse::InnerIterator it(a, j); it; ++it) entries.emplace_back(place(it.row(), 0), place(j, 0), it.value());
  for (Eigen::Index j = 0; j < b.cols(); ++j)
    for (Sparse::InnerIterator it(b, j); it; ++it) entries.emplace_back(place(it.row(), 2), place(j, 2), it.value());
  const Eigen::Index n = 60 * 4 * 3;
  Sparse matrix = sparse_from(n, entries);
  for (Eigen::Index i = 0; i < n; ++i)
    if (matrix.coeff(i, i) == 0) entries.emplace_back(i, i, 1.0 + static_cast<double>(i));
  entries.emplace_back(place(50, 1), place(2, 1), 0.5);
  expect_like_dense(sparse_from(n, entries), 3);
  Sparse diagonal(20'000, 20'000);
  diagonal.setIdentity();
  SparseFactor factor;
  factor.analyze(diagonal);
  ASSERT_TRUE(factor.factorize(diagonal));
  EXPECT_EQ(solve_one(factor, some_vector(20'000)), some_vector(20'000));
}

TEST(SparseCholesky, TakesTheEmptyMatrix) {
  for (const FactorKind kind : {FactorKind::cholesky, FactorKind::ldlt}) {
    SparseFactor factor(kind);
    const Sparse empty(0, 0);
    factor.analyze(empty, 3);
    EXPECT_TRUE(factor.factorize(empty));
    EXPECT_EQ(solve_one(factor, Eigen::VectorXd(0)).size(), 0);
    EXPECT_EQ(factor.solve(Eigen::MatrixXd(0, 2)).cols(), 2);
    EXPECT_EQ(factor.log_determinant(), 0.0);
  }
}

TEST(SparseCholesky, RefusesMatricesThatAreNotPositiveDefinite) {
  SparseFactor factor;
  Sparse matrix = elastic_cube(5);
  factor.analyze(matrix, 3);
  for (const double bad : {-1.0, 0.0, std::nan(""), -1e300}) {
    Sparse broken = matrix;
    broken.coeffRef(100, 100) = bad;
    EXPECT_FALSE(factor.factorize(broken)) << bad;
    EXPECT_GE(factor.failed_column(), 0);
    EXPECT_LT(factor.failed_column(), matrix.cols());
  }
  ASSERT_TRUE(factor.factorize(matrix));
  EXPECT_LT(residual(matrix, solve_one(factor, some_vector(375)), some_vector(375)), 1e-13);
}

TEST(SparseCholesky, RefusesABodyThatFloatsFree) {
  // Without mass the constant fields have no stiffness: singular, with pivots of the size of rounding errors.
  for (const int n : {2, 4, 7, 12}) {
    const Sparse matrix = elastic_cube(n, 0.0);
    SparseFactor factor;
    factor.analyze(matrix, 3);
    EXPECT_FALSE(factor.factorize(matrix)) << n;
  }
}

TEST(SparseCholesky, FailedColumnIsTheCulpritOfADiagonalMatrix) {
  Sparse matrix(40, 40);
  matrix.setIdentity();
  matrix.coeffRef(17, 17) = -2;
  SparseFactor factor;
  factor.analyze(matrix);
  EXPECT_FALSE(factor.factorize(matrix));
  EXPECT_EQ(factor.failed_column(), 17);
}

TEST(SparseCholesky, FactorsNewValuesOfTheSamePattern) {
  const Sparse first = random_spd(120, 400, 3, 5);
  SparseFactor factor;
  factor.analyze(first, 3);
  ASSERT_TRUE(factor.factorize(first));
  for (const double scale : {2.0, 1e-6, 3.0}) {
    Sparse next = first * scale;
    for (Eigen::Index i = 0; i < next.cols(); ++i) next.coeffRef(i, i) *= 1.5;
    ASSERT_TRUE(factor.factorize(next));
    const Eigen::VectorXd b = some_vector(360);
    const Eigen::VectorXd expected = truth::solve_symmetric(dense_of(next), b);
    EXPECT_LE((solve_one(factor, b) - expected).norm(), 1e-12 * expected.norm());
  }
  const Sparse other = random_spd(33, 90, 1, 6);
  factor.analyze(other);
  ASSERT_TRUE(factor.factorize(other));
  EXPECT_LT(residual(other, solve_one(factor, some_vector(33)), some_vector(33)), 1e-14);
}

TEST(SparseCholesky, GivesTheSameBitsForAnyThreadCount) {
  const Sparse matrix = elastic_cube(11);
  Eigen::MatrixXd many(matrix.rows(), 30);
  for (int c = 0; c < many.cols(); ++c) many.col(c) = some_vector(matrix.rows()).array() + c;
  Eigen::VectorXd first_one;
  Eigen::MatrixXd first_many;
  for (const int threads : {1, 2, 5}) {
    set_thread_count(threads);
    SparseFactor factor;
    factor.analyze(matrix, 3);
    ASSERT_TRUE(factor.factorize(matrix));
    const Eigen::VectorXd one = solve_one(factor, some_vector(matrix.rows()));
    const Eigen::MatrixXd all = factor.solve(many);
    if (threads == 1) {
      first_one = one;
      first_many = all;
    }
    EXPECT_EQ(one, first_one) << threads;
    EXPECT_EQ(all, first_many) << threads;
  }
  set_thread_count(0);
}

TEST(SparseCholesky, ManyRightHandSidesGiveTheSingleSolutions) {
  const Sparse matrix = random_spd(90, 300, 3, 11);
  SparseFactor factor;
  factor.analyze(matrix, 3);
  ASSERT_TRUE(factor.factorize(matrix));
  for (const int count : {1, 2, 11, 12, 13, 40}) {
    const Eigen::MatrixXd b =
        Eigen::MatrixXd::NullaryExpr(270, count, [](auto i, auto j) { return std::cos(double(i * (j + 2))); });
    const Eigen::MatrixXd x = factor.solve(b);
    for (int c = 0; c < count; ++c) EXPECT_LE((x.col(c) - solve_one(factor, b.col(c))).norm(), 1e-13 * x.col(c).norm());
  }
}

TEST(SparseCholesky, SolvesInPlaceAndSurvivesMoves) {
  const Sparse matrix = random_spd(70, 200, 3, 13);
  SparseFactor source;
  source.analyze(matrix, 3);
  ASSERT_TRUE(source.factorize(matrix));
  const SparseFactor factor = std::move(source);
  Eigen::VectorXd x = some_vector(210);
  factor.solve(x, x);
  EXPECT_LT(residual(matrix, x, some_vector(210)), 1e-13);
}

TEST(SparseCholesky, LeavesSmallResidualsOnACube) {
  const Sparse matrix = elastic_cube(15);
  SparseFactor factor;
  factor.analyze(matrix, 3);
  ASSERT_TRUE(factor.factorize(matrix));
  EXPECT_LT(residual(matrix, solve_one(factor, some_vector(matrix.rows())), some_vector(matrix.rows())), 1e-12);
}

TEST(SparseCholesky, StaysAccurateOnBadlyScaledMatrices) {
  // Stiffness from 1e-4 to 1e8 across the body: backward stability must not depend on the scale of a vertex.
  const Sparse cube = elastic_cube(6);
  Eigen::VectorXd scale(cube.rows());
  for (Eigen::Index i = 0; i < scale.size(); ++i) scale[i] = std::pow(10.0, static_cast<double>(i / 3 % 13) - 4);
  const Sparse matrix = scale.cwiseSqrt().asDiagonal() * cube * scale.cwiseSqrt().asDiagonal();
  SparseFactor factor;
  factor.analyze(matrix, 3);
  ASSERT_TRUE(factor.factorize(matrix));
  const Eigen::VectorXd expected = some_vector(cube.rows()).cwiseQuotient(scale.cwiseSqrt());
  const Eigen::VectorXd b = matrix.selfadjointView<Eigen::Lower>() * expected;
  const Eigen::VectorXd error = (solve_one(factor, b) - expected).cwiseProduct(scale.cwiseSqrt());
  EXPECT_LT(error.norm(), 1e-11 * some_vector(cube.rows()).norm());
}

// ---- indefinite ----------------------------------------------------------------------------------------------------

/// [K Bᵀ; B 0] with K positive definite of `n` rows and m constraints on random triples of unknowns.
Sparse saddle_point(int n, int m, unsigned seed) {
  const Sparse stiffness = random_spd(n, 3 * n, 1, seed);
  std::mt19937 random(seed);
  Entries entries;
  for (Eigen::Index j = 0; j < n; ++j)
    for (Sparse::InnerIterator it(stiffness, j); it; ++it) entries.emplace_back(it.row(), j, it.value());
  for (int c = 0; c < m; ++c) {
    entries.emplace_back(n + c, n + c, 0.0);
    for (int t = 0; t < 3; ++t) entries.emplace_back(n + c, random() % static_cast<unsigned>(n), 1.0 + t);
  }
  return sparse_from(n + m, entries);
}

TEST(SparseLdlt, SolvesSaddlePointsLikeADenseFactorisation) {
  for (const int n : {4, 30, 200}) {
    for (const unsigned seed : {1U, 2U, 3U}) {
      const int m = n / 4;
      const Sparse matrix = saddle_point(n, m, seed);
      SparseFactor factor(FactorKind::ldlt);
      factor.analyze(matrix);
      ASSERT_TRUE(factor.factorize(matrix)) << n;
      const MatX dense = dense_of(matrix);
      const Eigen::VectorXd b = some_vector(n + m);
      const Eigen::VectorXd expected = truth::solve_pivoted(dense, b);
      EXPECT_LE((solve_one(factor, b) - expected).norm(), 1e-9 * expected.norm());
      EXPECT_LE((factor.solve(Eigen::MatrixXd(b)) - expected).norm(), 1e-9 * expected.norm());
      EXPECT_EQ(factor.negative_pivots(), m);
      const double log_determinant = truth::pivoted(dense).pivots.array().abs().log().sum();
      EXPECT_NEAR(factor.log_determinant(), log_determinant, 1e-8 * std::abs(log_determinant));
    }
  }
}

TEST(SparseLdlt, CountsEigenvaluesBelowAShift) {
  // 1D Laplacian: eigenvalues 2 - 2 cos(π k / (n + 1)).
  const int n = 99;
  Entries entries;
  const double shift = 0.5;
  for (int i = 0; i < n; ++i) entries.emplace_back(i, i, 2.0 - shift);
  for (int i = 1; i < n; ++i) entries.emplace_back(i, i - 1, -1.0);
  int below = 0;
  for (int k = 1; k <= n; ++k) below += 2 - 2 * std::cos(EIGEN_PI * k / (n + 1)) < shift ? 1 : 0;
  const Sparse matrix = sparse_from(n, entries);
  for (const int b : {1, 3}) {
    SparseFactor factor(FactorKind::ldlt);
    factor.analyze(matrix, b);
    ASSERT_TRUE(factor.factorize(matrix));
    EXPECT_EQ(factor.negative_pivots(), below);
  }
}

TEST(SparseLdlt, RefusesSingularMatrices) {
  for (const int n : {3, 6}) {
    const Sparse matrix = elastic_cube(n, 0.0);
    SparseFactor factor(FactorKind::ldlt);
    factor.analyze(matrix, 3);
    EXPECT_FALSE(factor.factorize(matrix));
  }
  Sparse zero(5, 5);
  for (int i = 0; i < 5; ++i) zero.insert(i, i) = 0;
  zero.makeCompressed();
  SparseFactor factor(FactorKind::ldlt);
  factor.analyze(zero);
  EXPECT_FALSE(factor.factorize(zero));
}

}  // namespace
}  // namespace supple::sparse_factor_test
