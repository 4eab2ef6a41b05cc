// SPDX-License-Identifier: Apache-2.0
#include "supple/mesh/normal_turn.h"

#include "supple/mesh/normals.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include <random>

namespace supple::normal_turn_test {
namespace {

/// A bumpy sheet of 8 × 8 squares.
Surface sheet() {
  Surface surface;
  for (int y = 0; y <= 8; ++y)
    for (int x = 0; x <= 8; ++x) surface.vertices.emplace_back(x, y, std::sin(0.7 * x) + std::cos(0.4 * x * y));
  for (Index y = 0; y < 8; ++y) {
    for (Index x = 0; x < 8; ++x) {
      const Index a = 9 * y + x;
      surface.triangles.push_back({a, a + 1, a + 10});
      surface.triangles.push_back({a, a + 10, a + 9});
    }
  }
  return surface;
}

TEST(NormalTurn, IsTheDerivativeOfTheNormal) {
  const Surface surface = sheet();
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  std::vector<Vec3> rates(surface.vertices.size());
  for (Vec3& rate : rates) rate = Vec3(normal(random), normal(random), normal(random));
  const std::vector<Vec3> turns = normal_turn_rates(surface.triangles, surface.vertices, rates);
  const double h = 1e-5;
  const auto moved = [&](double step) {
    std::vector<Vec3> x = surface.vertices;
    for (std::size_t v = 0; v < x.size(); ++v) x[v] += step * rates[v];
    return vertex_normals(surface.triangles, x);
  };
  const std::vector<Vec3> before = moved(-h), after = moved(h), n = moved(0);
  double largest = 0;
  for (std::size_t v = 0; v < n.size(); ++v) {
    const Vec3 slope = (after[v] - before[v]) / (2 * h);
    largest = std::max(largest, slope.norm());
    EXPECT_LT((turns[v].cross(n[v]) - slope).norm(), 1e-7) << v;
  }
  EXPECT_GT(largest, 0.1);
}

TEST(NormalTurn, BothSidesOfASheetTurnWithIt) {
  // The same square from both sides: the area vectors cancel, yet it is plain how it turns.
  Surface surface;
  surface.vertices = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  surface.triangles = {{0, 1, 2}, {0, 2, 3}, {2, 1, 0}, {3, 2, 0}};
  const Vec3 omega(0.3, -0.2, 0);
  std::vector<Vec3> rates;
  for (const Vec3& x : surface.vertices) rates.push_back(omega.cross(x));
  const VertexAreas areas = vertex_areas(surface.triangles, surface.vertices);
  for (std::size_t v = 0; v < 4; ++v) EXPECT_FALSE(areas.has_normal(v));
  for (const Vec3& turn : normal_turn_rates(surface.triangles, surface.vertices, rates))
    EXPECT_LT((turn - omega).norm(), 1e-12);
}

}  // namespace
}  // namespace supple::normal_turn_test
