// SPDX-License-Identifier: Apache-2.0
// MorphTarget: a shape that a surface can be blended towards, position = base + Σ_k weight_k displacement_k.
#pragma once

#include "supple/base/types.h"

#include <string>
#include <vector>

namespace supple {

struct MorphTarget {
  std::string name;
  std::vector<Vec3> displacements;  ///< one per vertex of the surface
};

}  // namespace supple
