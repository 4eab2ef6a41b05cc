// SPDX-License-Identifier: Apache-2.0
// Makes the skin of a stuffed mesh a manifold: every edge on it has exactly two triangles.
//
// Copies of lattice tetrahedra that part company may go on sharing a vertex or an edge with nothing solid between them.
// A vertex whose tetrahedra fall into pieces that share no face is given to each piece anew. An edge with several fans
// of tetrahedra is halved in all fans but the largest, which makes it another edge there; fans that wouldn't survive
// that in good shape are dropped.
#pragma once

#include "supple/offline/meshing/stuffing.h"

namespace supple {

struct ManifoldRepairs {
  Index split_vertices = 0;
  Index halved_tets = 0;
  Index dropped_tets = 0;
};

ManifoldRepairs make_skin_manifold(StuffedMesh& stuffed);

/// Leaves out pieces of a cell or two that `torn` links say belong to larger ones: better lost than adrift.
void drop_strays(const std::vector<NodeLink>& torn, StuffedMesh& stuffed);

}  // namespace supple
