// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/posespace/known_motion.h"

#include "supple/offline/fitting/clip_accelerations.h"
#include "supple/offline/fitting/own_axes.h"
#include "supple/rig/motion/clip_motion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

/// How many steps of the full simulation are worth their time: some seconds' worth, however large the mesh, and no more
/// than the coordinates can learn from.
int affordable_steps(const TetMesh& mesh, int coordinates) {
  const double enough = std::clamp(8.0 * coordinates, 120.0, 960.0);
  return static_cast<int>(std::min(enough, std::max(240.0, 8e6 / static_cast<double>(mesh.elements.size() + 1))));
}

/// Stretches of the clips, the same number of each.
std::vector<ClipMoment> typical_starts(const RawCharacter& character, double length) {
  constexpr std::size_t most = 12, least = 8;
  std::vector<ClipMoment> starts;
  const std::size_t clips = std::min(character.clips.size(), most);
  for (std::size_t c = 0; c < clips; ++c) {
    const Clip& clip = character.clips[c * character.clips.size() / clips];
    const double room = std::max(0.0, clip.duration - first_key(clip) - length);
    const std::size_t count = room > 0 ? std::max<std::size_t>(1, least / clips) : 1;
    for (std::size_t k = 0; k < count; ++k)
      starts.push_back(
          {&clip,
           first_key(clip) + (count > 1 ? room * static_cast<double>(k) / static_cast<double>(count - 1) : room / 2)});
  }
  return starts;
}

std::vector<MotionRun> known_runs(const RawCharacter& character, const CharacterRig& rig, int steps, double extent) {
  constexpr double length = 1.0;
  constexpr int finer = 4;  // the steps of a bake
  std::vector<MotionRun> runs;
  const std::vector<ClipMoment> starts = typical_starts(character, length);
  const auto each = starts.empty() ? 0 : std::clamp(steps / static_cast<int>(starts.size()), 18, 120);
  for (const ClipMoment& start : starts) {
    MotionRun run = run_of_clip(rig, *start.clip, start.time, each, extent, finer);
    run.clip = static_cast<int>(start.clip - character.clips.data());
    run.every = finer;
    if (run.length() > to_size(9 * finer)) runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace

MotionRun run_of_clip(const CharacterRig& rig, const Clip& clip, double start, int steps, double extent, int finer) {
  const ClipMotion motion(rig, clip, false, extent);
  CharacterPose pose = rig.neutral();
  MotionRun run;
  run.finer = finer;
  double last = start;
  for (int k = 0; k < finer * steps; ++k) {
    const double time = start + k * run.time_step();
    if (time > clip.duration + 1e-9 || motion.is_cut(last, time)) break;
    motion.sample(time, pose);
    run.placements.push_back(pose.placement);
    run.poses.push_back(pose.p);
    last = time;
  }
  return run;
}

std::vector<ReducePose> clip_poses(const RawCharacter& character, const CharacterRig& rig) {
  std::vector<ReducePose> poses;
  CharacterPose pose = rig.neutral();
  for (const ClipMoment& moment : typical_moments(character, 24)) {
    rig.sample(*moment.clip, moment.time, ClipWrap::hold, pose);
    poses.push_back({pose.p, {}, fmt::format("{} at {:.2f} s", moment.clip->name, moment.time)});
  }
  return poses;
}

double vigour_of(const KnownMotion& motion) {
  const auto numbers = static_cast<double>(motion.accelerations.size());
  return numbers > 0 ? motion.accelerations.norm() * std::sqrt(3 / numbers) : 0;
}

KnownMotion known_motion(const RawCharacter& character, const CharacterRig& rig, const Rig& rest, const TetMesh& mesh,
                         const MotionToLearn& learnt) {
  KnownMotion motion;
  for (ReducePose& pose : clip_poses(character, rig)) motion.poses.push_back(std::move(pose.p));
  motion.poses.insert(motion.poses.end(), learnt.poses.begin(), learnt.poses.end());
  ClipAccelerations known = clip_accelerations(character, rig, rest, mesh);
  motion.accelerations = std::move(known.accelerations);
  const double extent = extent_along(own_axes(rig), mesh.vertices);
  const int steps = affordable_steps(mesh, learnt.coordinates);
  motion.runs = known_runs(character, rig, steps, extent);
  // Three times as long as the known motion: what nobody has shown varies more. Runs shorter than a quarter of a second
  // tell nothing of how flesh swings.
  const int unknown = 3 * steps, runs = std::clamp(unknown / 15, 4, 48);
  MadeUpMotion made_up{.poses = motion.poses,
                       .height = extent,
                       .frame = own_frame(own_axes(rig), mesh.vertices),
                       .runs = runs,
                       .length = unknown / runs};
  made_up.acceleration = motion.accelerations.cols() > 0 ? vigour_of(motion) : learnt.vigour;
  if (made_up.poses.empty()) made_up.poses.push_back(rest.layout().neutral);
  for (MotionRun& run : made_up_runs(rest, made_up)) motion.runs.push_back(std::move(run));
  made_up.seed = 1000;  // what no other run has
  made_up.runs = 2;
  motion.judges = made_up_runs(rest, made_up);
  return motion;
}

}  // namespace supple
