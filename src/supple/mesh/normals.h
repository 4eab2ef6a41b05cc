// SPDX-License-Identifier: Apache-2.0
// Normals for shading, and the cutting of a surface along its creases so that they shade sharp.
#pragma once

#include "supple/mesh/surface.h"

#include <span>

namespace supple {

/// Gives half the cross product of two edges: the area of a triangle along its normal.
Vec3 area_vector(const Triangle& triangle, std::span<const Vec3> positions);

/// Unit normals of the triangles; zero where a triangle has no area.
std::vector<Vec3> triangle_normals(const Surface& surface);

/// Area-weighted unit normals of the vertices for the given positions (any deformation of the same triangles).
/// Vertices without area around them get the z axis, so that every normal has length one.
std::vector<Vec3> vertex_normals(std::span<const Triangle> triangles, std::span<const Vec3> positions);

/// A surface whose vertices are repeated where a crease passes through them.
struct CreasedSurface {
  Surface surface;                   ///< the same triangles in the same order
  std::vector<Index> source_vertex;  ///< for each of its vertices, the vertex of the original surface
};

/// Cuts along edges that bend by more than `crease_degrees`, and along open and non-manifold edges where the fans of
/// triangles around a vertex fall apart. 0 separates all bent edges (flat shading), 180 none of the regular ones.
CreasedSurface split_at_creases(const Surface& surface, double crease_degrees);

}  // namespace supple
