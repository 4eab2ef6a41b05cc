// SPDX-License-Identifier: Apache-2.0
// Joint groups: head, body, arms, legs, tail … of any skeleton, found from how much flesh hangs where.
//
// A joint counts when it and all below it carry a worthwhile share of the flesh, and there is more than one of them (a
// lone joint in a belly makes no limb, but a head does). Where two or more such joints hang on one, the skeleton
// branches; a branch is a limb when nothing below it branches again. Branches of small things that have no left and
// right, such as a hand, don't count, so that fingers stay with their arm, and a thigh's helper joints with the leg.
// What isn't part of a limb is the body, and so is a spine, by its name, that a limb begins with. Joints that hang on
// a controller, or far from where they are, as feet often do, go with the nearest others. When there are too many
// limbs, the share that is worthwhile rises. A skeleton that nowhere branches (a snake, a fish, a rope) is cut across
// into pieces of equal flesh, as many as it is slender.
//
// Joints that mirror each other, by name or by place, count alike, so that a symmetric rig has symmetric groups.
#pragma once

#include "supple/rig/skeleton.h"

#include <span>
#include <string_view>

namespace supple {

struct JointGroup {
  std::string name;           ///< "body", "head", "left arm", "right leg" where names tell; otherwise its first joint's
  std::vector<Index> joints;  ///< ascending
  double volume = 0;          ///< of the flesh that hangs on them
};

struct JointGroupSettings {
  double smallest_share = 0.02;  ///< of all flesh, for a limb to be worthwhile
  int most = 10;
};

/// `places`: of the joints in the neutral pose; `volume`: of the flesh on each. At least one group; together they have
/// all joints with flesh. The body, where there is one, comes first.
std::vector<JointGroup> group_joints(const Skeleton& skeleton, std::span<const Vec3> places,
                                     std::span<const double> volume, const JointGroupSettings& settings = {});

/// For each joint the one on the other side: by its name ("thigh.L", "thigh.R"), otherwise by its place, where most
/// joints are mirror images of others; itself where there is none. Only joints with `used` set are looked at.
std::vector<Index> mirror_twins(const Skeleton& skeleton, std::span<const Vec3> places, std::span<const char> used);

/// "left arm" → "right arm", "Leg_R.002" → "Leg_L.002"; empty where the name has no side.
std::string mirrored_name(std::string_view name);

}  // namespace supple
