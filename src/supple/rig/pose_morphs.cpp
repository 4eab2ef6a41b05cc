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

bool moves_weights(const Clip& clip, Index node) {
  return std::any_of(clip.channels.begin(), clip.channels.end(), [&](const Channel& channel) {
    return channel.target == ChannelTarget::weights && channel.joint == node;
  });
}

}  // namespace

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
    rig.set_joints(named.locals, pose);
    const Index example = place_among(examples, layout, pose.p);
    if (!named.corrected) continue;
    for (const Index place : morph_places(rig, named.name)) followers.push_back({place, example});
  }
  if (followers.empty()) return std::optional<PoseMorphs>();
  Result<PoseMorphs> result = create(rig, std::move(examples), std::move(followers));
  SUPPLE_RETURN_IF_ERROR(result);
  return std::optional<PoseMorphs>(std::move(*result));
}

Result<PoseMorphs> PoseMorphs::create(const CharacterRig& rig, std::vector<std::vector<double>> examples,
                                      std::vector<Follower> followers) {
  Result<PoseSpaceWeights> weights = PoseSpaceWeights::create(joint_layout(rig), std::move(examples));
  SUPPLE_RETURN_IF_ERROR(weights);
  return PoseMorphs(std::move(*weights), std::move(followers));
}

void PoseMorphs::apply(std::span<double> p, std::span<const char> held, std::span<double> scratch) const {
  const auto count = to_size(weights_.pose_count());
  const std::span<double> weights = scratch.first(count);
  weights_.evaluate(p, weights, scratch.subspan(count, count));
  for (std::size_t k = 0; k < followers_.size(); ++k)
    if (held[k] == 0) p[to_size(followers_[k].place)] = weights[to_size(followers_[k].pose)];
}

void PoseMorphs::add_channels(const CharacterRig& rig, double rate, Clip& clip) const {
  const double first = std::min(first_key(clip), clip.duration);
  const auto keys = static_cast<std::size_t>(std::ceil((clip.duration - first) * rate - 1e-9)) + 1;
  std::vector<Channel> channels;
  for (const CharacterRig::MorphSlot& slot : rig.morphs()) {
    const bool follows = std::any_of(followers_.begin(), followers_.end(), [&](const Follower& follower) {
      return follower.place >= slot.first && follower.place < slot.first + static_cast<Index>(slot.neutral.size());
    });
    if (follows && !moves_weights(clip, slot.node))
      channels.push_back(
          {slot.node, ChannelTarget::weights, Interpolation::linear, static_cast<int>(slot.neutral.size()), {}, {}});
  }
  CharacterPose pose = rig.neutral();
  const std::vector<char> held(followers_.size(), 0);
  std::vector<double> scratch(2 * to_size(weights_.pose_count()));
  for (std::size_t k = 0; k < keys && !channels.empty(); ++k) {
    const double time = std::min(first + static_cast<double>(k) / rate, clip.duration);
    rig.sample(clip, time, ClipWrap::hold, pose);
    apply(pose.p, held, scratch);
    for (Channel& channel : channels) {
      channel.times.push_back(time);
      for (const CharacterRig::MorphSlot& slot : rig.morphs())
        if (slot.node == channel.joint)
          channel.values.insert(channel.values.end(), pose.p.begin() + slot.first,
                                pose.p.begin() + slot.first + channel.width);
    }
  }
  std::move(channels.begin(), channels.end(), std::back_inserter(clip.channels));
}

}  // namespace supple
