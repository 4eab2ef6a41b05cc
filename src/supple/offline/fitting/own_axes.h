// SPDX-License-Identifier: Apache-2.0
// A character's own axes: those of its root at rest. What is measured along them turns with the character, so that its
// body and its flesh are the same wherever it stands and looks.
#pragma once

#include "supple/mesh/bounds.h"
#include "supple/rig/character_rig.h"

namespace supple {

Quat own_axes(const CharacterRig& rig);

/// The box along turned axes.
Bounds bounds_along(const Quat& axes, std::span<const Vec3> points);

/// The largest side of that box [m].
double extent_along(const Quat& axes, std::span<const Vec3> points);

/// The axes, from the middle of the box along them.
RigidTransform own_frame(const Quat& axes, std::span<const Vec3> points);

}  // namespace supple
