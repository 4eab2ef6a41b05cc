// SPDX-License-Identifier: Apache-2.0
// How the rest shape of a body turns: few sites, each four vertices of the mesh, tell rotations, and every vertex
// blends those of its nearest sites. offline/fitting/frame_sites.h chooses them.
#pragma once

#include "supple/base/types.h"

#include <array>
#include <vector>

namespace supple {

/// A tetrahedron of the simulation mesh: corners as places in a list of points that move.
struct PosedTet {
  std::array<Index, 4> points{};
  Mat3 inverse_edges = Mat3::Identity();  ///< (X1−X0 X2−X0 X3−X0)⁻¹ in the neutral pose [1/m]
};

/// Rotation of a point: that of up to four frame sites, blended.
struct FrameBlend {
  static constexpr int most = 4;
  std::array<Index, most> site{};
  std::array<double, most> weight{};  ///< sum one, largest first
};

struct FrameSites {
  std::vector<std::array<Index, 4>> sites;  ///< vertices of the mesh, positively oriented
  std::vector<FrameBlend> vertices;         ///< for every vertex of the mesh
  double error = 0.0;  ///< [rad] that nineteen of twenty free vertices stay below, in the given poses
};

}  // namespace supple
