// SPDX-License-Identifier: Apache-2.0
#include "supple/rig/pose_morphs.h"

#include "supple/rig/motion/clip_motion.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace supple {
namespace {

/// The rig's layout, in which morph weights don't count.
PoseLayout joint_layout(const CharacterRig& rig) {
  PoseLayout layout = rig.rig()->layout();
  for (ParameterGroup& group : layout.groups)
    if (group.kind == ParameterKind::scalar) group.scale = 0;
  return layout;
}

/// The same, in which only these joints count, with one of these parts each. Fails where none of them is part of the
/// pose.
Result<PoseLayout> layout_of(const CharacterRig& rig, std::span<const Index> joints,
                             std::span<const std::string_view> parts) {
  PoseLayout layout = joint_layout(rig);
  bool any = false;
  for (ParameterGroup& group : layout.groups) {
    const bool counts = std::any_of(joints.begin(), joints.end(), [&](Index j) {
      const std::string& name = rig.skeleton().joints[to_size(j)].name;
      return std::any_of(parts.begin(), parts.end(),
                         [&](std::string_view part) { return group.name == name + std::string(part); });
    });
    if (!counts) group.scale = 0;
    any = any || (counts && group.scale > 0);
  }
  if (any) return layout;
  const std::string name = joints.empty() ? std::string() : rig.skeleton().joints[to_size(joints.front())].name;
  return input_error(
      "a correction follows the joint \"" + name +
      "\", which isn't part of the pose: it carries no skin, or it is the root; name the joint that bends");
}

constexpr std::string_view turning[] = {".rotation"};
constexpr std::string_view any_motion[] = {".rotation", ".translation", ".scale"};

/// The metric of poses of some joints, interpolated or reaching so far by themselves.
Result<PoseLayout> local_layout(const CharacterRig& rig, std::span<const Index> joints, bool alone) {
  return alone ? reach_layout(rig, joints) : layout_of(rig, joints, turning);
}

bool ends_with_target(const std::string& parameter, const std::string& target) {
  const std::string ending = "." + target;
  return parameter.size() > ending.size() && parameter.ends_with(ending);
}

/// Which of the examples is this pose; it is added where none is.
Index place_among(std::vector<std::vector<double>>& examples, const PoseLayout& layout, const std::vector<double>& p) {
  const auto same = [&](const std::vector<double>& example) { return pose_distance(layout, example, p) < 1e-9; };
  const auto found = std::find_if(examples.begin(), examples.end(), same);
  const auto place = static_cast<Index>(found - examples.begin());
  if (found == examples.end()) examples.push_back(p);
  return place;
}

/// The space of these joints, in any order; it is added, with the rest pose, where there is none.
Result<Index> local_examples(const CharacterRig& rig, std::vector<Index> joints, bool alone,
                             std::vector<PoseMorphs::LocalExamples>& local) {
  std::sort(joints.begin(), joints.end());
  const auto found = std::find_if(local.begin(), local.end(), [&](const PoseMorphs::LocalExamples& space) {
    return space.joints == joints && space.reaches.empty() != alone;
  });
  const auto place = static_cast<Index>(found - local.begin());
  if (found != local.end()) return place;
  const Result<PoseLayout> layout = local_layout(rig, joints, alone);
  SUPPLE_RETURN_IF_ERROR(layout);
  local.push_back({std::move(joints), {rig.rig()->layout().neutral}, {}});
  if (alone) local.back().reaches = {0};
  return place;
}

/// The example of a correction of some joints, with its space. Corrections that reach so far share an example where
/// pose and reach are the same.
Result<PoseMorphs::Follower> local_follower(const CharacterRig& rig, const NamedPose& named,
                                            const std::vector<double>& p,
                                            std::vector<PoseMorphs::LocalExamples>& local) {
  const bool alone = named.reach > 0;
  const Result<Index> space = local_examples(rig, named.joints, alone, local);
  SUPPLE_RETURN_IF_ERROR(space);
  PoseMorphs::LocalExamples& own = local[to_size(*space)];
  const Index example = place_among(own.poses, local_layout(rig, own.joints, alone).value(), p);
  if (alone && to_size(example) == own.reaches.size()) own.reaches.push_back(named.reach);
  return PoseMorphs::Follower{-1, example, *space + 1};
}

/// Among the poses of the whole body, that are interpolated together.
bool is_global(const NamedPose& named) { return named.joints.empty() && named.reach <= 0; }

const Channel* weights_channel(const Clip& clip, const CharacterRig::MorphSlot& slot) {
  const auto found = std::find_if(clip.channels.begin(), clip.channels.end(), [&](const Channel& channel) {
    return channel.target == ChannelTarget::weights && channel.joint == slot.node &&
           to_size(channel.width) == slot.neutral.size();
  });
  return found == clip.channels.end() ? nullptr : &*found;
}

bool holds(const CharacterRig::MorphSlot& slot, Index place) {
  return place >= slot.first && place < slot.first + static_cast<Index>(slot.neutral.size());
}

/// Tells whether the clip gives this weight any value but its neutral one.
bool moves_weight(const Clip& clip, const CharacterRig::MorphSlot& slot, Index place) {
  const Channel* channel = weights_channel(clip, slot);
  if (channel == nullptr) return false;
  const auto column = to_size(place - slot.first);
  for (std::size_t at = column; at < channel->values.size(); at += to_size(channel->width)) {
    const bool tangent = channel->interpolation == Interpolation::cubic && (at / to_size(channel->width)) % 3 != 1;
    if (std::abs(channel->values[at] - (tangent ? 0.0 : slot.neutral[column])) > 1e-6) return true;
  }
  return false;
}

/// Times of a new channel: `rate` times a second, and the keys that the old one has.
std::vector<double> times_of(const Clip& clip, const Channel* old, double rate) {
  const double first = std::min(first_key(clip), clip.duration);
  const auto keys = static_cast<std::size_t>(std::ceil((clip.duration - first) * rate - 1e-9)) + 1;
  std::vector<double> times;
  for (std::size_t k = 0; k < keys; ++k)
    times.push_back(std::min(first + static_cast<double>(k) / rate, clip.duration));
  if (old != nullptr) times.insert(times.end(), old->times.begin(), old->times.end());
  std::sort(times.begin(), times.end());
  // Files have times as floats: a clip that ends at 1.2 ends at 1.2000000477.
  const auto same = [](double a, double b) { return b - a < 1e-6 * std::max(1.0, b); };
  times.erase(std::unique(times.begin(), times.end(), same), times.end());
  return times;
}

}  // namespace

double reach_weight(double s) {
  const double rest = std::max(0.0, 1 - s * s);
  return rest * rest * rest;
}

Result<PoseLayout> reach_layout(const CharacterRig& rig, std::span<const Index> joints) {
  if (joints.empty()) return joint_layout(rig);
  return layout_of(rig, joints, any_motion);
}

std::vector<Index> morph_places(const CharacterRig& rig, const std::string& target) {
  std::vector<Index> places;
  for (const CharacterRig::MorphSlot& slot : rig.morphs())
    for (const ParameterGroup& group : rig.rig()->layout().groups)
      if (group.first >= slot.first && group.first < slot.first + static_cast<Index>(slot.neutral.size()) &&
          ends_with_target(group.name, target))
        places.push_back(group.first);
  return places;
}

Result<std::optional<PoseMorphs>> PoseMorphs::create(const CharacterRig& rig, std::span<const NamedPose> poses) {
  std::vector<std::vector<double>> examples = {rig.rig()->layout().neutral};
  std::vector<Follower> followers;
  const PoseLayout layout = joint_layout(rig);
  CharacterPose pose = rig.neutral();
  for (const NamedPose& named : poses) {
    if (!is_global(named)) continue;
    rig.set_joints(named.locals, pose);
    const Index example = place_among(examples, layout, pose.p);
    if (!named.corrected) continue;
    for (const Index place : morph_places(rig, named.name)) followers.push_back({place, example});
  }
  std::vector<LocalExamples> local;
  for (const NamedPose& named : poses) {
    // A rig without these targets, as wires are, corrects its poses by itself.
    const std::vector<Index> places = morph_places(rig, named.name);
    if (is_global(named) || (named.corrected && places.empty())) continue;
    rig.set_joints(named.locals, pose);
    Result<Follower> follower = local_follower(rig, named, pose.p, local);
    SUPPLE_RETURN_IF_ERROR(follower);
    if (!named.corrected) continue;
    for (const Index place : places) followers.push_back({place, follower->pose, follower->space});
  }
  if (followers.empty()) return std::optional<PoseMorphs>();
  Result<PoseMorphs> result = create(rig, std::move(examples), std::move(followers), std::move(local));
  SUPPLE_RETURN_IF_ERROR(result);
  return std::optional<PoseMorphs>(std::move(*result));
}

Result<PoseMorphs> PoseMorphs::create(const CharacterRig& rig, std::vector<std::vector<double>> examples,
                                      std::vector<Follower> followers, std::vector<LocalExamples> local) {
  Result<PoseSpaceWeights> weights = PoseSpaceWeights::create(joint_layout(rig), std::move(examples));
  SUPPLE_RETURN_IF_ERROR(weights);
  std::vector<LocalSpace> spaces;
  for (LocalExamples& space : local) {
    const bool alone = !space.reaches.empty();
    Result<PoseLayout> layout = local_layout(rig, space.joints, alone);
    SUPPLE_RETURN_IF_ERROR(layout);
    std::vector<double> reach = std::move(space.reaches);
    if (!alone)
      for (const std::vector<double>& p : space.poses) reach.push_back(pose_distance(*layout, space.poses.front(), p));
    Result<PoseSpaceWeights> own = PoseSpaceWeights::create(std::move(*layout), std::move(space.poses));
    SUPPLE_RETURN_IF_ERROR(own);
    spaces.push_back({std::move(space.joints), std::move(*own), std::move(reach), alone});
  }
  return PoseMorphs(std::move(*weights), std::move(followers), std::move(spaces));
}

std::size_t PoseMorphs::scratch_size() const {
  Index most = weights_.pose_count();
  for (const LocalSpace& space : local_) most = std::max(most, space.weights.pose_count());
  return 2 * to_size(most);
}

void PoseMorphs::apply(std::span<double> p, std::span<const char> held, std::span<double> scratch) const {
  const auto count = to_size(weights_.pose_count());
  const std::span<double> weights = scratch.first(count);
  weights_.evaluate(p, weights, scratch.subspan(count, count));
  for (std::size_t k = 0; k < followers_.size(); ++k)
    if (held[k] == 0 && followers_[k].space == 0)
      p[to_size(followers_[k].place)] = weights[to_size(followers_[k].pose)];
  for (std::size_t s = 0; s < local_.size(); ++s) apply_local(static_cast<Index>(s) + 1, p, held, scratch);
}

void PoseMorphs::apply_local(Index space, std::span<double> p, std::span<const char> held,
                             std::span<double> scratch) const {
  const LocalSpace& local = local_[to_size(space - 1)];
  const auto count = to_size(local.weights.pose_count());
  if (count < 2) return;
  // evaluate() leaves the distances to the poses behind.
  const std::span<double> weights = scratch.first(count), distance = scratch.subspan(count, count);
  local.weights.evaluate(p, weights, distance);
  for (std::size_t k = 0; k < followers_.size(); ++k) {
    if (held[k] != 0 || followers_[k].space != space) continue;
    const auto pose = to_size(followers_[k].pose);
    p[to_size(followers_[k].place)] = local_weight(local, pose, weights[pose], distance[pose]);
  }
}

double PoseMorphs::local_weight(const LocalSpace& local, std::size_t pose, double interpolated, double distance) {
  const double reach = local.reach[pose];
  if (!(reach > 0)) return 0;
  if (local.alone) return reach_weight(distance / reach);
  return std::max(0.0, std::min(interpolated, 1 - distance / reach));
}

void PoseMorphs::add_channels(const CharacterRig& rig, double rate, Clip& clip) const {
  std::vector<Channel> made;
  std::vector<char> held(followers_.size(), 0);
  std::vector<double> scratch(scratch_size());
  CharacterPose pose = rig.neutral();
  for (const CharacterRig::MorphSlot& slot : rig.morphs()) {
    bool follows = false;
    for (std::size_t k = 0; k < followers_.size(); ++k) {
      if (!holds(slot, followers_[k].place)) continue;
      held[k] = moves_weight(clip, slot, followers_[k].place) ? 1 : 0;
      follows = follows || held[k] == 0;
    }
    if (!follows) continue;
    Channel& channel = made.emplace_back();
    channel.joint = slot.node;
    channel.target = ChannelTarget::weights;
    channel.width = static_cast<int>(slot.neutral.size());
    channel.times = times_of(clip, weights_channel(clip, slot), rate);
    for (const double time : channel.times) {
      rig.sample(clip, time, ClipWrap::hold, pose);
      apply(pose.p, held, scratch);
      channel.values.insert(channel.values.end(), pose.p.begin() + slot.first,
                            pose.p.begin() + slot.first + channel.width);
    }
  }
  for (Channel& channel : made) {
    std::erase_if(clip.channels, [&](const Channel& old) {
      return old.target == ChannelTarget::weights && old.joint == channel.joint;
    });
    clip.channels.push_back(std::move(channel));
  }
}

}  // namespace supple
