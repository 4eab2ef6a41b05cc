// SPDX-License-Identifier: Apache-2.0
// How far two surfaces are from each other: distances from points spread evenly over one to the nearest of the other.
#pragma once

#include "supple/mesh/triangle_tree.h"

namespace supple {

struct SampledDistance {
  double mean = 0;
  double max = 0;
};

/// From `samples` points on the triangles, stratified by area and the same on every run, and from all vertices (these
/// for the maximum only).
SampledDistance sampled_distance(const Surface& from, const TriangleTree& to, int samples);

}  // namespace supple
