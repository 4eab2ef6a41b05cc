// SPDX-License-Identifier: Apache-2.0
// How much of a residual rounding alone makes. Newton's method can't get below it, so that asking for less than this
// would call a solved step unsolved: a lightly loaded stiff body, or one that is at equilibrium already.
#pragma once

#include "supple/fem/free_vertices.h"

namespace supple {

/// An estimate of the rounding error in |f(u)| over the free vertices. F = I + ∂u/∂X is known to ε, which moves forces
/// as much as a displacement by ε times an edge would; displacements themselves are known to ε |u|.
double force_rounding(const ElasticBody& body, const FreeVertices& free, const BlockMatrix& K, const VecX& u);

}  // namespace supple
