// SPDX-License-Identifier: Apache-2.0
// Motion by code: a function poses the skeleton at every phase of a cycle, and its keys become a clip.
#pragma once

#include "supple/rig/clip.h"
#include "supple/rig/pose.h"

#include <functional>

namespace supple {

/// Local rotation by degrees about x, then y, then z.
Quat turn_degrees(double x, double y, double z);

/// A pose in the making.
class PoseEditor {
 public:
  explicit PoseEditor(const Skeleton& skeleton) : pose(rest_pose(skeleton)), skeleton_(&skeleton) {}

  Pose pose;

  /// On top of the rotation that the joint has, in its own axes.
  void turn(Index joint, double x, double y, double z);
  /// From where the joint is, in its parent's axes [m].
  void shift(Index joint, const Vec3& offset);
  Affine world(Index joint) const;
  /// Turns the joint so that it lies in the world as asked.
  void face(Index joint, const Quat& world_rotation);
  /// Turns `upper` and `lower` so that `end` comes to the target, or as near as their length allows, the joint between
  /// them on the side of `hint`, a direction of the world (inverse_kinematics.h).
  void reach(Index upper, Index lower, Index end, const Vec3& target, const Vec3& hint);

 private:
  const Skeleton* skeleton_;
};

/// Keys at equal distances; phase runs from 0 to 1. Joints that never leave their rest get no channel.
Clip make_cycle(const Skeleton& skeleton, std::string name, double duration, int keys,
                const std::function<void(double phase, PoseEditor& editor)>& motion);

/// 0 → 1 → 0 … smoothly, once per unit of phase, starting at 0.
double wave(double phase);

/// Where a foot is in a walk, relative to its middle: stance while phase (modulo 1) is below `duty`, moving backwards
/// at constant speed as the ground does under an animal that stays in view, then lifted and swung forward. z: along the
/// stride; y: up; x: 0.
Vec3 step_path(double phase, double duty, double stride, double lift);

/// The foot's pitch on the way: level while it stands, up to `degrees` in the middle of the swing.
double swing_pitch(double phase, double duty, double degrees);

}  // namespace supple
