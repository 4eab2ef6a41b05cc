// SPDX-License-Identifier: Apache-2.0
// The example characters as ordinary files: a model with its example poses, and what goes into its recipe.
#pragma once

#include "samples/creatures.h"
#include "supple/pipeline/character/recipe.h"

#include <filesystem>

namespace supple {

/// `character` as made from the creature, with its look and its example poses.
Status write_creature(const std::filesystem::path& file, const Creature& creature, const RawCharacter& character);
/// What a creature adds to the recipe that was chosen for its file: details left out, wires, patches.
void add_creature_choices(const Creature& creature, const RawCharacter& character, Recipe& recipe);

}  // namespace supple
