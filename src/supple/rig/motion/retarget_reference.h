// SPDX-License-Identifier: Apache-2.0
// What retargeting must know of a skeleton before it starts: which way the body stands and faces, and a pose in which
// two bodies stand alike.
#pragma once

#include "supple/rig/motion/retarget.h"

#include <array>

namespace supple {

/// Joints that retargeting needs by role; -1 where there is none.
struct BodyJoints {
  struct Limb {
    Index first = -1;   ///< thigh, upper arm
    Index second = -1;  ///< shin, forearm
    Index third = -1;   ///< foot, hand

    bool complete() const { return first >= 0 && second >= 0 && third >= 0; }
  };
  Index hips = -1;
  Index top = -1;  ///< head, else the last joint of neck or spine
  std::array<Limb, 2> legs;
  std::array<Limb, 2> arms;  ///< left, right

  bool stands() const { return hips >= 0 && top >= 0 && legs[0].complete() && legs[1].complete(); }
};

BodyJoints find_body(const std::vector<JointRole>& roles);

/// Columns: the body's left, up and forward in the world, right-handed.
struct BodyAxes {
  Mat3 axes = Mat3::Identity();

  Vec3 up() const { return axes.col(1); }
};

/// Finds which way the body stands and faces in a pose. Its up, and its facing where that is close to one, are taken
/// along axes of the world.
BodyAxes body_axes(const BodyJoints& body, const std::vector<Affine>& world);

/// Tells whether a body could stand on its feet in this pose.
bool is_upright(const BodyJoints& body, const std::vector<Affine>& world);

struct ReferencePose {
  std::vector<Affine> world;  ///< of all joints
  BodyAxes axes;
  bool from_clip = false;
};

/// The pose given, the rest, or the most upright frame of the clip, turned to face along its world's axes.
ReferencePose source_reference(const Skeleton& skeleton, const Clip& clip, const BodyJoints& body, const Pose& given);

/// Turns the target's limbs so that they point as the source's do; `turn` takes the source's world to the target's.
void align_limbs(const Skeleton& target, Pose& pose, const std::vector<JointRole>& target_roles,
                 const std::vector<JointRole>& source_roles, const ReferencePose& source, const Mat3& turn);

}  // namespace supple
