// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/clip_motion.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <set>

namespace supple {
namespace {

constexpr double fastest = 20;                              // heights per second of a root
constexpr double fastest_turn = 20 * std::numbers::pi / 2;  // radians per second of a root
constexpr double fastest_pose = 60;                         // pose distance per second
constexpr double farthest_pose = 2;                         // pose distance in no time at all

/// Times at which something can change its speed: all keys.
std::vector<double> key_times(const Clip& clip) {
  std::set<double> times;
  for (const Channel& channel : clip.channels) times.insert(channel.times.begin(), channel.times.end());
  return {times.begin(), times.end()};
}

}  // namespace

ClipMotion::ClipMotion(const CharacterRig& rig, const Clip& clip, bool loop, double height)
    : rig_(&rig), clip_(&clip), loop_(loop && clip.duration > first_key(clip)), start_(first_key(clip)) {
  CharacterPose before = rig.neutral();
  CharacterPose after = before;
  rig.sample(clip, start_, ClipWrap::hold, before);
  rig.sample(clip, clip.duration, ClipWrap::hold, after);
  round_ = after.placement * before.placement.inverse();
  // A key that steps has its jump between the last moment before it and itself.
  constexpr double moment = 1e-6;
  const std::vector<double> times = key_times(clip);
  for (std::size_t k = 0; k + 1 < times.size(); ++k) {
    for (const auto& [from, to] : {std::pair{times[k], times[k + 1] - moment}, {times[k + 1] - moment, times[k + 1]}}) {
      if (to <= from) continue;
      rig.sample(clip, from, ClipWrap::hold, before);
      rig.sample(clip, to, ClipWrap::hold, after);
      const double seconds = std::max(to - from, 1.0 / 1000);
      const double moved = (after.placement.translation - before.placement.translation).norm() / height;
      const double turned = after.placement.rotation.angularDistance(before.placement.rotation);
      const double posed = pose_distance(rig.rig()->layout(), before.p, after.p);
      if (moved > std::max(0.25, fastest * seconds) || turned > std::max(1.0, fastest_turn * seconds) ||
          posed > std::max(farthest_pose, fastest_pose * seconds))
        cuts_.emplace_back(from, to);
    }
  }
  // The root goes on in a loop; limbs that end elsewhere than they began are put back.
  rig.sample(clip, 0, ClipWrap::hold, before);
  rig.sample(clip, clip.duration, ClipWrap::hold, after);
  if (loop_ && pose_distance(rig.rig()->layout(), before.p, after.p) > farthest_pose)
    cuts_.emplace_back(clip.duration - moment, clip.duration);
}

void ClipMotion::sample(double time, CharacterPose& pose) const {
  if (!loop_) {
    rig_->sample(*clip_, time, ClipWrap::hold, pose);
    return;
  }
  const double period = clip_->duration - start_;
  const double rounds = std::floor((time - start_) / period);
  rig_->sample(*clip_, time - rounds * period, ClipWrap::hold, pose);
  const RigidTransform step = rounds < 0 ? round_.inverse() : round_;
  for (int k = 0; k < static_cast<int>(std::abs(rounds)); ++k) pose.placement = step * pose.placement;
}

bool ClipMotion::is_cut(double from, double to) const {
  if (loop_) {
    const double period = clip_->duration - start_;
    const double shift = std::floor((from - start_) / period) * period;
    from -= shift;
    to -= shift;
  }
  return std::any_of(cuts_.begin(), cuts_.end(), [&](const auto& cut) { return cut.first < to && from < cut.second; });
}

double first_key(const Clip& clip) {
  double first = clip.duration;
  for (const Channel& channel : clip.channels)
    if (channel.times.size() > 1) first = std::min(first, channel.times.front());
  return std::max(0.0, first);
}

bool closes(const CharacterRig& rig, const Clip& clip) {
  const double start = first_key(clip);
  const double moment = std::min(1.0 / 30, 0.1 * (clip.duration - start));
  if (!(moment > 1e-3)) return false;
  std::array<CharacterPose, 4> at{rig.neutral(), rig.neutral(), rig.neutral(), rig.neutral()};
  const double times[] = {start, start + moment, clip.duration - moment, clip.duration};
  for (std::size_t k = 0; k < 4; ++k) rig.sample(clip, times[k], ClipWrap::hold, at[k]);
  const PoseLayout& layout = rig.rig()->layout();
  if (pose_distance(layout, at[0].p, at[3].p) > 0.05) return false;
  // Through the seam the pose must go on as it did: the way across is about the sum of both halves.
  const double before = pose_distance(layout, at[2].p, at[3].p);
  const double after = pose_distance(layout, at[0].p, at[1].p);
  const double across = pose_distance(layout, at[2].p, at[1].p);
  return across >= 0.7 * (before + after) - 0.02 * std::sqrt(static_cast<double>(layout.groups.size()));
}

}  // namespace supple
