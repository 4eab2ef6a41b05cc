// SPDX-License-Identifier: Apache-2.0
// BVH: a skeleton and its motion, frame by frame, as motion capture delivers it. Any order of channels; rotations are
// multiplied in the order of their channels; position channels replace a joint's offset. Lengths stay in the file's
// unit (retargeting scales them). End sites are passed over: they don't move.
#pragma once

#include "supple/base/result.h"
#include "supple/rig/clip.h"
#include "supple/rig/skeleton.h"

#include <filesystem>
#include <string_view>

namespace supple {

struct BvhMotion {
  Skeleton skeleton;
  Clip clip;  ///< a rotation key per frame for every joint with rotation channels; translations likewise
  Index frame_count = 0;
  double frame_time = 0.0;  ///< [s]
  Index channel_count = 0;  ///< of the file
};

Result<BvhMotion> parse_bvh(std::string_view text, const std::string& name);
Result<BvhMotion> load_bvh(const std::filesystem::path& path);

}  // namespace supple
