// SPDX-License-Identifier: Apache-2.0
// Names of corrective shapes. Riggers of Blender and Maya name a corrective after the joint that it corrects and how
// far that joint is turned there: "forearm.L_90", "Elbow_L_90_corrective", "corrective_elbow_l_bend90",
// "forearm_L_rz_90".
//
// A name, without the namespace before a colon, is cut into words at "_", ".", "-", blanks, between a small and a
// capital letter and between letters and digits. It is a corrective's when its words are, in any order and nothing
// besides:
//   a joint     all words of one joint's name, or "elbow", "knee", "shoulder", "hip", "wrist", "ankle", "neck" with a
//   side an angle    one number from 5 to 180, the degrees; "neg", "minus" or "m" before it turns it around an axis at
//   most one of x, y, z, rx, ry, rz, rotx …: the joint's own axis, as keyframes have it fillers     corrective,
//   correction, corr, fix, psd, pose, shape, bend, bent, flex, deg, rot, cs, at
// and no other joint, angle or axis fits as well. Without an axis it is the one that the character's clips turn this
// joint about, where they turn it about one, and to one side, as they do elbows and knees. Whatever remains open is
// told and never guessed.
#pragma once

#include "supple/rig/raw_character.h"

#include <optional>
#include <span>

namespace supple {

/// A name that was understood.
struct CorrectiveName {
  Index joint = -1;
  double degrees = 0;
  int axis = -1;  ///< 0 … 2, or -1: the name says none
};

/// What a name says, or nothing; `remark` is then why it isn't taken, where it looks like a corrective's at all.
std::optional<CorrectiveName> read_corrective_name(std::string_view name, const Skeleton& skeleton,
                                                   std::string& remark);

/// The axis that clips turn a joint about, in the joint's own frame at rest, towards where they turn it to; nothing
/// where they turn it about several, to both sides, or not at all.
std::optional<Vec3> usual_axis(const Skeleton& skeleton, Index joint, std::span<const Clip> clips);

}  // namespace supple
