// SPDX-License-Identifier: Apache-2.0
// The local regions that a recipe asks for, or those of the skeleton, and how many modes each gets.
#pragma once

#include "supple/offline/regions/regions.h"
#include "supple/pipeline/recipe_character.h"

namespace supple {

/// One handle per [[local]], in their order; without any, those of automatic_handles().
std::vector<RegionHandle> recipe_handles(const Recipe& recipe, const RecipeCharacter& prepared, const CharacterRig& rig,
                                         const EmbeddedBody& body);

/// Weights and modes. Those that the recipe counts get what it says; the others share what is left of `[flesh] size`,
/// by region_importance(), and four at least. `compliance` as there. Fails as make_regions() does.
Result<LocalRegions> recipe_regions(const Recipe& recipe, const RecipeCharacter& prepared, const CharacterRig& rig,
                                    const EmbeddedBody& body, const VecX& compliance = {});

}  // namespace supple
