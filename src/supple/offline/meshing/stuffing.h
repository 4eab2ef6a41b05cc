// SPDX-License-Identifier: Apache-2.0
// Stuffing: lattice tetrahedra around flesh nodes, cut off where the flesh ends (after Labelle and Shewchuk 2007).
//
// In each lattice tetrahedron the nodes at its corners fall into linked groups; every group fills its own copy of the
// tetrahedron as if the other corners were outside. A cut vertex belongs to a node and a direction, so copies share it
// exactly where they share flesh. The signs alone decide the topology: no vertex ever lies on the surface by accident,
// and cuts begin within a tenth of the middles of the edges, which gives dihedral angles of at least 17 degrees
// whatever the shape. Where the surface really is, each vertex remembers; surface_fit.h goes there as far as the angles
// allow.
//
// A group that would hold two nodes at one corner (fingers that part inside one cell) gives up its weakest links, so
// that a slit may run on for one cell, and flesh never overlaps. Links without which something would come off are
// honoured in one tetrahedron at least.
#pragma once

#include "supple/mesh/volume_mesh.h"
#include "supple/offline/meshing/graded_interior.h"

namespace supple {

/// One group of linked nodes in one lattice tetrahedron: the node at each corner, or −1 where it is outside.
struct Stencil {
  std::array<Index, 4> node{};
  Site corner = 0;  ///< the cube corner that the tetrahedron belongs to
  std::int8_t tet = 0;
};

/// Finds the stencils of all lattice tetrahedra. Those of the graded interior, if there is one, are whole and have no
/// corner of their own.
std::vector<Stencil> find_stencils(const FleshNodes& nodes, const BccLattice& lattice, const GradedInterior& interior);

/// Links nodes that at least half of the lattice tetrahedra around the edge between them hold together anyhow by way of
/// others: the rest would be a slit that ends in the middle of flesh. False if there are none.
bool settle_links(const std::vector<Stencil>& stencils, const BccLattice& lattice, FleshNodes& nodes);

/// Counts the tetrahedra that the stencils will give.
std::int64_t count_tets(const std::vector<Stencil>& stencils);

enum class VertexKind : std::uint8_t { real, thin, cut, thin_cut };

struct StuffedMesh {
  TetMesh mesh;
  std::vector<VertexKind> kind;  ///< per vertex
  std::vector<Vec3> wish;        ///< per vertex: where it would like to be
  std::vector<Vec3> normal;      ///< per vertex: outward unit normal of the surface at the wish, zero where unknown
  std::vector<Index> node;       ///< per vertex, -1 for cuts
  double cube = 0;               ///< of the lattice
};

StuffedMesh stuff(const Flesh& flesh, const FleshNodes& nodes, const BccLattice& lattice,
                  const std::vector<Stencil>& stencils);

/// Takes out the vertices that no tetrahedron uses; the others keep their order.
void drop_unused_vertices(StuffedMesh& stuffed);

/// Links between nodes that have come to lie in different pieces of the mesh, or one of them in several; each both
/// ways.
std::vector<NodeLink> torn_links(const FleshNodes& nodes, const BccLattice& lattice, const StuffedMesh& stuffed);

}  // namespace supple
