// SPDX-License-Identifier: Apache-2.0
// Where boxes (box.h), and what is cut from them, begin.
#pragma once

#include "supple/base/types.h"

#include <span>
#include <vector>

namespace supple {

/// The vertices in the plane where a coordinate is zero, or below it.
inline std::vector<Index> vertices_at_zero(std::span<const Vec3> vertices, Eigen::Index axis) {
  std::vector<Index> chosen;
  for (std::size_t v = 0; v < vertices.size(); ++v)
    if (vertices[v][axis] < 1e-9) chosen.push_back(static_cast<Index>(v));
  return chosen;
}

}  // namespace supple
