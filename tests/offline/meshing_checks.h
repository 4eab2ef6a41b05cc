// SPDX-License-Identifier: Apache-2.0
// Shapes to fill with tetrahedra, and what every filling promises.
#pragma once

#include "supple/mesh/box.h"
#include "supple/mesh/quality.h"
#include "supple/mesh/topology.h"
#include "supple/offline/meshing/tetrahedralize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace supple {

inline Surface box(const Vec3& low, const Vec3& high) {
  Surface surface = boundary_surface(make_tet_box({1, 1, 1}, {1, 1, 1})).surface;
  const Bounds unit = bounds_of(surface.vertices);
  for (Vec3& x : surface.vertices) x = low + (x - unit.min).cwiseProduct(high - low);
  return surface;
}

inline void append(Surface& to, const Surface& from) {
  const auto first = static_cast<Index>(to.vertices.size());
  to.vertices.insert(to.vertices.end(), from.vertices.begin(), from.vertices.end());
  for (const Triangle& t : from.triangles) to.triangles.push_back({first + t[0], first + t[1], first + t[2]});
}

inline TetMeshingResult fill(const Surface& surface, int tets, bool graded = false) {
  TetMeshingOptions options;
  options.tets = tets;
  options.graded = graded;
  Result<TetMeshingResult> made = tetrahedralize(surface, options);
  EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().message);
  return made.ok() ? std::move(*made) : TetMeshingResult{};
}

/// The same surface with its vertices and triangles in another order, and each triangle from another corner on.
/// `place`: where each vertex has gone.
inline Surface shuffled(const Surface& surface, unsigned seed, std::vector<Index>& place) {
  std::mt19937 random(seed);
  place.resize(surface.vertices.size());
  std::iota(place.begin(), place.end(), 0);
  std::shuffle(place.begin(), place.end(), random);
  Surface result;
  result.vertices.resize(place.size());
  for (std::size_t v = 0; v < place.size(); ++v) result.vertices[to_size(place[v])] = surface.vertices[v];
  for (const Triangle& t : surface.triangles)
    result.triangles.push_back({place[to_size(t[1])], place[to_size(t[2])], place[to_size(t[0])]});
  std::shuffle(result.triangles.begin(), result.triangles.end(), random);
  return result;
}

/// What every result promises.
inline void expect_sound(const TetMeshingResult& made, int tets) {
  const QualityReport shape = quality(made.mesh);
  EXPECT_EQ(shape.inverted, 0);
  EXPECT_EQ(shape.degenerate, 0);
  EXPECT_GE(shape.dihedral.min, 10);
  EXPECT_NEAR(shape.elements, tets, 0.15 * tets);
  const BoundarySurface skin = boundary_surface(made.mesh);
  EXPECT_EQ(skin.crowded_faces, 0);
  const SurfaceTopology topology = surface_topology(skin.surface);
  EXPECT_TRUE(topology.watertight());
  EXPECT_TRUE(topology.consistently_wound());
  EXPECT_TRUE(unreferenced_vertices(made.mesh).empty());
}

}  // namespace supple
