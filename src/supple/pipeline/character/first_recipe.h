// SPDX-License-Identifier: Apache-2.0
// The recipe that a character gets when nobody has written one: all of its clips and example poses, and a skull that
// doesn't sway.
#pragma once

#include "supple/pipeline/character/recipe_character.h"

namespace supple {

/// `input`: as the recipe names the file.
Recipe first_recipe(const LoadedCharacter& loaded, const std::string& input, int tets);

/// Names of the joints that hold skin, each once.
std::vector<std::string> skinned_joints(const RawCharacter& character);

}  // namespace supple
