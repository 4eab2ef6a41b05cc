// SPDX-License-Identifier: Apache-2.0
// Motion of handles as text, as the examples of Complementary Dynamics have it (Zhang, Bang, Levin & Jacobson 2020).
// Angles are Euler angles in degrees, R = Rz Ry Rx; lengths are in the body's unit.
//
//   handles frames
//   bones:    place and angles of the whole body at rest, angles A_h of each bone's axes at rest; then for each frame
//             angles and place of the whole body and angles of each bone, about its axes at rest: Q_h = A_h R A_hᵀ
//   points:   for each point place and angles at rest; then for each frame place and angles of each point
//
// Bones turn about their heads and carry their children: the rotation of bone h is Q of its parents times Q_h. Where
// several bones begin at the root, the whole body's rotation turns them all. Points move on their own.
#pragma once

#include "supple/io/motion/handle_rig.h"

#include <filesystem>
#include <string_view>

namespace supple {

/// The rig must be of bones alone or of points alone, and have as many as the motion.
Result<HandleMotion> parse_handle_motion(std::string_view text, const std::string& name, const HandleRig& rig);
Result<HandleMotion> load_handle_motion(const std::filesystem::path& path, const HandleRig& rig);

}  // namespace supple
