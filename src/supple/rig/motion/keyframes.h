// SPDX-License-Identifier: Apache-2.0
// Clips written by hand: keys of joints by name, in degrees and metres, as a recipe holds them.
#pragma once

#include "supple/base/result.h"
#include "supple/rig/clip.h"
#include "supple/rig/pose.h"

#include <optional>

namespace supple {

/// What a joint does at one moment, relative to its rest. A part that isn't given gets no key.
struct Keyframe {
  std::string joint;
  double time = 0.0;                     ///< [s]
  std::optional<Vec3> rotation_degrees;  ///< about the joint's own x, then y, then z as they stand at rest
  std::optional<Vec3> translation;       ///< added to the rest, in the parent's axes [m]
  std::optional<Vec3> scale;             ///< multiplies the rest's
  bool operator==(const Keyframe&) const = default;
};

/// Rotation of angles [deg] about fixed axes x, then y, then z: R = Rz Ry Rx.
Quat euler_rotation(const Vec3& degrees);

/// Keys in any order; equal times for one joint and quantity are refused, as are names that the skeleton doesn't have.
Result<Clip> make_clip(const Skeleton& skeleton, std::string name, std::span<const Keyframe> keys,
                       Interpolation interpolation = Interpolation::linear);

}  // namespace supple
