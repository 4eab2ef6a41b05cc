// SPDX-License-Identifier: Apache-2.0
#include "supple/math/dense/box_quadratic.h"

#include <gtest/gtest.h>

#include <random>

namespace supple::box_quadratic_test {
namespace {

using Sparse = Eigen::SparseMatrix<double>;

/// A chain of springs, each to the next and to the next but one, and to the ground.
Sparse chain(Eigen::Index n, double ground) {
  Sparse q(n, n);
  std::vector<Eigen::Triplet<double>> entries;
  const auto spring = [&](Eigen::Index a, Eigen::Index b, double k) {
    for (const auto& [i, j, sign] :
         {std::tuple(a, a, 1.0), std::tuple(b, b, 1.0), std::tuple(a, b, -1.0), std::tuple(b, a, -1.0)})
      entries.emplace_back(static_cast<int>(i), static_cast<int>(j), sign * k);
  };
  for (Eigen::Index i = 0; i < n; ++i) {
    entries.emplace_back(static_cast<int>(i), static_cast<int>(i), ground);
    if (i + 1 < n) spring(i, i + 1, 1.0);
    if (i + 2 < n) spring(i, i + 2, 0.3);
  }
  q.setFromTriplets(entries.begin(), entries.end());
  return q;
}

/// Projected Gauss-Seidel: nothing in common with what is tested.
VecX sweep_until_still(const Sparse& q, const VecX& c, double low, double high) {
  const MatX dense = q;
  VecX x = VecX::Constant(c.size(), 0.5 * (low + high));
  for (int sweep = 0; sweep < 100000; ++sweep) {
    double moved = 0;
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      const double next = std::clamp(x[i] - (dense.row(i).dot(x) + c[i]) / dense(i, i), low, high);
      moved = std::max(moved, std::abs(next - x[i]));
      x[i] = next;
    }
    if (moved < 1e-15) break;
  }
  return x;
}

VecX random_load(Eigen::Index n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  VecX c(n);
  for (double& value : c) value = normal(random);
  return c;
}

TEST(BoxQuadratic, FindsWhatProjectedSweepsFind) {
  const Sparse q = chain(60, 0.05);
  BoxQuadratic solver(q, {1e-12, 30});
  for (const unsigned seed : {1u, 2u, 3u, 4u}) {
    const VecX c = random_load(60, seed);
    BoxQuadraticReport report;
    const VecX x = solver.minimize(c, -0.4, 0.7, &report);
    const VecX expected = sweep_until_still(q, c, -0.4, 0.7);
    EXPECT_TRUE(report.exact);
    EXPECT_LT(report.residual, 1e-12);
    EXPECT_LT((x - expected).cwiseAbs().maxCoeff(), 1e-10);
    // A test of bounds where none, or all, are reached would say little.
    EXPECT_GT((expected.array() == -0.4).count(), 5);
    EXPECT_GT((expected.array() == 0.7).count(), 5);
    EXPECT_GT((expected.array() > -0.4 && expected.array() < 0.7).count(), 5);
  }
}

TEST(BoxQuadratic, TheInteriorPointAloneComesNear) {
  const Sparse q = chain(60, 0.05);
  const VecX c = random_load(60, 7);
  BoxQuadraticReport report;
  const VecX x = BoxQuadratic(q).minimize(c, 0, 1, &report);
  EXPECT_FALSE(report.exact);
  EXPECT_LT((x - sweep_until_still(q, c, 0, 1)).cwiseAbs().maxCoeff(), 1e-5);
  EXPECT_LT(report.residual, 1e-5);
  EXPECT_GT(x.minCoeff(), 0.0);
  EXPECT_LT(x.maxCoeff(), 1.0);
  EXPECT_LT(report.interior_steps, 25);
}

TEST(BoxQuadratic, FarBoundsLeaveTheLinearSolution) {
  const Sparse q = chain(40, 0.5);
  const VecX c = random_load(40, 9);
  const VecX x = BoxQuadratic(q, {1e-12, 10}).minimize(c, -100, 100);
  EXPECT_LT((q * x + c).cwiseAbs().maxCoeff(), 1e-11);
}

}  // namespace
}  // namespace supple::box_quadratic_test
