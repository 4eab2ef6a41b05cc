// SPDX-License-Identifier: Apache-2.0
// A soup made ready for winding numbers: vertices at the same place joined, triangles without area and repetitions of a
// triangle left out, neighbours wound alike, and closed pieces that are inside out turned around.
//
// Winding is carried across edges with exactly two triangles; a piece then keeps the winding that most of its area had.
// A piece with negative volume is turned unless it lies inside the others, where it bounds a cavity. Vertices and
// triangles come out in an order of their own (mesh/own_order.h), whatever the file's.
#pragma once

#include "supple/base/result.h"
#include "supple/mesh/surface.h"

namespace supple {

struct CleanSoup {
  Surface surface;
  Index dropped_triangles = 0;  ///< flat or repeated
  Index turned_triangles = 0;
  Index pieces = 0;  ///< joined through vertices
};

/// Fails for a surface without triangles, with wrong indices or numbers, or without extent. A soup of more than
/// `most_pieces` is counted only: which of them lie inside others takes long to tell, and nobody will fill it.
Result<CleanSoup> clean_soup(const Surface& surface, Index most_pieces);

}  // namespace supple
