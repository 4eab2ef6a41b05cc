// SPDX-License-Identifier: Apache-2.0
// What pulls at a character's flesh besides its own motion.
#pragma once

#include "supple/base/types.h"

#include <span>

namespace supple {

/// A force on a vertex of the surface, in the world [N].
struct SurfaceForce {
  Index vertex = 0;
  Vec3 force = Vec3::Zero();
};

struct SoftForces {
  Vec3 gravity = Vec3::Zero();  ///< [m/s²]. Rigs are drawn as gravity leaves them, so by default there is none.
  Vec3 wind = Vec3::Zero();     ///< velocity of the air [m/s]
  double drag = 0.0;            ///< share of the velocity against the air that is lost per second [1/s]
  std::span<const SurfaceForce> surface = {};
};

}  // namespace supple
