// SPDX-License-Identifier: Apache-2.0
// How many coordinates a body needs: motion that has so many directions needs just these.
#include "supple/offline/posespace/bases/choose_size.h"

#include "support/bodies.h"
#include "support/soft_limb.h"

namespace supple::choose_size_test {
namespace {

/// Eight runs of ten moments in the span of `directions` shapes.
TaughtShapes motion_of(Eigen::Index rows, Eigen::Index directions) {
  TaughtShapes taught;
  const MatX shapes = random_vector(rows * directions, 1).reshaped(rows, directions);
  taught.displacements = shapes * random_vector(directions * 80, 2).reshaped(directions, 80);
  for (int k = 0; k < 80; ++k) taught.runs.push_back(k / 10);
  return taught;
}

TEST(ChooseSize, LeavesNothingOfMotionWithAllItsDirections) {
  const SoftLimb limb = make_soft_limb({.cells = {2, 4, 2}});
  const ElasticBody body = ElasticBody::create(limb.body.mesh, MaterialModel::flesh).value();
  const std::vector<double> left = left_of_unseen_motion(body.consistent_mass(), motion_of(body.dof_count(), 12));
  ASSERT_GE(left.size(), 12u);
  EXPECT_GT(left[10], 0.05);
  EXPECT_LT(left[11], 1e-6);
  for (std::size_t r = 1; r < left.size(); ++r) EXPECT_LE(left[r], left[r - 1]);
}

TEST(ChooseSize, TakesTheFewestThatAreEnough) {
  const std::vector<double> left = {0.9, 0.5, 0.2, 0.1, 0.05, 0.03, 0.019, 0.01};
  EXPECT_EQ(choose_size(left, {.left = 0.02, .least = 1, .most = 100}), 10);  // seven, and then a round number
  EXPECT_EQ(choose_size(left, {.left = 0.02, .least = 45, .most = 100}), 45);
  EXPECT_EQ(choose_size(left, {.left = 1e-9, .least = 1, .most = 6}), 6);
  // More than there should be, where much would be missed.
  EXPECT_EQ(choose_size(left, {.left = 1e-9, .least = 1, .most = 3, .bearable = 0.06, .limit = 100}), 5);
  EXPECT_EQ(choose_size(left, {.left = 1e-9, .least = 1, .most = 3, .bearable = 0.04, .limit = 8}), 8);
  EXPECT_EQ(choose_size(left, {.left = 1e-9, .least = 1, .most = 3, .bearable = 0.3, .limit = 4}), 4);
  EXPECT_EQ(choose_size({}, {.left = 0.02, .least = 45, .most = 100}), 45);
}

}  // namespace
}  // namespace supple::choose_size_test
