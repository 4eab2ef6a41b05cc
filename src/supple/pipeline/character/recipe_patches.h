// SPDX-License-Identifier: Apache-2.0
// The patches that a recipe asks for, or those of the skeleton, and how many modes each gets.
#pragma once

#include "supple/offline/patches/patches.h"
#include "supple/pipeline/character/recipe_character.h"

namespace supple {

/// One handle per [[local]], in their order; without any, those of automatic_handles().
std::vector<PatchHandle> recipe_handles(const Recipe& recipe, const RecipeCharacter& prepared, const CharacterRig& rig,
                                        const EmbeddedBody& body);

/// Weights and modes. Those that the recipe counts get what it says; the others share what is left of `[flesh] size`,
/// by patch_importance(), and four at least. `compliance` as there. Fails as make_patches() does.
Result<Patches> recipe_patches(const Recipe& recipe, const RecipeCharacter& prepared, const CharacterRig& rig,
                               const EmbeddedBody& body, const VecX& compliance = {});

}  // namespace supple
