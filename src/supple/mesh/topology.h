// SPDX-License-Identifier: Apache-2.0
// Topology: what touches what. The boundary of a solid mesh, connected pieces, and how clean a triangle soup is.
//
// Nothing here looks at positions, except `weld`, which joins vertices at exactly the same place. All functions run in
// (nearly) linear time and give the same answer in the same order on every run.
#pragma once

#include "supple/mesh/surface.h"
#include "supple/mesh/volume_mesh.h"

namespace supple {

// ---- solid meshes ---------------------------------------------------------------------------------------------------

/// The skin of a solid mesh: the faces that belong to one element only.
struct BoundarySurface {
  Surface surface;                   ///< oriented outward where the elements have positive volume
  std::vector<Index> volume_vertex;  ///< for each surface vertex its solid vertex, ascending
  std::vector<Index> element;        ///< for each triangle the element behind it, ascending
  Index crowded_faces = 0;           ///< faces of three or more elements: the solid mesh overlaps itself there
};

/// Triangles come in the order of elements and of their faces. A brick's quads (a b c d) become (a b c) and (a c d).
BoundarySurface boundary_surface(const TetMesh& mesh);
BoundarySurface boundary_surface(const HexMesh& mesh);

// ---- connected pieces -----------------------------------------------------------------------------------------------

/// Label 0 is the piece of the first element or triangle, label 1 the next piece met, and so on.
struct Components {
  Index count = 0;
  std::vector<Index> label;
};

/// Pieces of elements or triangles that hang together through shared vertices.
Components connected_components(const TetMesh& mesh);
Components connected_components(const HexMesh& mesh);
Components connected_components(const Surface& surface);

/// Vertices that no element or triangle uses, ascending.
std::vector<Index> unreferenced_vertices(const TetMesh& mesh);
std::vector<Index> unreferenced_vertices(const HexMesh& mesh);
std::vector<Index> unreferenced_vertices(const Surface& surface);

// ---- surfaces -------------------------------------------------------------------------------------------------------

/// A census of the triangles and edges. Degenerate triangles and repetitions of a triangle are counted, then ignored:
/// a double-sided sheet counts as the sheet it is.
struct SurfaceTopology {
  Index vertices = 0;  ///< those that triangles use
  Index unreferenced_vertices = 0;
  Index triangles = 0;
  Index degenerate_triangles = 0;  ///< name a vertex twice
  Index duplicate_triangles = 0;   ///< same three vertices as an earlier triangle, in any order
  Index components = 0;            ///< pieces joined through vertices
  Index edges = 0;
  Index boundary_edges = 0;        ///< with one triangle
  Index nonmanifold_edges = 0;     ///< with three or more
  Index inconsistent_edges = 0;    ///< with two triangles that run along it in the same direction
  Index nonmanifold_vertices = 0;  ///< where fans of triangles meet in nothing but the vertex
  Index holes = 0;                 ///< connected pieces of boundary edges
  Index euler_characteristic = 0;  ///< V - E + T: 2 for a sphere, 0 for a torus

  bool closed() const { return triangles > 0 && boundary_edges == 0; }
  bool edge_manifold() const { return nonmanifold_edges == 0; }
  /// True where every edge has exactly two triangles.
  bool watertight() const { return closed() && edge_manifold(); }
  bool consistently_wound() const { return inconsistent_edges == 0; }
};

/// Looks at indices only: weld first if the file repeats vertices along seams.
SurfaceTopology surface_topology(const Surface& surface);

struct WeldedSurface {
  Surface surface;                   ///< the same triangles and parts; some triangles may have become degenerate
  std::vector<Index> welded_vertex;  ///< for each vertex of the input, its vertex in `surface`
};

/// Joins vertices at exactly the same position (0 and -0 are the same). Attributes are taken from the first of them.
WeldedSurface weld(const Surface& surface);

}  // namespace supple
