// SPDX-License-Identifier: Apache-2.0
// Weights for carrying a rig from the skin to the mesh inside (rig/deform/carried_rig.h): four vertices of the skin for
// each point, as in the 2016 paper (section 4.1), but chosen around the point instead of nearest to it.
//
// Shepard's weights on the nearest four blend displacements: a limb that turns by an angle drags its inside along with
// whichever side is near, and shears it by as much as the limb is thick. Weights that reproduce the point itself,
// Σ w_k X̄_k = X, carry every rotation and every stretch of the limb exactly, at the same cost.
//
//   - Inside, rays find skin in all directions; four of the vertices hit surround the point (surrounding_weights.h).
//   - Just outside, the nearest triangle and a vertex of the skin behind it are continued linearly.
//   - Elsewhere (open sheets, single triangles), Shepard's weights on the nearest four.
//
// Rays end at the first skin they meet, so that other parts (the other thigh, the torso beside an arm) have no say.
#pragma once

#include "supple/mesh/surface.h"
#include "supple/rig/deform/carried_rig.h"

namespace supple {

/// Finds the weights of all points. The surface needs at least one vertex. `axes`: of the character; weights turn along
/// with them.
SurfaceCarry make_surface_carry(std::span<const Vec3> points, const Surface& surface,
                                const Quat& axes = Quat::Identity());

}  // namespace supple
