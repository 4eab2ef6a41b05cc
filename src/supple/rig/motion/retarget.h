// SPDX-License-Identifier: Apache-2.0
// Retargeting: a motion of one skeleton played by another.
//
// Both skeletons get a reference pose in which the same body would stand alike: the character's rest, with its limbs
// turned to point as the motion's do in theirs (T-pose to A-pose). Then every joint turns in the world as its partner
// does, away from the reference:
//
//   R_t(t) = C R_s(t) R_s⁻¹ C⁻¹ R_t        C: up and facing of the motion → of the character
//
// The middle of the hips walks along the motion's path, scaled by the length of the legs, and stands so high that
// ankles on the floor are ankles on the floor. Two-bone IK then puts each ankle on its scaled path, so that a foot
// which stands still, stands still, and its sole as high above the floor as the motion's (retarget_floor.h).
#pragma once

#include "supple/base/result.h"
#include "supple/rig/clip.h"
#include "supple/rig/motion/joint_roles.h"
#include "supple/rig/pose.h"

#include <array>

namespace supple {

struct JointPair {
  Index source = 0;
  Index target = 0;
};

/// Joints that play the same role, or bear the same name. Trunks of different length are spread over each other.
std::vector<JointPair> match_joints(const Skeleton& source, const Skeleton& target);

/// A point of a sole, which moves with a joint.
struct SolePoint {
  Index joint = 0;
  Vec3 local = Vec3::Zero();
};

using Soles = std::array<std::vector<SolePoint>, 2>;  ///< left, right

struct FloorSettings {
  bool level = true;    ///< take out a drift of the floor
  double window = 1.2;  ///< [s] that nobody stays in the air
};

struct RetargetSettings {
  double frames_per_second = 0;  ///< 0: the keys of the motion
  bool keep_feet = true;         ///< ankles follow the motion's by inverse kinematics
  Pose source_reference;  ///< empty: the rest, or the clip's most upright frame where the rest is no pose to stand in
  Pose target_reference;  ///< empty: the rest
  Soles target_soles;     ///< see soles_of(); empty: guessed from the joints
  FloorSettings floor;
};

/// The clip for the target skeleton: rotations of all paired joints, and the translation of the hips.
Result<Clip> retarget(const Skeleton& source, const Clip& motion, const Skeleton& target,
                      const std::vector<JointPair>& pairs, const RetargetSettings& settings = {});

}  // namespace supple
