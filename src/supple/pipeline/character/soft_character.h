// SPDX-License-Identifier: Apache-2.0
// SoftCharacter: a recipe followed to its asset, beside the character it is for. Clips are simulated and baked from
// here. What comes out of a build has been through the asset's file format, so that it moves exactly as the shipped
// file does, and as it does when the build is found in a cache.
#pragma once

#include "supple/asset/character_asset.h"
#include "supple/pipeline/character/build_character.h"

namespace supple {

struct SoftCharacter {
  RecipeCharacter prepared;
  CharacterRig rig;
  CharacterAsset asset;
  BuildSeconds seconds;

  const RawCharacter& character() const { return prepared.character; }
};

/// Builds the asset, or finds it in the store.
Result<SoftCharacter> make_soft_character(const Recipe& recipe, const std::filesystem::path& folder,
                                          Progress& progress = Progress::silent(),
                                          StageStore& store = StageStore::none());

/// The recipe's character, with whatever clips it has now, and an asset that was built before. Fails where the asset is
/// for another character, or for another rig of it.
Result<SoftCharacter> dress_with_asset(const Recipe& recipe, const std::filesystem::path& folder, CharacterAsset asset);

}  // namespace supple
