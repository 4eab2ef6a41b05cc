// SPDX-License-Identifier: Apache-2.0
// Roles: which joint is the left forearm, whatever its file calls it. Names of Mixamo, Unreal, Biped, Rigify, VRM, CMU,
// Rokoko, MakeHuman and plain English are understood; a limb whose joints are merely numbered ("arm_joint_L__4_") is
// read from the root outwards.
#pragma once

#include "supple/rig/skeleton.h"

#include <compare>

namespace supple {

enum class BodyPart {
  none,
  hips,
  spine,  ///< numbered from the hips upwards
  neck,   ///< numbered upwards
  head,
  shoulder,  ///< the collar bone
  upper_arm,
  forearm,
  hand,
  thigh,
  shin,
  foot,
  toe,
  thumb,  ///< fingers: numbered from the palm outwards
  index,
  middle,
  ring,
  pinky,
};

enum class Side { centre, left, right };

struct JointRole {
  BodyPart part = BodyPart::none;
  Side side = Side::centre;
  int number = 0;

  auto operator<=>(const JointRole&) const = default;
};

/// Finds the role of every joint. No role is given twice, except "none".
std::vector<JointRole> joint_roles(const Skeleton& skeleton);

/// Gives the joint that has this role, or −1.
Index find_role(const std::vector<JointRole>& roles, const JointRole& role);

}  // namespace supple
