// SPDX-License-Identifier: Apache-2.0
// A recipe followed to the end of the build: from the character's file to its soft body in r coordinates.
#pragma once

#include "supple/offline/posespace/reduce_body.h"
#include "supple/pipeline/character/recipe_character.h"

namespace supple {

struct BuildSeconds {
  double read = 0, embed = 0, reduce = 0;
};

struct BuiltCharacter {
  RecipeCharacter prepared;
  CharacterRig rig;
  RecipeBody body;
  ReducedBody reduced;
  BuildSeconds seconds;

  const RawCharacter& character() const { return prepared.character; }
};

Result<BuiltCharacter> build_character(const Recipe& recipe, const std::filesystem::path& folder,
                                       Progress& progress = Progress::silent(), StageStore& store = StageStore::none());

/// The last stage alone, for a recipe that differs in [flesh] only. `rest`: Φ of another reduction of the same body, to
/// be compared with it; null: as the recipe says.
Result<ReducedBody> reduce_character(const Recipe& recipe, const RecipeCharacter& prepared, const CharacterRig& rig,
                                     const RecipeBody& body, Progress& progress = Progress::silent(),
                                     StageStore& store = StageStore::none(), std::shared_ptr<const Rig> rest = {});

}  // namespace supple
