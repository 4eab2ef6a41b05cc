// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/recipe_patches.h"

#include <algorithm>

namespace supple {
namespace {

constexpr int least_modes = 4;

void count_modes(const Recipe& recipe, const EmbeddedBody& body, const VecX& compliance, std::vector<Patch>& patches) {
  const std::vector<double> importance = patch_importance(body.mesh, body.fixed_vertices, patches, compliance);
  std::vector<double> open;
  int left = recipe.flesh.size;
  for (std::size_t k = 0; k < patches.size(); ++k) {
    patches[k].modes = k < recipe.locals.size() ? recipe.locals[k].modes : 0;
    left -= patches[k].modes;
    if (patches[k].modes == 0) open.push_back(importance[k]);
  }
  const int shared = std::max(left, least_modes * static_cast<int>(open.size()));
  const std::vector<int> modes =
      share_modes(open, open.size() == patches.size() ? recipe.flesh.size : shared, least_modes);
  auto next = modes.begin();
  for (Patch& patch : patches)
    if (patch.modes == 0) patch.modes = *next++;
}

}  // namespace

std::vector<PatchHandle> recipe_handles(const Recipe& recipe, const RecipeCharacter& prepared, const CharacterRig& rig,
                                        const EmbeddedBody& body) {
  if (recipe.locals.empty()) return automatic_handles(prepared.character, rig, body);
  std::vector<JointGroup> groups;
  for (const RecipeLocal& local : recipe.locals) {
    JointGroup& group = groups.emplace_back();
    group.name = local.name;
    for (const std::string& name : local.joints) group.joints.push_back(find_joint(rig.skeleton(), name));
  }
  std::vector<PatchHandle> handles = handles_of_groups(rig, body, groups);
  for (std::size_t k = 0; k < handles.size(); ++k) {
    const RecipeLocal& local = recipe.locals[k];
    handles[k].points.insert(handles[k].points.end(), local.points.begin(), local.points.end());
    handles[k].segments.insert(handles[k].segments.end(), local.segments.begin(), local.segments.end());
  }
  return handles;
}

Result<Patches> recipe_patches(const Recipe& recipe, const RecipeCharacter& prepared, const CharacterRig& rig,
                               const EmbeddedBody& body, const VecX& compliance) {
  Result<Patches> made = make_patches(body.mesh, recipe_handles(recipe, prepared, rig, body));
  if (made.ok()) count_modes(recipe, body, compliance, made->patches);
  return made;
}

}  // namespace supple
