// SPDX-License-Identifier: Apache-2.0
#include "supple/rig/pose_morphs.h"

#include <algorithm>

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

/// Places in p of the morph weights of that name, in any mesh.
std::vector<Index> places_of(const CharacterRig& rig, const std::string& target) {
  std::vector<Index> places;
  for (const CharacterRig::MorphSlot& slot : rig.morphs())
    for (const ParameterGroup& group : rig.rig()->layout().groups)
      if (group.first >= slot.first && group.first < slot.first + static_cast<Index>(slot.neutral.size()) &&
          ends_with_target(group.name, target))
        places.push_back(group.first);
  return places;
}

/// Which of the examples is this pose; it is added where none is.
Index place_among(std::vector<std::vector<double>>& examples, const PoseLayout& layout, const std::vector<double>& p) {
  const auto same = [&](const std::vector<double>& example) { return pose_distance(layout, example, p) < 1e-9; };
  const auto found = std::find_if(examples.begin(), examples.end(), same);
  const auto place = static_cast<Index>(found - examples.begin());
  if (found == examples.end()) examples.push_back(p);
  return place;
}

}  // namespace

Result<std::optional<PoseMorphs>> PoseMorphs::create(const CharacterRig& rig, std::span<const NamedPose> poses) {
  std::vector<std::vector<double>> examples = {rig.rig()->layout().neutral};
  std::vector<Follower> followers;
  const PoseLayout layout = joint_layout(rig);
  CharacterPose pose = rig.neutral();
  for (const NamedPose& named : poses) {
    rig.set_joints(named.locals, pose);
    const Index example = place_among(examples, layout, pose.p);
    if (!named.corrected) continue;
    for (const Index place : places_of(rig, named.name)) followers.push_back({place, example});
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

}  // namespace supple
