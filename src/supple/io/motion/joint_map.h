// SPDX-License-Identifier: Apache-2.0
// Joint maps: which joint of a motion drives which joint of a character, where names alone don't tell.
//
// A text file with a pair per line, the motion's joint first; '#' starts a comment at the beginning of a line or after
// a blank. Names may hold blanks.
//
//   # motion = character
//   LeftUpLeg = thigh.l
//   Spine1 = spine_02
#pragma once

#include "supple/base/result.h"
#include "supple/rig/motion/retarget.h"

#include <filesystem>
#include <string_view>

namespace supple {

Result<std::vector<JointPair>> parse_joint_map(std::string_view text, const std::string& name, const Skeleton& source,
                                               const Skeleton& target);
Result<std::vector<JointPair>> load_joint_map(const std::filesystem::path& path, const Skeleton& source,
                                              const Skeleton& target);

}  // namespace supple
