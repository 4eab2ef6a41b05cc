// SPDX-License-Identifier: Apache-2.0
// How normals turn when a surface is deformed.
//
// The smooth normal at a vertex is a/|a| with a = Σ of the area vectors of its triangles. When vertices move at rates
// t, it turns at the rate ω = n × (ȧ − n (n·ȧ)) / |a|. Where area vectors cancel (two sides of a sheet on the same
// vertices) that says nothing; there ω is the mean of the triangles' own rates, weighted by their areas. A normal of
// the file that isn't the smooth one, at a hard edge, turns with it: ṅ = ω × n.
#pragma once

#include "supple/mesh/surface.h"

#include <span>

namespace supple {

/// The sums of area vectors and of areas around each vertex.
struct VertexAreas {
  std::vector<Vec3> vector;
  std::vector<double> area;

  /// Tells whether the triangles around a vertex agree well enough for their sum to be a normal.
  bool has_normal(std::size_t v) const { return vector[v].norm() > 0.3 * area[v]; }
};
VertexAreas vertex_areas(std::span<const Triangle> triangles, std::span<const Vec3> positions);

/// ω of each vertex for the rates `t` of all vertices, at the given positions.
std::vector<Vec3> normal_turn_rates(std::span<const Triangle> triangles, std::span<const Vec3> positions,
                                    std::span<const Vec3> rates);

}  // namespace supple
