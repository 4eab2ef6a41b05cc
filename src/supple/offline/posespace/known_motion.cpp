// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/posespace/known_motion.h"

#include "supple/base/parallel.h"
#include "supple/mesh/bounds.h"
#include "supple/offline/fitting/clip_accelerations.h"
#include "supple/rig/motion/clip_motion.h"

#include <fmt/format.h>

#include <algorithm>

namespace supple {
namespace {

/// Stretches of the clips, the same number of each.
std::vector<ClipMoment> typical_starts(const RawCharacter& character) {
  constexpr std::size_t most = 12, least = 8;
  constexpr double length = MotionRun::length * MotionRun::step;
  std::vector<ClipMoment> starts;
  const std::size_t clips = std::min(character.clips.size(), most);
  for (std::size_t c = 0; c < clips; ++c) {
    const Clip& clip = character.clips[c * character.clips.size() / clips];
    const double room = std::max(0.0, clip.duration - length);
    const std::size_t count = room > 0 ? std::max<std::size_t>(1, least / clips) : 1;
    for (std::size_t k = 0; k < count; ++k)
      starts.push_back({&clip, count > 1 ? room * static_cast<double>(k) / static_cast<double>(count - 1) : room / 2});
  }
  return starts;
}

std::vector<MotionRun> known_runs(const RawCharacter& character, const CharacterRig& rig, const Rig& rest,
                                  const TetMesh& mesh, double extent) {
  constexpr double length = MotionRun::length * MotionRun::step;
  std::vector<ClipMoment> starts = typical_starts(character);
  std::erase_if(starts, [&](const ClipMoment& start) {
    return ClipMotion(rig, *start.clip, false, extent)
        .is_cut(start.time - acceleration_step, start.time + length + acceleration_step);
  });
  std::vector<MotionRun> runs(starts.size());
  CharacterPose pose = rig.neutral();
  for (std::size_t r = 0; r < runs.size(); ++r) {
    rig.sample(*starts[r].clip, starts[r].time + length / 2, ClipWrap::hold, pose);
    runs[r] = {MatX(3 * rest.vertex_count(), MotionRun::length), pose.p,
               static_cast<int>(starts[r].clip - character.clips.data())};
  }
  parallel_for(std::ssize(runs) * MotionRun::length, 1, [&](std::int64_t i) {
    const auto r = to_size(i / MotionRun::length);
    const std::int64_t k = i % MotionRun::length;
    runs[r].accelerations.col(k) = local_acceleration(
        rig, rest, mesh, {starts[r].clip, starts[r].time + static_cast<double>(k) * MotionRun::step});
  });
  return runs;
}

}  // namespace

std::vector<ReducePose> clip_poses(const RawCharacter& character, const CharacterRig& rig) {
  std::vector<ReducePose> poses;
  CharacterPose pose = rig.neutral();
  for (const ClipMoment& moment : typical_moments(character, 24)) {
    rig.sample(*moment.clip, moment.time, ClipWrap::hold, pose);
    poses.push_back({pose.p, {}, fmt::format("{} at {:.2f} s", moment.clip->name, moment.time)});
  }
  return poses;
}

KnownMotion known_motion(const RawCharacter& character, const CharacterRig& rig, const Rig& rest, const TetMesh& mesh) {
  KnownMotion motion;
  for (ReducePose& pose : clip_poses(character, rig)) motion.poses.push_back(std::move(pose.p));
  ClipAccelerations known = clip_accelerations(character, rig, rest, mesh);
  motion.accelerations = std::move(known.accelerations);
  CharacterPose pose = rig.neutral();
  for (const ClipMoment& moment : known.moments) {
    rig.sample(*moment.clip, moment.time, ClipWrap::hold, pose);
    motion.moments.push_back(pose.p);
    motion.clips.push_back(static_cast<int>(moment.clip - character.clips.data()));
  }
  motion.runs = known_runs(character, rig, rest, mesh, bounds_of(mesh.vertices).size().maxCoeff());
  return motion;
}

}  // namespace supple
