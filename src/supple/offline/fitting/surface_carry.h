// SPDX-License-Identifier: Apache-2.0
// Shepard's weights for carrying a rig from the skin to the mesh inside (rig/carried_rig.h).
//
// Nearest means nearest through the flesh: skin vertices that the skin of another part hides (the other thigh, the
// torso beside an arm) are left out where visible ones exist.
#pragma once

#include "supple/mesh/surface.h"
#include "supple/rig/carried_rig.h"

namespace supple {

/// The surface needs at least one vertex.
SurfaceCarry make_surface_carry(std::span<const Vec3> points, const Surface& surface);

}  // namespace supple
