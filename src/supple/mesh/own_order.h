// SPDX-License-Identifier: Apache-2.0
// An order of a surface's vertices and triangles that hangs on its shape alone. Of equals (nearest triangles at an
// edge, weights on symmetric sides) algorithms take the first: like this it is the same one whatever the order of the
// file.
//
// Vertices come in the order of their heights along a direction that no symmetry knows, so that rounding swaps none of
// them but by rare accident; triangles in that of their vertices, each from its first vertex on.
#pragma once

#include "supple/mesh/surface.h"

#include <Eigen/Geometry>

namespace supple {

struct OrderedSurface {
  Surface surface;            ///< vertices and triangles only
  std::vector<Index> source;  ///< for each of its vertices, the vertex of the given surface
};

/// `axes`: of the surface; the order turns along with them.
OrderedSurface in_own_order(const Surface& surface, const Eigen::Quaterniond& axes = Eigen::Quaterniond::Identity());

}  // namespace supple
