// SPDX-License-Identifier: Apache-2.0
// Shares of a whole against the best of all sets of that size, each solved by itself.
#include "supple/math/dense/simplex_quadratic.h"

#include <gtest/gtest.h>

#include <Eigen/LU>

#include <bit>
#include <random>

namespace supple::simplex_quadratic_test {
namespace {

SimplexMatrix random_gram(int size, std::mt19937& random) {
  std::normal_distribution<double> normal(0.5, 1.0);
  MatX e(12, size);
  for (double& x : e.reshaped()) x = normal(random);
  return e.transpose() * e;
}

/// The least value over all sets of at most `most` entries whose best shares are all positive.
double least_of_all_sets(const SimplexMatrix& G, int most) {
  const int size = static_cast<int>(G.rows());
  double least = 1e300;
  for (unsigned set = 1; set < (1u << size); ++set) {
    if (std::popcount(set) > most) continue;
    std::vector<int> entries;
    for (int i = 0; i < size; ++i)
      if ((set >> i & 1u) != 0) entries.push_back(i);
    const MatX part = G(entries, entries);
    const VecX y = part.inverse() * VecX::Ones(part.rows());
    if ((y.array() / y.sum() < 0).any()) continue;
    least = std::min(least, 1 / y.sum());
  }
  return least;
}

TEST(SimplexQuadratic, FindsTheLeastValue) {
  std::mt19937 random(1);
  for (int k = 0; k < 200; ++k) {
    const SimplexMatrix G = random_gram(8, random);
    const SimplexVector w = simplex_minimum(G);
    EXPECT_NEAR(w.sum(), 1, 1e-12);
    EXPECT_GE(w.minCoeff(), 0);
    EXPECT_NEAR(w.dot(G * w), least_of_all_sets(G, 8), 1e-7 * G.diagonal().minCoeff());
  }
}

/// Taking shares away one by one isn't always the best choice of a few, but it is close.
TEST(SimplexQuadratic, FewSharesAreNearlyTheBestFew) {
  std::mt19937 random(2);
  double mean = 0;
  constexpr int tries = 100;
  for (int k = 0; k < tries; ++k) {
    const SimplexMatrix G = random_gram(9, random);
    const SimplexVector w = simplex_minimum(G, 3);
    EXPECT_LE((w.array() > 0).count(), 3);
    EXPECT_NEAR(w.sum(), 1, 1e-12);
    mean += w.dot(G * w) / least_of_all_sets(G, 3) / tries;
  }
  EXPECT_GE(mean, 1);
  EXPECT_LT(mean, 1.05);
}

TEST(SimplexQuadratic, EqualPointsShareOrOneHasAll) {
  const SimplexMatrix G = SimplexMatrix::Ones(3, 3);
  const SimplexVector w = simplex_minimum(G, 2);
  EXPECT_NEAR(w.sum(), 1, 1e-12);
  EXPECT_NEAR(w.dot(G * w), 1, 1e-9);
  EXPECT_EQ(simplex_minimum(SimplexMatrix::Zero(1, 1))[0], 1);
}

}  // namespace
}  // namespace supple::simplex_quadratic_test
