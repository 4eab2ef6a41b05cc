// SPDX-License-Identifier: Apache-2.0
#include "supple/mesh/triangle_tree.h"
#include "supple/mesh/box.h"
#include "supple/mesh/topology.h"
#include "supple/mesh/winding_number.h"

#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

namespace supple::triangle_tree_test {
namespace {

Vec3 random_point(std::mt19937& random, double size) {
  std::uniform_real_distribution<double> coordinate(-size, size);
  return {coordinate(random), coordinate(random), coordinate(random)};
}

/// Triangles of all sizes anywhere, among them points, segments and repetitions.
Surface random_soup(int count) {
  std::mt19937 random(7);
  Surface soup;
  for (int t = 0; t < count; ++t) {
    const Vec3 at = random_point(random, 1);
    const double size = std::pow(10.0, -3.0 * (t % 7) / 6);
    for (int k = 0; k < 3; ++k) soup.vertices.push_back(at + random_point(random, size));
    const Index v = 3 * t;
    soup.triangles.push_back({v, v + 1, v + 2});
    if (t % 10 == 0) soup.triangles.push_back({v, v, v + 1});
    if (t % 10 == 1) soup.triangles.push_back({v, v, v});
    if (t % 10 == 2) soup.triangles.push_back({v, v + 2, v + 1});
  }
  return soup;
}

/// An octahedron subdivided and pushed to the unit sphere.
Surface sphere(int levels) {
  Surface s;
  for (int a = 0; a < 3; ++a) {
    s.vertices.emplace_back(Vec3::Unit(a));
    s.vertices.emplace_back(-Vec3::Unit(a));
  }
  for (const Index x : {0, 1}) {
    for (const Index y : {2, 3}) {
      for (const Index z : {4, 5}) {
        const bool even = ((x + y + z) % 2) == 0;
        s.triangles.push_back(even ? Triangle{x, y, z} : Triangle{x, z, y});
      }
    }
  }
  for (int level = 0; level < levels; ++level) {
    Surface finer;
    for (const Triangle& t : s.triangles) {
      std::array<Vec3, 6> p;
      for (std::size_t k = 0; k < 3; ++k) {
        p[k] = s.vertices[to_size(t[k])];
        p[3 + k] = (p[k] + s.vertices[to_size(t[(k + 1) % 3])]).normalized();
      }
      const auto first = static_cast<Index>(finer.vertices.size());
      finer.vertices.insert(finer.vertices.end(), p.begin(), p.end());
      for (const Triangle& small : {Triangle{0, 3, 5}, Triangle{3, 1, 4}, Triangle{5, 4, 2}, Triangle{3, 4, 5}})
        finer.triangles.push_back({first + small[0], first + small[1], first + small[2]});
    }
    s = weld(finer).surface;
  }
  return s;
}

double exact_winding(const Surface& s, const Vec3& q) {
  double sum = 0;
  for (const Triangle& t : s.triangles)
    sum += solid_angle(q, s.vertices[to_size(t[0])], s.vertices[to_size(t[1])], s.vertices[to_size(t[2])]);
  return sum / (4 * std::numbers::pi);
}

/// Nearest point by another way than the library's: alternating projections would be slow, so a fine search over
/// barycentric coordinates bounds the distance from above, and the library's must not be larger, nor off the triangle.
double searched_distance(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c) {
  constexpr int n = 60;
  double best = 1e300;
  for (int i = 0; i <= n; ++i) {
    for (int j = 0; i + j <= n; ++j) best = std::min(best, (p - (a * i + b * j + c * (n - i - j)) / n).norm());
  }
  return best;
}

TEST(TriangleTree, NearestPointOfATriangle) {
  std::mt19937 random(1);
  for (int k = 0; k < 200; ++k) {
    const Vec3 a = random_point(random, 1), b = random_point(random, 1), c = random_point(random, 1);
    const Vec3 p = random_point(random, 2);
    const double found = (nearest_point_of_triangle(p, a, b, c) - p).norm();
    const double searched = searched_distance(p, a, b, c);
    EXPECT_LE(found, searched + 1e-12);
    EXPECT_GE(found, searched - 0.1);
  }
  // Flat triangles: the nearest point of the segment.
  const Vec3 nearest = nearest_point_of_triangle({0.5, 1, 0}, {0, 0, 0}, {1, 0, 0}, {2, 0, 0});
  EXPECT_NEAR((nearest - Vec3(0.5, 0, 0)).norm(), 0, 1e-12);
}

TEST(TriangleTree, NearestEqualsBruteForce) {
  const Surface soup = random_soup(500);
  const TriangleTree tree(soup);
  std::mt19937 random(2);
  for (int k = 0; k < 300; ++k) {
    const Vec3 p = random_point(random, 2);
    double best = 1e300;
    for (const Triangle& t : soup.triangles) {
      const Vec3 x = nearest_point_of_triangle(p, soup.vertices[to_size(t[0])], soup.vertices[to_size(t[1])],
                                               soup.vertices[to_size(t[2])]);
      best = std::min(best, (x - p).norm());
    }
    const TriangleTree::Nearest found = tree.nearest(p);
    EXPECT_DOUBLE_EQ(found.distance, best);
    EXPECT_NEAR((found.point - p).norm(), best, 1e-14);
    EXPECT_LT(tree.nearest(p, 0.999 * best).triangle, 0);
    EXPECT_GE(tree.nearest(p, 1.001 * best).triangle, 0);
  }
}

TEST(TriangleTree, CrossingsOfASphere) {
  const TriangleTree tree(sphere(4));
  std::mt19937 random(3);
  std::vector<double> t;
  for (int k = 0; k < 200; ++k) {
    const Vec3 inside = random_point(random, 0.4), outside = 3 * random_point(random, 1).normalized();
    tree.crossings(inside, outside, t);
    ASSERT_EQ(t.size(), 1u);
    EXPECT_NEAR((inside + t[0] * (outside - inside)).norm(), 1, 0.01);
    tree.crossings(outside, inside + (inside - outside), t);
    EXPECT_EQ(t.size(), 2u);
    tree.crossings(inside, random_point(random, 0.4), t);
    EXPECT_TRUE(t.empty());
  }
}

TEST(TriangleTree, EmptyAndSingle) {
  const TriangleTree none{Surface{}};
  EXPECT_LT(none.nearest(Vec3::Zero()).triangle, 0);
  EXPECT_EQ(WindingNumber(none)(Vec3::Zero()), 0);
  Surface one;
  one.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  one.triangles = {{0, 1, 2}};
  EXPECT_DOUBLE_EQ(TriangleTree(one).nearest({0.2, 0.2, 3}).distance, 3);
}

TEST(WindingNumber, SolidAnglesOfAnOctant) {
  // One face of an octahedron covers an eighth of all directions from the middle, from behind positively.
  const double angle = solid_angle(Vec3::Zero(), Vec3::UnitX(), Vec3::UnitY(), Vec3::UnitZ());
  EXPECT_NEAR(angle, std::numbers::pi / 2, 1e-14);
  EXPECT_NEAR(solid_angle(Vec3::Zero(), Vec3::UnitX(), Vec3::UnitZ(), Vec3::UnitY()), -std::numbers::pi / 2, 1e-14);
}

TEST(WindingNumber, OfClosedSurfacesIsOneInsideAndZeroOutside) {
  const Surface box = boundary_surface(make_tet_box({1, 1, 1}, {8, 8, 8})).surface;
  const Surface ball = sphere(4);
  const TriangleTree box_tree(box), ball_tree(ball);
  const WindingNumber in_box(box_tree), in_ball(ball_tree), finer(ball_tree, 6);
  const Vec3 middle = bounds_of(box.vertices).center();
  std::mt19937 random(4);
  for (int k = 0; k < 500; ++k) {
    const Vec3 p = random_point(random, 1.5);
    const bool inside = p.cwiseAbs().maxCoeff() < 0.5;
    if (std::abs(p.cwiseAbs().maxCoeff() - 0.5) > 0.01) {
      EXPECT_NEAR(in_box(middle + p), inside ? 1 : 0, 0.05);
    }
    if (std::abs(p.norm() - 1) < 0.02) continue;
    EXPECT_NEAR(in_ball(p), p.norm() < 1 ? 1 : 0, 0.05);
    EXPECT_NEAR(finer(p), p.norm() < 1 ? 1 : 0, 0.01);
  }
}

TEST(WindingNumber, EqualsTheExactSumForSoups) {
  const Surface soup = random_soup(400);
  const TriangleTree tree(soup);
  const WindingNumber fast(tree), finer(tree, 6);
  std::mt19937 random(5);
  double worst = 0, worst_finer = 0;
  for (int k = 0; k < 300; ++k) {
    const Vec3 q = random_point(random, 2);
    const double exact = exact_winding(soup, q);
    worst = std::max(worst, std::abs(fast(q) - exact));
    worst_finer = std::max(worst_finer, std::abs(finer(q) - exact));
  }
  EXPECT_LT(worst, 0.02);
  EXPECT_LT(worst_finer, 0.002);
}

TEST(WindingNumber, FarAwayTheExpansionIsOfThirdOrder) {
  // Half a sphere is no closed surface: its field falls like a dipole, and what is left out like the inverse fourth.
  Surface half = sphere(3);
  std::erase_if(half.triangles, [&](const Triangle& t) {
    return half.vertices[to_size(t[0])].z() + half.vertices[to_size(t[1])].z() < 0;
  });
  const TriangleTree tree(half);
  const WindingNumber fast(tree, 1);
  const Vec3 way = Vec3(1, 2, 3).normalized();
  const double near = std::abs(fast(10 * way) - exact_winding(half, 10 * way));
  const double far = std::abs(fast(40 * way) - exact_winding(half, 40 * way));
  EXPECT_GT(near, 0);
  EXPECT_LT(far, near / 100);  // 4⁴ = 256, less what rounding leaves
}

}  // namespace
}  // namespace supple::triangle_tree_test
