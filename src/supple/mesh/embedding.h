// SPDX-License-Identifier: Apache-2.0
// Embedding: points that ride on a solid mesh. Each point belongs to one element and is a weighted sum of its vertices:
// barycentric in a tetrahedron, trilinear in a brick.
//
//   interpolate:  u_point = Σ w_k u_k         displacements out, mesh to points
//   spread:       f_k    += w_k f_point       forces in, points to mesh: the transpose, so that both do the same work
//
// Points outside go with the nearest element and continue it linearly: the weights reproduce linear displacements
// exactly, so rigid motions carry all points along rigidly. Or they go as the nearest point of the mesh does: no weight
// is negative, so that no point moves farther than what it hangs on; a lever of ten elements' lengths makes a spike of
// a twitch. The nearest point changes continuously and belongs to the mesh, not to one of the elements that share it.
// The weights add up to one in both cases.
#pragma once

#include "supple/base/result.h"
#include "supple/mesh/surface.h"
#include "supple/mesh/volume_mesh.h"

#include <span>
#include <string_view>

namespace supple {

struct Embedding {
  int nodes = 0;                 ///< per element: 4 or 8
  Index mesh_vertices = 0;       ///< of the mesh embedded in
  std::vector<Index> element;    ///< for each point
  std::vector<Index> vertices;   ///< `nodes` for each point
  std::vector<double> weights;   ///< beside them
  std::vector<double> distance;  ///< from the point's element, 0 inside

  std::size_t size() const { return element.size(); }
  bool inside(std::size_t point) const { return distance[point] == 0; }

  /// `displacements` has three rows per mesh vertex and any number of columns (a state, a basis); the result has three
  /// rows per point.
  MatX interpolate(const Eigen::Ref<const MatX>& displacements) const;
  /// The transpose: three rows per point in, three rows per mesh vertex out.
  MatX spread(const Eigen::Ref<const MatX>& forces) const;
};

/// Fails for a mesh without elements, for flat elements, and for points that aren't numbers.
Result<Embedding> embed(const TetMesh& mesh, std::span<const Vec3> points);
/// The same, but points outside go with the nearest point of the mesh.
Result<Embedding> embed_nearest(const TetMesh& mesh, std::span<const Vec3> points);
Result<Embedding> embed(const HexMesh& mesh, std::span<const Vec3> points);

// ---- painting -------------------------------------------------------------------------------------------------------

/// Vertices of the surface where the first number of the named attribute is above 0.5, ascending.
Result<std::vector<Index>> painted_vertices(const Surface& surface, std::string_view attribute);

/// The vertices of all elements that the chosen surface vertices touch (of the nearest element where they touch none):
/// ascending, each once. Turns paint on a surface into vertices of the body inside to hold or push.
Result<std::vector<Index>> vertices_under_paint(const TetMesh& mesh, const Surface& surface,
                                                std::span<const Index> painted);
Result<std::vector<Index>> vertices_under_paint(const HexMesh& mesh, const Surface& surface,
                                                std::span<const Index> painted);

}  // namespace supple
