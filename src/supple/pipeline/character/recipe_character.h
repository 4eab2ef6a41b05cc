// SPDX-License-Identifier: Apache-2.0
// A recipe followed as far as the embedded body: the character with all of its clips and poses, and the tetrahedra
// around it with their materials. Baking starts from here.
#pragma once

#include "supple/offline/fitting/embedded_body.h"
#include "supple/pipeline/character/recipe.h"
#include "supple/rig/character_rig.h"
#include "supple/rig/example_pose.h"

namespace supple {

/// What a character's file offers: what `supple init` looks at.
struct LoadedCharacter {
  RawCharacter character;
  std::vector<ExamplePose> poses;  ///< that the file names
};
Result<LoadedCharacter> load_character(const std::filesystem::path& path);

struct RecipePoseState {
  std::string name;
  Pose locals;             ///< of all joints
  bool corrected = false;  ///< a morph target of the same name belongs to it
};

/// In metres; only meshes that take part; clips of the input, then motions, keyframes and reaches.
struct RecipeCharacter {
  RawCharacter character;
  std::vector<RecipePoseState> poses;
};
Result<RecipeCharacter> prepare_character(const Recipe& recipe, const std::filesystem::path& folder);

/// The rig as the recipe wants it. Skinning plays the morph targets that clips give weights to. Wires don't: there each
/// corrected pose of the recipe becomes a pose-space correction, which makes the rig the file's own shape in that pose.
Result<CharacterRig> recipe_rig(const Recipe& recipe, const RecipeCharacter& prepared);

/// The body with the recipe's materials and fixed vertices.
struct RecipeBody {
  EmbeddedBody body;
  ElasticMaterial base;
  /// Quantities painted in some pose, one column per [[pose]] of the recipe.
  std::vector<std::pair<PaintQuantity, PosePaint>> pose_paints;
};
Result<RecipeBody> embed_recipe(const Recipe& recipe, const std::filesystem::path& folder,
                                const RecipeCharacter& prepared, const CharacterRig& rig,
                                Progress& progress = Progress::silent(), StageStore& store = StageStore::none());

}  // namespace supple
