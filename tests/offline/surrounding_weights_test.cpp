// SPDX-License-Identifier: Apache-2.0
// Weights around a point: exactness, the Delaunay tetrahedron by its empty sphere, and refusal outside.
#include "supple/offline/fitting/surrounding_weights.h"

#include "offline/meshing_checks.h"
#include "supple/base/parallel.h"
#include "supple/offline/fitting/surface_carry.h"
#include "support/bodies.h"
#include "support/rigs.h"

#include <Eigen/LU>

#include <numeric>

namespace supple::surrounding_weights_test {
namespace {

std::vector<Vec3> cloud(int count, unsigned seed) {
  const VecX x = random_vector(3 * count, seed);
  std::vector<Vec3> points;
  for (int k = 0; k < count; ++k) points.emplace_back(x.segment<3>(3 * k));
  return points;
}

std::optional<SurroundingWeights> weights_of(const Vec3& x, const std::vector<Vec3>& points) {
  std::vector<Index> numbers(points.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  return surrounding_weights(x, points, numbers);
}

void expect_reproduces(const Vec3& x, const std::vector<Vec3>& points, const SurroundingWeights& w, double scale) {
  Vec3 sum = Vec3::Zero();
  double total = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_GE(w.weight[k], 0);
    sum += w.weight[k] * points[to_size(w.point[k])];
    total += w.weight[k];
  }
  EXPECT_NEAR(total, 1, 1e-12);
  EXPECT_LT((sum - x).norm(), 1e-12 * scale);
}

TEST(SurroundingWeights, ChoosesTheTetrahedronWithAnEmptySphere) {
  int found = 0;
  for (unsigned seed = 1; seed <= 100; ++seed) {
    const std::vector<Vec3> points = cloud(40, seed);
    const Vec3 x = 0.5 * random_vector(3, seed + 1000);
    const auto w = weights_of(x, points);
    if (!w) continue;
    ++found;
    expect_reproduces(x, points, *w, 1);
    // Centre of the sphere through the four corners.
    std::array<Vec3, 4> corner;
    for (std::size_t k = 0; k < 4; ++k) corner[k] = points[to_size(w->point[k])];
    Mat3 A;
    Vec3 b;
    for (int k = 0; k < 3; ++k) {
      A.row(k) = 2 * (corner[to_size(k) + 1] - corner[0]);
      b[k] = corner[to_size(k) + 1].squaredNorm() - corner[0].squaredNorm();
    }
    const Vec3 center = A.inverse() * b;
    for (const Vec3& p : points) EXPECT_GT((p - center).norm(), (corner[0] - center).norm() * (1 - 1e-7)) << seed;
  }
  EXPECT_GT(found, 80);
}

TEST(SurroundingWeights, KnownConfigurations) {
  std::vector<Vec3> cube;
  for (const double x : {0., 1.})
    for (const double y : {0., 1.})
      for (const double z : {0., 1.}) cube.emplace_back(x, y, z);
  for (const Vec3& x : {Vec3(0.5, 0.5, 0.5), Vec3(0.1, 0.2, 0.9), Vec3(0.3, 0.3, 0.3), Vec3(0.5, 0.5, 0.0),
                        Vec3(0.25, 0, 0), Vec3(1, 1, 1), Vec3(0, 0, 0)}) {
    const auto w = weights_of(x, cube);
    ASSERT_TRUE(w) << x.transpose();
    expect_reproduces(x, cube, *w, 1);
  }
  // A point inside the cube is nearer than the corners: it takes part.
  cube.emplace_back(0.5, 0.5, 0.5);
  const auto center = weights_of(Vec3(0.5, 0.5, 0.5), cube);
  ASSERT_TRUE(center);
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(center->weight[k], center->point[k] == 8 ? 1 : 0, 1e-12);
  const auto beside = weights_of(Vec3(0.6, 0.5, 0.5), cube);
  ASSERT_TRUE(beside);
  double share = 0;
  for (std::size_t k = 0; k < 4; ++k) share += beside->point[k] == 8 ? beside->weight[k] : 0;
  EXPECT_NEAR(share, 0.8, 1e-12);
}

TEST(SurroundingWeights, NoneOutside) {
  std::vector<Vec3> cube;
  for (const double x : {0., 1.})
    for (const double y : {0., 1.})
      for (const double z : {0., 1.}) cube.emplace_back(x, y, z);
  for (const Vec3& x : {Vec3(1.001, 0.5, 0.5), Vec3(-0.001, 0.5, 0.5), Vec3(3, 3, 3), Vec3(0.5, 0.5, 1e6)})
    EXPECT_FALSE(weights_of(x, cube)) << x.transpose();
  EXPECT_FALSE(weights_of(Vec3(0, 0, 0), {}));
  const std::vector<Vec3> flat{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
  EXPECT_FALSE(weights_of(Vec3(0.5, 0.5, 0.1), flat));
  const auto within = weights_of(Vec3(0.4, 0.3, 0), flat);
  ASSERT_TRUE(within);
  expect_reproduces(Vec3(0.4, 0.3, 0), flat, *within, 1);
}

TEST(SurroundingWeights, DoesNotDependOnTheUnitOfLengthOrThePlace) {
  const std::vector<Vec3> points = cloud(40, 3);
  const Vec3 x(0.1, -0.2, 0.15);
  const auto here = weights_of(x, points);
  ASSERT_TRUE(here);
  for (const auto& [scale, shift] : {std::pair{0.001, 0.0}, {1000.0, 0.0}, {1.0, 100.0}}) {
    std::vector<Vec3> moved;
    for (const Vec3& p : points) moved.emplace_back(scale * p + Vec3::Constant(shift));
    const auto there = weights_of(scale * x + Vec3::Constant(shift), moved);
    ASSERT_TRUE(there);
    for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(there->weight[k], here->weight[k], 1e-10);
  }
}

// ---- carrying -------------------------------------------------------------------------------------------------------

/// A closed capsule along y around `center`.
Surface capsule(const Vec3& center, double radius, double half, Index sectors = 16, Index rings = 24) {
  Surface surface;
  for (Index r = 0; r <= rings; ++r) {
    // Rings go around a half circle at either end and along the side between.
    const double s = std::numbers::pi * (static_cast<double>(r) / rings - 0.5);
    const double y = radius * std::sin(s) + half * std::clamp(3.0 * (2.0 * r / rings - 1), -1.0, 1.0);
    const double around = std::max(1e-3, std::cos(s));
    for (Index k = 0; k < sectors; ++k) {
      const double angle = 2 * std::numbers::pi * k / sectors;
      surface.vertices.push_back(center + radius * around * Vec3(std::cos(angle), 0, std::sin(angle)) + Vec3(0, y, 0));
    }
  }
  for (Index r = 0; r < rings; ++r) {
    for (Index k = 0; k < sectors; ++k) {
      const Index a = r * sectors + k, b = r * sectors + (k + 1) % sectors;
      surface.triangles.push_back({a, a + sectors, b});
      surface.triangles.push_back({b, a + sectors, b + sectors});
    }
  }
  for (Index k = 1; k + 1 < sectors; ++k) {
    surface.triangles.push_back({0, k, k + 1});
    surface.triangles.push_back({rings * sectors, rings * sectors + k + 1, rings * sectors + k});
  }
  return surface;
}

std::vector<Vec3> points_inside(const Vec3& center, double radius, double half, int count) {
  std::vector<Vec3> points;
  const VecX random = random_vector(3 * count, 11);
  for (int k = 0; k < count; ++k) {
    Vec3 x = random.segment<3>(3 * k);
    const double ring = std::hypot(x[0], x[2]);
    if (ring > 1) x /= ring;
    points.push_back(center + Vec3(0.8 * radius * x[0], half * x[1], 0.8 * radius * x[2]));
  }
  return points;
}

TEST(SurfaceCarry, CarriesEveryAffineMotionOfALimbExactly) {
  const Surface skin = capsule(Vec3(1, 2, 3), 0.1, 0.4);
  const std::vector<Vec3> points = points_inside(Vec3(1, 2, 3), 0.1, 0.4, 300);
  const SurfaceCarry carry = make_surface_carry(points, skin);
  Mat3 stretch;
  stretch << 1.4, 0.3, 0, -0.2, 0.7, 0.1, 0, 0.5, 1.1;
  for (const Mat3& F : {some_rotation(), Mat3(some_rotation() * stretch)}) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      Vec3 carried = Vec3::Zero();
      for (std::size_t k = 0; k < 4; ++k)
        carried += carry.weight[i][k] * (F * skin.vertices[to_size(carry.vertex[i][k])]);
      EXPECT_LT((carried - F * points[i]).norm(), 1e-9);
    }
  }
}

TEST(SurfaceCarry, TwoCloseLimbsDoNotMix) {
  Surface skin = capsule(Vec3(0, 0, 0), 0.1, 0.4);
  const auto first = static_cast<Index>(skin.vertices.size());
  const Surface other = capsule(Vec3(0.202, 0, 0), 0.1, 0.4);  // two millimetres between them
  skin.vertices.insert(skin.vertices.end(), other.vertices.begin(), other.vertices.end());
  for (const Triangle& t : other.triangles) skin.triangles.push_back({t[0] + first, t[1] + first, t[2] + first});
  std::vector<Vec3> left = points_inside(Vec3::Zero(), 0.1, 0.4, 300);
  // And some in the gap, nearer to the left one: a mesh is never exactly as wide as its skin.
  for (int k = 0; k < 20; ++k) left.emplace_back(0.1005, 0.004 * k - 0.04, 0.0);
  const SurfaceCarry carry = make_surface_carry(left, skin);
  for (std::size_t i = 0; i < left.size(); ++i) {
    for (std::size_t k = 0; k < 4; ++k) {
      if (carry.weight[i][k] == 0) continue;
      EXPECT_LT(carry.vertex[i][k], first) << left[i].transpose();
    }
  }
}

TEST(SurfaceCarry, PointsOnAndJustOutsideTheSkinAreReproducedToo) {
  const Surface skin = capsule(Vec3::Zero(), 0.1, 0.4);
  std::vector<Vec3> points = skin.vertices;
  for (const Vec3& x : skin.vertices) points.push_back(x * 1.02);
  const SurfaceCarry carry = make_surface_carry(points, skin);
  std::size_t reproduced = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    Vec3 sum = Vec3::Zero();
    double total = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      sum += carry.weight[i][k] * skin.vertices[to_size(carry.vertex[i][k])];
      total += carry.weight[i][k];
    }
    EXPECT_NEAR(total, 1, 1e-9);
    reproduced += (sum - points[i]).norm() < 1e-9;
  }
  EXPECT_GT(reproduced, points.size() * 95 / 100);
}

TEST(SurfaceCarry, SameBitsForAnyNumberOfThreads) {
  const Surface skin = capsule(Vec3::Zero(), 0.1, 0.4);
  const std::vector<Vec3> points = points_inside(Vec3::Zero(), 0.1, 0.4, 200);
  const int before = thread_count();
  set_thread_count(1);
  const SurfaceCarry one = make_surface_carry(points, skin);
  set_thread_count(3);
  const SurfaceCarry three = make_surface_carry(points, skin);
  set_thread_count(before);
  EXPECT_EQ(one.vertex, three.vertex);
  EXPECT_EQ(one.weight, three.weight);
}

/// A box and points on its planes of symmetry, where several carriers are equally good.
TEST(SurfaceCarry, TheOrderOfAFileDoesNotMatter) {
  const Surface skin = box({-1, -1, -1}, {1, 1, 1});
  std::vector<Vec3> points;
  for (int k = 0; k < 60; ++k) points.emplace_back(0, 0.5 * std::sin(k), 0.03 * k - 0.9);
  for (int k = 0; k < 60; ++k) points.emplace_back(0.03 * k - 0.9, 0, 1.01);
  std::vector<Index> place;
  const SurfaceCarry first = make_surface_carry(points, skin);
  const SurfaceCarry other = make_surface_carry(points, shuffled(skin, 3, place));
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t k = 0; k < SurfaceCarry::neighbours; ++k)
      EXPECT_EQ(other.vertex[i][k], place[to_size(first.vertex[i][k])]) << i;
    EXPECT_EQ(other.weight[i], first.weight[i]) << i;
  }
}

TEST(SurfaceCarry, SurfacesWithoutTrianglesStillCarry) {
  Surface dots;
  dots.vertices = {{0, 0, 0}, {1, 0, 0}};
  const SurfaceCarry carry = make_surface_carry(std::vector<Vec3>{{0.25, 0, 0}, {5, 5, 5}}, dots);
  for (const auto& weights : carry.weight) {
    double sum = 0;
    for (const double w : weights) {
      EXPECT_TRUE(std::isfinite(w));
      sum += w;
    }
    EXPECT_NEAR(sum, 1, 1e-12);
  }
}

}  // namespace
}  // namespace supple::surrounding_weights_test
