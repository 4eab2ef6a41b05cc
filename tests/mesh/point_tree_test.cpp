// SPDX-License-Identifier: Apache-2.0
#include "supple/mesh/point_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace supple::point_tree_test {
namespace {

TEST(PointTree, FindsWhatLookingAtAllPointsFinds) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<Vec3> points;
  for (int k = 0; k < 300; ++k) points.emplace_back(uniform(random), 0.1 * uniform(random), uniform(random));
  for (int k = 0; k < 20; ++k) points.push_back(points[to_size(k)]);  // some twice
  const PointTree tree(points);
  for (int round = 0; round < 200; ++round) {
    const Vec3 place(1.5 * uniform(random), uniform(random), uniform(random));
    std::vector<std::pair<double, Index>> all;
    for (std::size_t v = 0; v < points.size(); ++v) all.emplace_back((points[v] - place).norm(), static_cast<Index>(v));
    std::sort(all.begin(), all.end());
    const auto found = tree.nearest(place, 7);
    ASSERT_EQ(found.size(), 7u);
    for (std::size_t k = 0; k < 7; ++k) {
      EXPECT_EQ(found[k].point, all[k].second);
      EXPECT_DOUBLE_EQ(found[k].distance, all[k].first);
    }
  }
}

TEST(PointTree, GivesAllWhenThereAreFewer) {
  const std::vector<Vec3> points{{0, 0, 0}, {1, 0, 0}};
  EXPECT_EQ(PointTree(points).nearest(Vec3(2, 0, 0), 5).size(), 2u);
  EXPECT_TRUE(PointTree(std::vector<Vec3>{}).nearest(Vec3::Zero(), 5).empty());
}

}  // namespace
}  // namespace supple::point_tree_test
