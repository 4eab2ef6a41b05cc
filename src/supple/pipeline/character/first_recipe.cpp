// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/first_recipe.h"

#include "supple/rig/motion/joint_roles.h"

#include <algorithm>

namespace supple {

std::vector<std::string> skinned_joints(const RawCharacter& character) {
  std::vector<std::string> names;
  for (const Skin& skin : character.skins) {
    for (const Index j : skin.joints) {
      const std::string& name = character.skeleton.joints[to_size(j)].name;
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

Recipe first_recipe(const LoadedCharacter& loaded, const std::string& input, int tets) {
  Recipe recipe;
  recipe.input = input;
  recipe.tets = tets;
  if (!loaded.character.clips.empty()) {
    recipe.clips.emplace();
    for (const Clip& clip : loaded.character.clips) recipe.clips->push_back(clip.name);
  }
  for (const ExamplePose& pose : loaded.poses) recipe.poses.push_back({pose.name, "", 0});
  const std::vector<JointRole> roles = joint_roles(loaded.character.skeleton);
  const Index head = find_role(roles, {BodyPart::head, Side::centre, 0});
  const std::vector<std::string> joints = skinned_joints(loaded.character);
  if (head >= 0) {
    const std::string& name = loaded.character.skeleton.joints[to_size(head)].name;
    if (std::find(joints.begin(), joints.end(), name) != joints.end()) recipe.rigid.push_back(name);
  }
  return recipe;
}

}  // namespace supple
