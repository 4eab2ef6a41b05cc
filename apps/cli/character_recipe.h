// SPDX-License-Identifier: Apache-2.0
// The recipe we would follow for a character, and why.
#pragma once

#include "command.h"
#include "supple/pipeline/character/recipe_character.h"

namespace supple {

struct CharacterChoices {
  Recipe recipe;
  RecipeNotes notes;
  std::vector<std::string> summary;  ///< lines for people
  Json json = Json::object();
};

/// `input`: as the recipe names the file. Fails when the character can't be rigged.
Result<CharacterChoices> choose_for(const LoadedCharacter& loaded, const std::string& input, int tets);

/// A recipe and the folder its paths start from.
struct CharacterJob {
  Recipe recipe;
  std::filesystem::path folder;
};

/// `input`: a recipe (.toml), or a character, which gets the recipe we would choose.
Result<CharacterJob> job_for(const std::string& input);

}  // namespace supple
