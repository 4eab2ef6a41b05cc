// SPDX-License-Identifier: Apache-2.0
// Fewer vertices on the skin: its short edges are contracted to a point.
//
// A lattice cut at every edge that leaves the flesh has about six vertices per cube's face on its skin, many of them
// close together. Contracting an edge takes one vertex and the tetrahedra around the edge away; the rest of the body
// can have a finer lattice for the same number of tetrahedra. Shortest edges go first. An edge stays where its
// contraction would change the topology (link condition: what touches both ends touches the edge; Dey, Edelsbrunner,
// Guha and Nekhayev 1999), bend the skin, or leave a dihedral angle below the limit.
#pragma once

#include "supple/offline/meshing/stuffing.h"

namespace supple {

struct ThinningOptions {
  double min_dihedral = 12;    ///< degrees, of the tetrahedra around a contracted edge
  double longest_edge = 0.33;  ///< in cubes; longer edges stay
  double most_bend = 35;       ///< degrees that a triangle of the skin may turn
};

/// About how many tetrahedra the default options will take away: a steady share of those cut off by the surface, as
/// long as they stand for flesh that isn't thin.
double expected_thinning(const FleshNodes& nodes, const std::vector<Stencil>& stencils);

void thin_skin(StuffedMesh& stuffed, const ThinningOptions& options);

}  // namespace supple
