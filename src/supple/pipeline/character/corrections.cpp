// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/corrections.h"

#include <fmt/format.h>

#include "supple/pipeline/character/corrective_names.h"
#include "supple/rig/motion/keyframes.h"
#include "supple/rig/motion/sample_clip.h"

#include <algorithm>
#include <numbers>

namespace supple {
namespace {

/// Of all meshes, each name once.
std::vector<MorphTarget> all_targets(const RawCharacter& character) {
  std::vector<MorphTarget> targets;
  for (const CharacterMesh& mesh : character.meshes)
    for (const MorphTarget& target : mesh.targets)
      if (std::none_of(targets.begin(), targets.end(), [&](const MorphTarget& t) { return t.name == target.name; }))
        targets.push_back({target.name, {}});
  return targets;
}

Error refused(const Recipe& recipe, const RecipeCorrection& correction, const std::string& fault) {
  return input_error(fmt::format("{}: the correction \"{}\" {}",
                                 recipe.source.place("morph target", correction.target, "the recipe"),
                                 correction.target, fault));
}

Result<std::vector<Index>> joints_named(const Recipe& recipe, const RecipeCorrection& correction,
                                        const Skeleton& skeleton) {
  std::vector<Index> joints;
  for (const std::string& name : correction.joints) {
    joints.push_back(find_joint(skeleton, name));
    if (joints.back() < 0) return no_such_thing(recipe, "joint", name, skeleton.joints);
  }
  return joints;
}

/// A moment of a clip: of all joints, or of those that the correction names.
Status pose_by_clip(const Recipe& recipe, const RecipeCorrection& correction, const RawCharacter& character,
                    RecipePoseState& state) {
  const auto clip = std::find_if(character.clips.begin(), character.clips.end(),
                                 [&](const Clip& other) { return other.name == correction.clip; });
  if (clip == character.clips.end()) return no_such_thing(recipe, "clip", correction.clip, character.clips);
  if (correction.time > clip->duration + 1e-9)
    return refused(recipe, correction,
                   fmt::format("is at {:g} s of the clip \"{}\", which ends at {:g} s", correction.time,
                               correction.clip, clip->duration));
  Pose moment = state.locals;
  sample_clip(*clip, correction.time, ClipWrap::hold, moment);
  if (state.joints.empty()) state.locals = moment;
  for (const Index j : state.joints) state.locals[to_size(j)] = moment[to_size(j)];
  return {};
}

Result<RecipePoseState> pose_of(const Recipe& recipe, const RecipeCorrection& correction,
                                const RawCharacter& character) {
  constexpr double least = std::numbers::pi / 180;
  const Skeleton& skeleton = character.skeleton;
  RecipePoseState state;
  state.name = correction.target;
  state.corrected = true;
  state.reach = correction.reach * std::numbers::pi / 180;
  state.locals = rest_pose(skeleton);
  Result<std::vector<Index>> joints = joints_named(recipe, correction, skeleton);
  SUPPLE_RETURN_IF_ERROR(joints);
  state.joints = std::move(*joints);
  if (!correction.clip.empty()) SUPPLE_RETURN_IF_ERROR(pose_by_clip(recipe, correction, character, state));
  for (std::size_t k = 0; k < correction.rotations.size(); ++k) {
    Quat& rotation = state.locals[to_size(state.joints[k])].rotation;
    rotation = rotation * euler_rotation(correction.rotations[k]);
  }
  const auto turned = [&](std::size_t j) {
    return state.locals[j].rotation.angularDistance(skeleton.joints[j].rest.rotation) > least;
  };
  bool any = false;
  for (std::size_t j = 0; j < state.locals.size(); ++j) any = any || turned(j);
  if (!any && !(state.reach > 0))
    return refused(recipe, correction,
                   "belongs to a pose that is the rest pose, or within a degree of it; turn its joints as they are in "
                   "the pose it was sculpted for");
  return state;
}

std::string told(const RecipeCorrection& correction) {
  const Vec3& r = correction.rotations.front();
  return fmt::format(
      "the morph target \"{}\" is taken as a correction of \"{}\" turned by [{:.3g}, {:.3g}, {:.3g}] "
      "degrees, as its name says; write \"correction = []\" if it isn't one",
      correction.target, correction.joints.front(), r[0], r[1], r[2]);
}

Status play(const CharacterRig& rig, std::span<const NamedPose> poses, std::span<Clip> clips) {
  constexpr double rate = 60;
  if (clips.empty()) return {};
  const Result<std::optional<PoseMorphs>> morphs = PoseMorphs::create(rig, poses);
  SUPPLE_RETURN_IF_ERROR(morphs);
  if (!*morphs) return {};
  for (Clip& clip : clips) (*morphs)->add_channels(rig, rate, clip);
  return {};
}

}  // namespace

Vec3 euler_degrees(const Quat& rotation) {
  const Mat3 r = rotation.toRotationMatrix();
  const double y = std::asin(std::clamp(-r(2, 0), -1.0, 1.0));
  const bool locked = std::abs(r(2, 0)) > 1 - 1e-12;
  const double x = locked ? std::atan2(-r(1, 2), r(1, 1)) : std::atan2(r(2, 1), r(2, 2));
  const double z = locked ? 0.0 : std::atan2(r(1, 0), r(0, 0));
  return Vec3(x, y, z) * (180 / std::numbers::pi);
}

std::vector<RecipeCorrection> recognise_corrections(const RawCharacter& character, std::span<const ExamplePose> poses,
                                                    std::vector<std::string>& remarks) {
  std::vector<RecipeCorrection> found;
  for (const MorphTarget& target : all_targets(character)) {
    if (std::any_of(poses.begin(), poses.end(), [&](const ExamplePose& pose) { return pose.name == target.name; }))
      continue;
    std::string remark;
    const std::optional<CorrectiveName> name = read_corrective_name(target.name, character.skeleton, remark);
    if (!remark.empty()) remarks.push_back(remark);
    if (!name) continue;
    std::optional<Vec3> axis;
    if (name->axis >= 0)
      axis = Vec3::Unit(name->axis);
    else
      axis = usual_axis(character.skeleton, name->joint, character.clips);
    const std::string& joint = character.skeleton.joints[to_size(name->joint)].name;
    if (!axis) {
      remarks.push_back(
          fmt::format("the morph target \"{}\" seems to correct \"{}\" turned by {:g} degrees, but nothing "
                      "tells the axis; say in a [[correction]] which",
                      target.name, joint, name->degrees));
      continue;
    }
    const Quat turn(Eigen::AngleAxisd(name->degrees * std::numbers::pi / 180, *axis));
    const Vec3 rotation = name->axis >= 0 ? Vec3(name->degrees * *axis) : euler_degrees(turn);
    found.push_back({target.name, {joint}, {rotation}, "", 0});
    remarks.push_back(told(found.back()));
  }
  return found;
}

Result<std::vector<RecipePoseState>> correction_poses(const Recipe& recipe, const RawCharacter& character,
                                                      std::span<const RecipePoseState> poses) {
  std::vector<RecipePoseState> states;
  if (!recipe.corrections) return states;
  const std::vector<MorphTarget> targets = all_targets(character);
  for (const RecipeCorrection& correction : *recipe.corrections) {
    const auto named = [&](const auto& thing) { return thing.name == correction.target; };
    if (std::none_of(targets.begin(), targets.end(), named))
      return no_such_thing(recipe, "morph target", correction.target, targets);
    if (std::any_of(poses.begin(), poses.end(),
                    [&](const RecipePoseState& pose) { return pose.corrected && named(pose); }))
      return refused(recipe, correction, "already belongs to the [[pose]] of the same name; leave one of them out");
    Result<RecipePoseState> state = pose_of(recipe, correction, character);
    SUPPLE_RETURN_IF_ERROR(state);
    states.push_back(std::move(*state));
  }
  return states;
}

Status add_corrections(std::span<const ExamplePose> in_file, Recipe& recipe, RawCharacter& character,
                       std::vector<RecipePoseState>& poses) {
  if (!recipe.corrections) {
    std::vector<RecipeCorrection> found = recognise_corrections(character, in_file, character.warnings);
    if (!found.empty()) recipe.corrections = std::move(found);
  }
  Result<std::vector<RecipePoseState>> added = correction_poses(recipe, character, poses);
  SUPPLE_RETURN_IF_ERROR(added);
  for (RecipePoseState& state : *added) poses.push_back(std::move(state));
  return {};
}

Status play_corrections(CharacterSource& source, std::size_t own_clips) {
  const std::vector<NamedPose> poses = named_poses(source);
  const auto reaches = [](const NamedPose& pose) { return pose.reach > 0; };
  const auto& corrections = source.recipe.corrections;
  // Corrections that reach so far are added to what the file's own clips make of its own shapes.
  const bool interpolated = corrections && !std::all_of(corrections->begin(), corrections->end(),
                                                        [](const RecipeCorrection& c) { return c.reach > 0; });
  if (interpolated) own_clips = 0;
  std::vector<NamedPose> added;
  std::copy_if(poses.begin(), poses.end(), std::back_inserter(added), reaches);
  std::vector<Clip>& clips = source.character.clips;
  const auto own = std::span(clips).first(own_clips);
  SUPPLE_RETURN_IF_ERROR(play(source.rig, added, own));
  return play(source.rig, poses, std::span(clips).subspan(own_clips));
}

}  // namespace supple
