// SPDX-License-Identifier: Apache-2.0
// The recipe we would follow for a character, and why: what `supple init` writes and tells.
#pragma once

#include "command.h"
#include "supple/pipeline/character/character_source.h"

namespace supple {

struct RecipeProposal {
  Recipe recipe;
  RecipeNotes notes;
  std::vector<std::string> summary;  ///< lines for people
  Json json = Json::object();
};

/// `input`: as the recipe names the file. Fails when the character can't be rigged.
Result<RecipeProposal> propose_recipe(const CharacterFile& file, const std::string& input, int tets);

}  // namespace supple
