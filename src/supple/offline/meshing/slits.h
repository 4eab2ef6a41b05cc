// SPDX-License-Identifier: Apache-2.0
// Slits that end in flesh, and where they do so badly.
//
// Nodes that aren't linked but have a linked neighbour in common are held together in the lattice tetrahedra with that
// neighbour and part in the others: between the two kinds a slit ends. Around one node the lattice tetrahedra form a
// ball, and slits are cuts from its middle along sides of the triangles on its sphere. One cut that doesn't branch back
// to itself leaves a ball. Several, or one all around, would leave a pinched vertex or a handle of no width.
#pragma once

#include "supple/offline/meshing/stuffing.h"

namespace supple {

/// Links each node with bad slits around it to all that some tetrahedron holds with it, which ends the slits one cell
/// earlier; not where other flesh shares a site. False if there was nothing to do.
bool settle_nodes(const std::vector<Stencil>& stencils, const BccLattice& lattice, FleshNodes& nodes);

}  // namespace supple
