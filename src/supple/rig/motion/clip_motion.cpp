// SPDX-License-Identifier: Apache-2.0
#include "supple/rig/motion/clip_motion.h"

#include "supple/rig/motion/lean_keys.h"
#include "supple/rig/motion/round_corners.h"

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
constexpr double closed_loop = 0.05;                        // pose distance that a loop may leave open
constexpr double moment = 1e-6;                             // [s]: no time at all
constexpr double ease = 1.0 / 15;                           // [s] that a jump takes

/// Times at which something can change its speed: all keys.
std::vector<double> all_key_times(const Clip& clip) {
  std::set<double> times;
  for (const Channel& channel : clip.channels) times.insert(channel.times.begin(), channel.times.end());
  return {times.begin(), times.end()};
}

/// Where the root stands in the rig's space before any placement.
Vec3 rest_place_of_root(const CharacterRig& rig) {
  if (rig.root() < 0) return Vec3::Zero();
  return world_matrix(rig.skeleton(), rest_pose(rig.skeleton()), rig.root()).translation();
}

using Cuts = std::span<const std::pair<double, double>>;

bool cut_between(Cuts cuts, double from, double to) {
  return std::any_of(cuts.begin(), cuts.end(), [&](const auto& cut) { return cut.first < to && from < cut.second; });
}

void copy_key(const Channel& from, std::size_t key, double time, Channel& to) {
  const auto width = static_cast<std::ptrdiff_t>(from.width);
  const auto first = from.values.begin() + static_cast<std::ptrdiff_t>(key) * width;
  to.times.push_back(time);
  to.values.insert(to.values.end(), first, first + width);
}

/// The mean of poses that lie near each other.
class PoseMean {
 public:
  explicit PoseMean(const PoseLayout& layout) : layout_(layout) {}

  void add(CharacterPose pose) {
    if (count_++ == 0) {
      sum_ = std::move(pose);
      return;
    }
    to_side_of(sum_.placement.rotation.coeffs().data(), pose.placement.rotation.coeffs().data());
    for (const ParameterGroup& group : layout_.groups)
      if (group.kind == ParameterKind::rotation) to_side_of(sum_.p.data() + group.first, pose.p.data() + group.first);
    sum_.placement.translation += pose.placement.translation;
    sum_.placement.rotation.coeffs() += pose.placement.rotation.coeffs();
    for (std::size_t k = 0; k < pose.p.size(); ++k) sum_.p[k] += pose.p[k];
  }
  void get(CharacterPose& pose) const {
    pose.placement = {sum_.placement.translation / count_, sum_.placement.rotation.normalized()};
    for (std::size_t k = 0; k < pose.p.size(); ++k) pose.p[k] = sum_.p[k] / count_;
    for (const ParameterGroup& group : layout_.groups)
      if (group.kind == ParameterKind::rotation) Eigen::Map<Eigen::Vector4d>(pose.p.data() + group.first).normalize();
  }

 private:
  /// q and −q are one rotation.
  static void to_side_of(const double* other, double* q) {
    Eigen::Map<Eigen::Vector4d> value(q);
    if (value.dot(Eigen::Map<const Eigen::Vector4d>(other)) < 0) value = -value;
  }

  const PoseLayout& layout_;
  CharacterPose sum_;
  int count_ = 0;
};

/// Each value is left at the next key, and the next one reached a little later.
Channel ease_steps(const Channel& channel, Cuts cuts) {
  Channel eased{channel.joint, channel.target, Interpolation::linear, channel.width, {}, {}};
  const std::vector<double>& times = channel.times;
  if (!times.empty()) copy_key(channel, 0, times[0], eased);
  for (std::size_t k = 1; k < times.size(); ++k) {
    const bool cut = cut_between(cuts, times[k] - moment, times[k]);
    const double leave = cut ? times[k] - moment / 2 : times[k];
    double reach = times[k] + (cut ? 0 : ease);
    if (k + 1 < times.size() && reach > times[k + 1] - moment) {
      const bool cut_next = cut_between(cuts, times[k + 1] - moment, times[k + 1]);
      reach = std::max(leave + moment / 4, times[k + 1] - (cut_next ? moment : 0));
    }
    // Where one step follows the other, the last value is reached just when it is left.
    if (leave > eased.times.back()) copy_key(channel, k - 1, leave, eased);
    if (reach > eased.times.back()) copy_key(channel, k, reach, eased);
  }
  return eased;
}

/// A key right after another that comes late comes later, but stays before the one that follows.
Channel ease_abrupt_lines(Channel channel, Cuts cuts) {
  std::vector<double>& times = channel.times;
  for (std::size_t k = 1; k + 1 < times.size(); ++k) {
    const double gap = times[k + 1] - times[k];
    const bool alone = times[k] - times[k - 1] > 4 * gap;
    if (!alone || gap > abrupt || cut_between(cuts, times[k], times[k + 1])) continue;
    const double room = k + 2 < times.size() ? 0.5 * (times[k + 2] - times[k]) : ease;
    times[k + 1] = std::max(times[k + 1], times[k] + std::min(ease, room));
  }
  return channel;
}

}  // namespace

Clip ease_jumps(const Clip& clip, Cuts cuts) {
  Clip eased{clip.name, clip.duration, {}};
  for (const Channel& channel : clip.channels) {
    if (channel.interpolation == Interpolation::step)
      eased.channels.push_back(ease_steps(channel, cuts));
    else if (channel.interpolation == Interpolation::linear)
      eased.channels.push_back(ease_abrupt_lines(channel, cuts));
    else
      eased.channels.push_back(channel);
  }
  return eased;
}

ClipMotion::ClipMotion(const CharacterRig& rig, const Clip& clip, bool loop, double height)
    : rig_(&rig),
      clip_(&clip),
      lean_(with_lean_keys(clip)),
      loop_(loop && clip.duration > first_key(clip)),
      start_(first_key(clip)) {
  const Vec3 root = rest_place_of_root(rig);
  CharacterPose before = rig.neutral();
  CharacterPose after = before;
  rig.sample(clip, start_, ClipWrap::hold, before);
  rig.sample(clip, clip.duration, ClipWrap::hold, after);
  round_ = after.placement * before.placement.inverse();
  // A key that steps has its jump between the last moment before it and itself.
  const std::vector<double> times = all_key_times(lean_);
  for (std::size_t k = 0; k + 1 < times.size(); ++k) {
    for (const auto& [from, to] : {std::pair{times[k], times[k + 1] - moment}, {times[k + 1] - moment, times[k + 1]}}) {
      if (to <= from) continue;
      rig.sample(clip, from, ClipWrap::hold, before);
      rig.sample(clip, to, ClipWrap::hold, after);
      const double seconds = std::max(to - from, 1.0 / 1000);
      const double moved = (after.placement * root - before.placement * root).norm() / height;
      const double turned = after.placement.rotation.angularDistance(before.placement.rotation);
      const double posed = pose_distance(rig.rig()->layout(), before.p, after.p);
      if (moved > std::max(0.25, fastest * seconds) || turned > std::max(1.0, fastest_turn * seconds) ||
          posed > std::max(farthest_pose, fastest_pose * seconds))
        cuts_.emplace_back(from, to);
    }
  }
  // The root goes on in a loop; limbs that end elsewhere than they began are put back.
  eased_ = ease_jumps(lean_, cuts_);
  rig.sample(clip, start_, ClipWrap::hold, before);
  rig.sample(eased_, clip.duration, ClipWrap::hold, after);
  if (loop_ && pose_distance(rig.rig()->layout(), before.p, after.p) > closed_loop)
    cuts_.emplace_back(clip.duration - moment, clip.duration);
  else if (loop_ && times.size() > 1)
    seam_ = 0.5 * std::min({times[1] - times[0], times.back() - times[times.size() - 2], 1.0 / 12});
  rounded_ = round_corners(eased_);
}

void ClipMotion::sample(double time, CharacterPose& pose) const {
  if (!loop_) {
    rig_->sample(rounded_, time, ClipWrap::hold, pose);
    return;
  }
  const double period = clip_->duration - start_;
  const double place = (time - start_) / period, from_seam = std::abs(place - std::round(place)) * period;
  if (from_seam < seam_)
    sample_seam(time, pose);
  else
    sample_round(rounded_, time, pose);
}

/// The mean of the motion around a moment, as round_corners() has it around the other keys.
void ClipMotion::sample_seam(double time, CharacterPose& pose) const {
  constexpr int points = 16;
  CharacterPose other = pose;
  PoseMean mean(rig_->rig()->layout());
  for (int k = 0; k < points; ++k) {
    sample_round(eased_, time + seam_ * ((2 * k + 1.0) / points - 1), other);
    mean.add(other);
  }
  mean.get(pose);
}

void ClipMotion::sample_round(const Clip& clip, double time, CharacterPose& pose) const {
  const double period = clip_->duration - start_;
  const double rounds = std::floor((time - start_) / period);
  rig_->sample(clip, time - rounds * period, ClipWrap::hold, pose);
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
  return cut_between(cuts_, from, to);
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
  if (pose_distance(layout, at[0].p, at[3].p) > closed_loop) return false;
  // Through the seam the pose must go on as it did: the way across is about the sum of both halves.
  const double before = pose_distance(layout, at[2].p, at[3].p);
  const double after = pose_distance(layout, at[0].p, at[1].p);
  const double across = pose_distance(layout, at[2].p, at[1].p);
  return across >= 0.7 * (before + after) - 0.02 * std::sqrt(static_cast<double>(layout.groups.size()));
}

}  // namespace supple
