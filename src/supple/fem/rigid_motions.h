// SPDX-License-Identifier: Apache-2.0
// The motions that cost no elastic energy at rest: translations and rotations of each connected piece that its fixed
// vertices leave possible. Six for a free piece, three when one point is held, one (a hinge) for two, none for three.
#pragma once

#include "supple/fem/free_vertices.h"

namespace supple {

/// Columns: mass-orthonormal displacement fields over all vertices, zero at fixed ones; XᵀMX = I.
MatX rigid_motions(const ElasticBody& body, const FreeVertices& free);

/// Numbers the connected pieces of a body and gives each vertex the number of its piece; vertices that no element uses
/// get −1.
std::vector<Index> connected_pieces(const ElasticBody& body);

}  // namespace supple
