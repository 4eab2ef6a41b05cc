// SPDX-License-Identifier: Apache-2.0
// A surface as a graph of sample points that hang together as the surface does: its vertices, points along its longer
// edges, points on its larger triangles, and links between neighbours on the same triangle.
#pragma once

#include "supple/mesh/surface.h"

namespace supple {

struct SurfaceSamples {
  std::vector<Vec3> points;
  std::vector<std::array<Index, 2>> links;
};

/// Neighbouring samples are about `spacing` apart, or less.
SurfaceSamples sample_surface(const Surface& surface, double spacing);

}  // namespace supple
