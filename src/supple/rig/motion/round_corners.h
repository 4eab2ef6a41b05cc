// SPDX-License-Identifier: Apache-2.0
// round_corners: a clip whose keys are joined by straight lines changes speed at every key, in no time at all.
// Animators and exporters mean the motion that the keys sample; flesh would feel a blow at each of them, the harder the
// shorter the time step.
//
// So what moves the flesh takes the time half-way to the neighbouring keys, at most a twenty-fourth of a second to
// either side, to go from one speed s₋ to the next s₊: a parabola in place of the corner,
//   x(t) = x_k + s₋ (t − t_k) + (s₊ − s₋) (t − t_k + a)² / 4a,   |t − t_k| ≤ a
// the mean of the broken line over a window of width 2a. With keys at the rate of frames that is the quadratic spline
// through their midpoints. Keys that lie together as close as a jump keep their corner.
//
// Rotations go along great circles of quaternions at constant speed, as clips are played. Cubics follow them: two
// quaternions at an angle of θ, and the exact speed at both, leave the arc by θ⁴/384.
#pragma once

#include "supple/rig/clip.h"

namespace supple {

/// Keys that are closer than this [s] mean a jump.
constexpr double abrupt = 1.0 / 500;

Clip round_corners(const Clip& clip);

}  // namespace supple
