// SPDX-License-Identifier: Apache-2.0
// Where single vertices of the skin hang on the flesh so that none of them leaves its neighbours.
//
// Flesh of tetrahedra is coarse where a body is thin, and a skin is coarse where a body is plain: a tip that hangs on
// the one free corner of its tetrahedron, beside neighbours that hang on held ones, moves alone. What is seen is a
// spike. Which vertices do that is told by how the body gives way to pushes a(x) = A y + b with y = (x − c)/L along its
// own axes: the twelve of one entry each; by how it gives way to these ways again, K⁻¹M u, since flesh that rings leans
// to its slow modes; and by some mixtures of all. In each, with u_v the way of vertex v, and N its neighbours,
//
//   off_v = |u_v − mean_N u|,   apart_v = max_{a,b ∈ N} |u_a − u_b|,   most_v = max |u| over v and N
//   e_v = off_v / (k apart_v + f most_v)
//
// a vertex whose largest e_v is above one stands out. It then hangs on the flesh at a place between its own and the
// middle of its neighbours, x_v + λ_v (c_v − x_v), with λ_v raised by as much as it stands out until it doesn't.
// Where even the middle stands out, it hangs as that neighbour does which moves most like the mean of all.
#pragma once

#include "supple/base/result.h"
#include "supple/fem/elastic_body.h"
#include "supple/mesh/embedding.h"
#include "supple/mesh/surface.h"
#include "supple/rig/pose.h"

#include <span>

namespace supple {

struct CalmSettings {
  double spread = 0.7;  ///< k: a spike is seen from 2 on, and clips move flesh in more ways than pushes
  double share = 0.05;  ///< f
  int rounds = 12;
};

/// How the body of a mesh gives way to pushes: three rows for each vertex, one column for each push. `frame`: the
/// body's own axes from its middle; `size`: L [m]. In mixtures, pieces of the mesh that don't hang together are pushed
/// independently. Fails when the body isn't held everywhere.
Result<MatX> sample_swings(const TetMesh& mesh, const ElasticBody& body, std::span<const Index> held,
                           const RigidTransform& frame, double size);

/// `swings`: of the mesh. `kept`: for each vertex of the skin, whether it stays where it hangs.
Result<Embedding> calm_skin(const TetMesh& mesh, const MatX& swings, const Surface& skin, std::span<const char> kept,
                            Embedding embedding, const CalmSettings& settings = {});

}  // namespace supple
