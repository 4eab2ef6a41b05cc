// SPDX-License-Identifier: Apache-2.0
// The tree's promises against brute force: its spheres contain their triangles at any q, and its queries answer what a
// look at every triangle answers.
#include "supple/runtime/contact/bounded_deformation_tree.h"
#include "supple/runtime/contact/surface_query.h"
#include "supple/runtime/contact/triangle_distance.h"

#include "runtime/allocation_counter.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace supple::bounded_deformation_tree_test {
namespace {

constexpr int coordinates = 7;

/// A bumpy sheet of 2 n² triangles with smooth modes of different size, and some roughness in them.
DisplaySurface sheet(int n) {
  DisplaySurface surface;
  for (int j = 0; j <= n; ++j) {
    for (int i = 0; i <= n; ++i) surface.rest_positions.emplace_back(i, 0.3 * std::sin(0.7 * i) * std::cos(0.4 * j), j);
  }
  const auto at = [&](int i, int j) { return static_cast<Index>(j * (n + 1) + i); };
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      surface.triangles.push_back({at(i, j), at(i, j + 1), at(i + 1, j)});
      surface.triangles.push_back({at(i + 1, j), at(i, j + 1), at(i + 1, j + 1)});
    }
  }
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  surface.basis.resize(3 * surface.vertex_count(), coordinates);
  for (Index v = 0; v < surface.vertex_count(); ++v) {
    const Vec3 x = surface.rest_positions[to_size(v)] / n;
    for (int a = 0; a < coordinates; ++a) {
      const double phase = (a + 1) * x.x() + (a % 3) * x.z();
      surface.basis.col(a).segment<3>(3 * v) =
          Vec3(std::sin(phase), std::cos(2 * phase), std::sin(3 * phase)) / (1 + a) +
          0.01 * Vec3(normal(random), normal(random), normal(random));
    }
  }
  return surface;
}

std::vector<double> random_coordinates(std::mt19937& random, double size) {
  std::normal_distribution<double> normal;
  std::vector<double> q(coordinates);
  for (double& value : q) value = size * normal(random);
  return q;
}

std::vector<Vec3> deformed(const DisplaySurface& surface, const std::vector<double>& q) {
  const VecX u = surface.basis * Eigen::Map<const VecX>(q.data(), coordinates);
  std::vector<Vec3> positions = surface.rest_positions;
  for (std::size_t v = 0; v < positions.size(); ++v) positions[v] += u.segment<3>(3 * static_cast<Eigen::Index>(v));
  return positions;
}

/// Distances to all triangles, by minimising over a fine set of barycentric coordinates and then around the best: slow,
/// and nothing like the library's way.
double sampled_distance(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c) {
  double best = std::numeric_limits<double>::infinity(), u0 = 0.5, v0 = 0.5;
  for (double width = 0.5; width > 1e-9; width *= 0.6) {
    double u1 = u0, v1 = v0;
    for (int i = -3; i <= 3; ++i) {
      for (int j = -3; j <= 3; ++j) {
        const double u = std::clamp(u0 + i * width / 3, 0.0, 1.0), v = std::clamp(v0 + j * width / 3, 0.0, 1 - u);
        const double distance = (a + u * (b - a) + v * (c - a) - p).norm();
        if (distance < best) best = distance, u1 = u, v1 = v;
      }
    }
    u0 = u1, v0 = v1;
  }
  return best;
}

TEST(TriangleDistance, IsTheLeastOverAllPointsOfTheTriangle) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  const auto point = [&] { return Vec3(normal(random), normal(random), normal(random)); };
  for (int k = 0; k < 300; ++k) {
    const Vec3 a = point(), b = point(), c = point(), p = 2 * point();
    EXPECT_NEAR((nearest_on_triangle(p, a, b, c) - p).norm(), sampled_distance(p, a, b, c), 1e-6);
  }
  // Without area it is its edges.
  EXPECT_DOUBLE_EQ(
      (nearest_on_triangle(Vec3(0.5, 2, 0), Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(3, 0, 0)) - Vec3(0.5, 2, 0)).norm(), 2);
  EXPECT_DOUBLE_EQ(
      (nearest_on_triangle(Vec3(0, 2, 0), Vec3(0, 0, 0), Vec3(0, 0, 0), Vec3(0, 0, 0)) - Vec3(0, 2, 0)).norm(), 2);
}

TEST(BoundedDeformationTree, HoldsEveryTriangleOnceInItsLeaves) {
  const DisplaySurface surface = sheet(13);
  const BoundedDeformationTree tree(surface);
  std::vector<int> seen(surface.triangles.size(), 0);
  for (const auto& node : tree.nodes()) {
    if (!node.is_leaf()) {
      const auto& left = tree.nodes()[to_size(node.first_child)];
      const auto& right = tree.nodes()[to_size(node.first_child + 1)];
      EXPECT_EQ(left.first, node.first);
      EXPECT_EQ(right.first, node.first + left.count);
      EXPECT_EQ(left.count + right.count, node.count);
      continue;
    }
    EXPECT_LE(node.count, BoundedDeformationTree::triangles_per_leaf);
    for (Index k = node.first; k < node.first + node.count; ++k) ++seen[to_size(tree.triangle_order()[to_size(k)])];
  }
  EXPECT_EQ(seen, std::vector<int>(surface.triangles.size(), 1));
}

TEST(BoundedDeformationTree, SpheresAndBoxesContainTheirTrianglesForAnyShape) {
  const DisplaySurface surface = sheet(17);
  const BoundedDeformationTree tree(surface);
  std::mt19937 random(2);
  ReducedShape shape = tree.make_shape();
  for (const double size : {0.0, 0.1, 1.0, 10.0, 1e4}) {
    for (int trial = 0; trial < 5; ++trial) {
      std::vector<double> q = random_coordinates(random, size);
      if (trial == 0) std::fill(q.begin() + 1, q.end(), 0.0);  // one coordinate alone
      tree.assign(q, shape);
      const std::vector<Vec3> positions = deformed(surface, q);
      for (std::size_t k = 0; k < tree.nodes().size(); ++k) {
        const auto& node = tree.nodes()[k];
        const Sphere sphere = tree.sphere(static_cast<Index>(k), shape);
        const Vec3 half_widths = tree.half_widths(static_cast<Index>(k), shape);
        double farthest = 0;
        Vec3 widest = Vec3::Zero();
        for (Index i = node.first; i < node.first + node.count; ++i) {
          const Index t = tree.triangle_order()[to_size(i)];
          for (const Index v : surface.triangles[to_size(t)]) {
            const Vec3 way = positions[to_size(v)] - sphere.center;
            farthest = std::max(farthest, way.norm());
            widest = widest.cwiseMax(way.cwiseAbs());
          }
        }
        ASSERT_LE(farthest, sphere.radius) << size;
        ASSERT_TRUE((widest.array() <= half_widths.array()).all()) << size;
        // At rest they are as tight as can be in single precision.
        if (size == 0.0) {
          ASSERT_LE(sphere.radius, farthest + 1e-3);
          ASSERT_LE((half_widths - widest).maxCoeff(), 1e-3);
        }
      }
    }
  }
}

TEST(BoundedDeformationTree, SpheresStayUseful) {
  // A bound that holds but is huge would make every query look at everything.
  const DisplaySurface surface = sheet(17);
  const BoundedDeformationTree tree(surface);
  std::mt19937 random(3);
  ReducedShape shape = tree.make_shape();
  tree.assign(random_coordinates(random, 1.0), shape);
  const double root = tree.sphere(0, shape).radius;
  for (std::size_t k = 0; k < tree.nodes().size(); ++k) {
    if (!tree.nodes()[k].is_leaf()) continue;
    EXPECT_LT(tree.sphere(static_cast<Index>(k), shape).radius, 0.2 * root);
  }
}

TEST(SurfaceQuery, AnswersWhatBruteForceAnswers) {
  const DisplaySurface surface = sheet(15);
  const BoundedDeformationTree tree(surface);
  SurfaceQuery query(tree, {.max_triangles = 1000});
  std::mt19937 random(4);
  std::uniform_real_distribution<double> place(-2, 17);
  std::size_t answers = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const std::vector<double> q = random_coordinates(random, trial % 4);
    const std::vector<Vec3> x = deformed(surface, q);
    const Vec3 point(place(random), place(random) / 5, place(random));
    std::vector<double> distances;
    for (const Triangle& t : surface.triangles)
      distances.push_back(
          (nearest_on_triangle(point, x[to_size(t[0])], x[to_size(t[1])], x[to_size(t[2])]) - point).norm());
    query.set_shape(q);
    const double least = *std::min_element(distances.begin(), distances.end());
    EXPECT_NEAR(query.nearest(point).distance, least, 1e-12 * (1 + least));
    const double reach = least + 1.7;
    const auto found = query.triangles_within(point, reach);
    EXPECT_TRUE(query.complete());
    EXPECT_EQ(static_cast<long>(found.size()),
              std::count_if(distances.begin(), distances.end(), [&](double d) { return d < reach; }));
    for (std::size_t k = 0; k < found.size(); ++k) {
      EXPECT_NEAR(found[k].distance, distances[to_size(found[k].triangle)], 1e-12 * reach);
      EXPECT_LE(found[k == 0 ? 0 : k - 1].distance, found[k].distance);
    }
    answers += found.size();
  }
  EXPECT_GT(answers, 2000u);
}

TEST(SurfaceQuery, LimitsKeepTheNearestAndSaySo) {
  const DisplaySurface surface = sheet(15);
  const BoundedDeformationTree tree(surface);
  SurfaceQuery all(tree), few(tree, {.max_triangles = 10}), hasty(tree, {.max_visits = 25});
  const Vec3 point(7, 0.5, 7);
  const auto everything = all.triangles_within(point, 3);
  const auto nearest = few.triangles_within(point, 3);
  ASSERT_EQ(nearest.size(), 10u);
  EXPECT_FALSE(few.complete());
  for (std::size_t k = 0; k < nearest.size(); ++k) EXPECT_EQ(nearest[k].triangle, everything[k].triangle);
  const auto early = hasty.triangles_within(point, 3);
  EXPECT_FALSE(hasty.complete());
  EXPECT_LE(hasty.visits(), 25);
  ASSERT_FALSE(early.empty());
  EXPECT_EQ(early[0].triangle, everything[0].triangle);
}

TEST(SurfaceQuery, LooksAtFewNodesAndAllocatesNothing) {
  const DisplaySurface surface = sheet(60);
  const BoundedDeformationTree tree(surface);
  SurfaceQuery query(tree);
  std::mt19937 random(6);
  const std::vector<double> q = random_coordinates(random, 0.3);
  const long before = allocation_count();
  query.set_shape(q);
  query.nearest(Vec3(30, 2, 30));
  EXPECT_LT(query.visits(), static_cast<int>(tree.nodes().size()) / 10);
  query.triangles_within(Vec3(30, 0, 30), 4);
  EXPECT_EQ(allocation_count() - before, 0);
}

TEST(SurfaceQuery, ASurfaceWithoutTrianglesAnswersNothing) {
  const BoundedDeformationTree tree{DisplaySurface{}};
  SurfaceQuery query(tree);
  EXPECT_TRUE(tree.empty());
  EXPECT_EQ(query.nearest(Vec3::Zero()).triangle, -1);
  EXPECT_TRUE(query.triangles_within(Vec3::Zero(), 1).empty());
}

}  // namespace
}  // namespace supple::bounded_deformation_tree_test
