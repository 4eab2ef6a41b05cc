// SPDX-License-Identifier: Apache-2.0
// BaseMotion: how a bone of a character carries a plant or an object through a clip.
#pragma once

#include "supple/base/result.h"
#include "supple/pipeline/object/base_bone.h"
#include "supple/rig/pose.h"
#include "supple/rig/raw_character.h"
#include "supple/runtime/domains/domain_dynamics.h"

#include <filesystem>

namespace supple {

class BaseMotion {
 public:
  /// Reads the character, `folder`/character. Fails with a sentence where it, its joint or its clip isn't there.
  static Result<BaseMotion> load(const BaseBone& base, const std::filesystem::path& folder, double scale);

  double duration() const { return clip_.duration; }
  /// Whether the bone ends where it began.
  bool loops() const { return loops_; }
  /// Where the bone is at rest [m].
  const Vec3& place() const { return rest_.translation; }
  /// Where a frame that was at `rest` is at a time, and how it moves. Times before the clip hold its first pose.
  RootMotion at(double time, const RigidTransform& rest) const;

 private:
  BaseMotion() = default;
  RigidTransform bone(double time) const;
  RigidTransform carried(double time, const RigidTransform& rest) const;

  Skeleton skeleton_;
  Clip clip_;
  Index joint_ = 0;
  double scale_ = 1;
  bool loops_ = false;
  RigidTransform rest_;
};

}  // namespace supple
