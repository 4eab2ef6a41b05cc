// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/recipe_character.h"

namespace supple {
namespace {

CharacterRigSettings rig_settings(const Recipe& recipe, const Skeleton& skeleton) {
  CharacterRigSettings settings;
  settings.method = recipe.dual_quaternions ? SkinningMethod::dual_quaternion : SkinningMethod::linear;
  for (const RecipeWire& wire : recipe.wires) {
    WireCurve curve{wire.name, {}};
    for (const std::string& handle : wire.handles) curve.joints.push_back(find_joint(skeleton, handle));
    settings.wires.push_back(std::move(curve));
  }
  return settings;
}

/// Where the file's own skin and morph target put the vertices in a corrected pose.
std::vector<Vec3> sculpted_shape(const RawCharacter& character, const CharacterRig& skin,
                                 const RecipePoseState& state) {
  CharacterPose pose = skin.neutral();
  skin.set_joints(state.locals, pose);
  for (const ParameterGroup& group : skin.rig()->layout().groups) {
    for (const CharacterMesh& mesh : character.meshes)
      if (group.name == mesh.name + "." + state.name) pose.p[to_size(group.first)] = 1;
  }
  return evaluate_all(*skin.rig(), pose.p);
}

Status correct_wires(const RecipeCharacter& prepared, CharacterRig& rig) {
  Result<CharacterRig> skin = CharacterRig::create(prepared.character);
  SUPPLE_RETURN_IF_ERROR(skin);
  std::vector<PoseCorrection> corrections;
  for (const RecipePoseState& state : prepared.poses) {
    if (!state.corrected) continue;
    CharacterPose pose = rig.neutral();
    rig.set_joints(state.locals, pose);
    corrections.push_back(correction_towards(*rig.rig(), pose.p, sculpted_shape(prepared.character, *skin, state)));
  }
  if (corrections.empty()) return {};
  return rig.correct(std::move(corrections));
}

}  // namespace

Result<CharacterRig> recipe_rig(const Recipe& recipe, const RecipeCharacter& prepared) {
  Result<CharacterRig> rig =
      CharacterRig::create(prepared.character, rig_settings(recipe, prepared.character.skeleton));
  if (rig.ok() && !recipe.wires.empty()) SUPPLE_RETURN_IF_ERROR(correct_wires(prepared, *rig));
  return rig;
}

}  // namespace supple
