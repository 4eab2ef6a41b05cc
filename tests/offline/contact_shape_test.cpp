// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/contact/contact_shape_builder.h"

#include "supple/mesh/topology.h"
#include "support/bodies.h"

namespace supple::contact_shape_test {
namespace {

const Vec3 size(0.4, 0.3, 0.2);

DisplaySurface box_surface() {
  const Surface skin = boundary_surface(make_hex_box(size, {4, 3, 2})).surface;
  return {skin.vertices, skin.triangles, MatX()};
}

/// Signed distance of a box from the origin to `size`.
double box_distance(const Vec3& p) {
  const Vec3 outside = (p - size / 2).cwiseAbs() - size / 2;
  return outside.cwiseMax(0).norm() + std::min(0.0, outside.maxCoeff());
}

TEST(ContactShape, DistancesAreThoseOfTheBox) {
  const ContactShape shape = must(build_contact_shape(box_surface(), {.resolution = 24}));
  for (int k = 0; k < shape.nodes[2]; ++k) {
    for (int j = 0; j < shape.nodes[1]; ++j) {
      for (int i = 0; i < shape.nodes[0]; ++i) {
        const Vec3 p = shape.origin + shape.cell_size * Vec3(i, j, k);
        EXPECT_NEAR(shape.distances[shape.node(i, j, k)], box_distance(p), 1e-6);
      }
    }
  }
}

TEST(ContactShape, SamplesPointOutOfTheNearestFace) {
  const ContactShape shape = must(build_contact_shape(box_surface(), {.resolution = 24}));
  const ContactShape::Sample sample = shape.sample(Vec3(0.2, 0.29, 0.1));
  EXPECT_NEAR(sample.distance, -0.01, 1e-6);
  EXPECT_LT((sample.gradient - Vec3::UnitY()).norm(), 1e-5);
  EXPECT_FALSE(shape.holds(Vec3(0.2, 0.6, 0.1)));
}

TEST(ContactShape, AHoleInTheSurfaceDoesNotTurnItInsideOut) {
  DisplaySurface surface = box_surface();
  surface.triangles.erase(surface.triangles.begin() + 7);
  const ContactShape shape = must(build_contact_shape(surface, {.resolution = 24}));
  int wrong = 0;
  for (int k = 0; k < shape.nodes[2]; ++k) {
    for (int j = 0; j < shape.nodes[1]; ++j) {
      for (int i = 0; i < shape.nodes[0]; ++i) {
        const double exact = box_distance(shape.origin + shape.cell_size * Vec3(i, j, k));
        wrong += (shape.distances[shape.node(i, j, k)] < 0) != (exact < 0);
      }
    }
  }
  EXPECT_EQ(wrong, 0);
}

/// What farthest-first sampling promises: no vertex is farther from the chosen points than these are from each other.
TEST(ContactShape, PointsAreSpreadEvenlyFromACorner) {
  const DisplaySurface surface = box_surface();
  const ContactShape shape = must(build_contact_shape(surface, {.max_points = 12}));
  ASSERT_EQ(shape.points.size(), 12u);
  const auto at = [&](Index v) { return surface.rest_positions[to_size(v)]; };
  EXPECT_NEAR((at(shape.points[0]) - size / 2).norm(), size.norm() / 2, 1e-12);
  double spacing = 1, uncovered = 0;
  for (const Index v : shape.points) {
    for (const Index w : shape.points) {
      if (v != w) spacing = std::min(spacing, (at(v) - at(w)).norm());
    }
  }
  for (const Vec3& p : surface.rest_positions) {
    double nearest = 1;
    for (const Index v : shape.points) nearest = std::min(nearest, (p - at(v)).norm());
    uncovered = std::max(uncovered, nearest);
  }
  EXPECT_LE(uncovered, spacing + 1e-12);
}

TEST(ContactShape, BadInputIsRefused) {
  EXPECT_FALSE(build_contact_shape({}).ok());
  EXPECT_FALSE(build_contact_shape(box_surface(), {.resolution = 2}).ok());
}

}  // namespace
}  // namespace supple::contact_shape_test
