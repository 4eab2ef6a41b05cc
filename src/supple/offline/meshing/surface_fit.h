// SPDX-License-Identifier: Apache-2.0
// Vertices go where they wish, as far as the angles allow.
//
// Sweeps over the vertices in order: cut vertices go toward the surface, thin nodes into their flesh, real nodes next to
// the surface toward the middle of their neighbours, to make room. A step is halved until no dihedral angle around the
// vertex falls below the limit (or below the smallest it had), and given up after a few halvings; so every mesh keeps
// what it began with or has at least the limit.
#pragma once

#include "supple/offline/meshing/stuffing.h"

namespace supple {

struct FitOptions {
  double min_dihedral = 12;  ///< degrees
  int sweeps = 8;
};

void fit_to_surface(StuffedMesh& stuffed, const FitOptions& options);

/// The smallest dihedral angle of a tetrahedron as its cosine, which is the largest; 1 if it is flat or inverted.
double largest_dihedral_cosine(const std::array<Vec3, 4>& x);

}  // namespace supple
