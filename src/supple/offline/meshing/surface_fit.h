// SPDX-License-Identifier: Apache-2.0
// Vertices go where they wish, as far as the angles allow.
//
// Sweeps over the vertices in order. A cut vertex goes to the nearest point of the surface, if that faces the way
// the surface did where its edge left the flesh (across a gap, or on the other side of something thin, it faces the
// other way), else to that very point; jammed ones slide toward the middle of their neighbours. Real nodes that
// dropped tetrahedra laid bare do the same. Thin nodes go into their flesh, and the skin around them goes where it
// is even. Other real nodes retreat from a surface that comes too close and move to the middle of their neighbours
// where this opens angles. A step is halved until no dihedral angle around the vertex falls below the limit (or
// below the smallest it had), and given up after a few halvings; so every mesh keeps what it began with or has at
// least the limit. The limit begins high and falls from sweep to sweep, so that nobody takes all the room at once.
#pragma once

#include "supple/offline/meshing/stuffing.h"

namespace supple {

struct FitOptions {
  double min_dihedral = 10.5;    ///< degrees
  double first_dihedral = 17.4;  ///< the limit of the first sweep
  int sweeps = 10;
};

void fit_to_surface(StuffedMesh& stuffed, const TriangleTree& surface, const FitOptions& options);

/// The smallest dihedral angle of a tetrahedron as its cosine, which is the largest; 1 if it is flat or inverted.
double largest_dihedral_cosine(const std::array<Vec3, 4>& x);

}  // namespace supple
