// SPDX-License-Identifier: Apache-2.0
// Edges of triangle soups and normals of triangles and vertices, by hand.
#include "supple/mesh/edges.h"

#include "supple/mesh/normals.h"

#include <gtest/gtest.h>

#include <numbers>

namespace supple::edges_test {
namespace {

/// Two triangles that share the edge 1–2, bent by an angle, and a flat one on top of nothing.
Surface hinge(double degrees) {
  const double a = degrees * std::numbers::pi / 180;
  Surface surface;
  surface.vertices = {Vec3(-1, 0, 0), Vec3(0, 0, 0), Vec3(0, 1, 0), Vec3(std::cos(a), 0, std::sin(a))};
  surface.triangles = {{0, 1, 2}, {2, 1, 3}};
  return surface;
}

TEST(Edges, UsesOfOneEdgeLieSideBySide) {
  const std::vector<Triangle> triangles = {{0, 1, 2}, {2, 1, 3}, {4, 4, 0}};
  const std::vector<EdgeUse> uses = sorted_edge_uses(triangles);
  ASSERT_EQ(uses.size(), 8u);  // the third triangle has one side from a vertex to itself
  std::vector<std::array<Index, 2>> edges;
  std::vector<std::size_t> counts;
  for_each_edge(uses, [&](std::span<const EdgeUse> edge) {
    edges.push_back({edge[0].low, edge[0].high});
    counts.push_back(edge.size());
  });
  EXPECT_EQ(edges, (std::vector<std::array<Index, 2>>{{0, 1}, {0, 2}, {0, 4}, {1, 2}, {1, 3}, {2, 3}}));
  EXPECT_EQ(counts, (std::vector<std::size_t>{1, 1, 2, 2, 1, 1}));
}

TEST(Edges, SidesKnowTheirTriangleAndWhichWayItRuns) {
  const std::vector<Triangle> triangles = {{0, 1, 2}, {2, 1, 3}};
  for (const EdgeUse& use : sorted_edge_uses(triangles)) {
    const Triangle& t = triangles[to_size(use.triangle)];
    const Index from = t[to_size(use.side)], to = t[to_size((use.side + 1) % 3)];
    EXPECT_EQ(use.forward ? use.low : use.high, from);
    EXPECT_EQ(use.forward ? use.high : use.low, to);
    EXPECT_LT(use.low, use.high);
  }
}

TEST(Edges, FeaturesAreBentOrOpen) {
  EXPECT_EQ(feature_edges(hinge(0), 30).size(), 4u);   // the rim
  EXPECT_EQ(feature_edges(hinge(29), 30).size(), 4u);  // bent, but less
  const auto bent = feature_edges(hinge(31), 30);
  EXPECT_EQ(bent.size(), 5u);
  EXPECT_NE(std::find(bent.begin(), bent.end(), std::array<Index, 2>{1, 2}), bent.end());
  Surface three = hinge(0);  // an edge with three triangles is none that two sides could meet at
  three.triangles.push_back({1, 2, 0});
  const auto crowded = feature_edges(three, 30);
  EXPECT_NE(std::find(crowded.begin(), crowded.end(), std::array<Index, 2>{1, 2}), crowded.end());
}

TEST(Normals, OfTrianglesAreUnitOrNothing) {
  Surface surface = hinge(90);
  surface.vertices.push_back(Vec3(0, 2, 0));
  surface.triangles.push_back({1, 2, 4});  // three points on a line
  const std::vector<Vec3> normals = triangle_normals(surface);
  EXPECT_LT((normals[0] - Vec3(0, 0, 1)).norm(), 1e-15);
  EXPECT_LT((normals[1] - Vec3(-1, 0, 0)).norm(), 1e-15);
  EXPECT_EQ(normals[2], Vec3(0, 0, 0));
  EXPECT_LT((area_vector(surface.triangles[0], surface.vertices) - Vec3(0, 0, 0.5)).norm(), 1e-15);
}

TEST(Normals, OfVerticesCountByArea) {
  Surface surface = hinge(90);
  surface.vertices[0].x() = -3;  // three times the other's area
  surface.vertices.push_back(Vec3(9, 9, 9));
  const std::vector<Vec3> normals = vertex_normals(surface.triangles, surface.vertices);
  const Vec3 both = Vec3(-1, 0, 3).normalized();
  EXPECT_LT((normals[1] - both).norm(), 1e-15);
  EXPECT_LT((normals[2] - both).norm(), 1e-15);
  EXPECT_LT((normals[0] - Vec3(0, 0, 1)).norm(), 1e-15);
  EXPECT_LT((normals[3] - Vec3(-1, 0, 0)).norm(), 1e-15);
  EXPECT_EQ(normals[4], Vec3(0, 0, 1));  // no triangle: still of length one
}

TEST(Normals, FlatSurfacesAreNotCut) {
  const CreasedSurface flat = split_at_creases(hinge(10), 30);
  EXPECT_EQ(flat.surface.vertices.size(), 4u);
  const CreasedSurface cut = split_at_creases(hinge(60), 30);
  EXPECT_EQ(cut.surface.vertices.size(), 6u);  // both ends of the crease are repeated
  for (std::size_t v = 0; v < cut.source_vertex.size(); ++v)
    EXPECT_EQ(cut.surface.vertices[v], hinge(60).vertices[to_size(cut.source_vertex[v])]);
}

}  // namespace
}  // namespace supple::edges_test
