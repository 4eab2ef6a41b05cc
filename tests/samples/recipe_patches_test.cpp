// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/build_posespace.h"

#include "samples/creatures.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace supple::recipe_patches_test {
namespace {

struct Built {
  RawCharacter character;
  CharacterRig rig;
  EmbeddedBody body;
};

Built build(std::string_view name, int tets) {
  const CreatureExample* example = find_creature_example(name);
  RawCharacter character = make_character(example->make(), 2000);
  CharacterRig rig = CharacterRig::create(character).value();
  EmbedSettings settings;
  settings.meshing.tets = tets;
  EmbeddedBody body = embed_character(character, rig, settings).value();
  return {std::move(character), std::move(rig), std::move(body)};
}

Recipe recipe_of(std::string_view name) {
  Recipe recipe;
  for (const CreaturePatch& patch : find_creature_example(name)->make().patches)
    recipe.locals.push_back({patch.name, patch.joints, {}, {}, patch.modes});
  return recipe;
}

int total_modes(const Patches& made) {
  int total = 0;
  for (const Patch& patch : made.patches) total += patch.modes;
  return total;
}

TEST(RecipePatches, TheGorillaHasThePapersSix) {
  const Built gorilla = build("gorilla", 4000);
  const Result<Patches> made = recipe_patches(recipe_of("gorilla"), gorilla.character, gorilla.rig, gorilla.body);
  ASSERT_TRUE(made.ok()) << made.error().message;
  ASSERT_EQ(made->patches.size(), 6u);
  EXPECT_EQ(total_modes(*made), 100);
  EXPECT_LT(made->report.largest_residual, 1e-4);
  // Arms stay on their own side.
  const auto named = [&](const std::string& name) -> const Patch& {
    return *std::find_if(made->patches.begin(), made->patches.end(), [&](const Patch& r) { return r.name == name; });
  };
  for (const Index v : named("left arm").vertices) EXPECT_GT(gorilla.body.mesh.vertices[to_size(v)].x(), -0.05);

  // The same ones are found without being told.
  Recipe silent;
  silent.flesh.size = 77;
  const Result<Patches> found = recipe_patches(silent, gorilla.character, gorilla.rig, gorilla.body);
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->patches.size(), 6u);
  EXPECT_EQ(total_modes(*found), 77);
  for (const Patch& patch : found->patches)
    EXPECT_LT((patch.weights - named(patch.name).weights).cwiseAbs().maxCoeff(), 1e-6) << patch.name;
}

TEST(RecipePatches, SomeCountedSomeShared) {
  const Built arm = build("arm", 2500);
  Recipe recipe = recipe_of("arm");
  recipe.locals[1].modes = 0;
  recipe.locals[2].modes = 0;
  recipe.flesh.size = 40;
  const Result<Patches> made = recipe_patches(recipe, arm.character, arm.rig, arm.body);
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(made->patches[0].modes, 15);
  EXPECT_EQ(total_modes(*made), 40);
  EXPECT_GE(made->patches[2].modes, 4);

  recipe.locals = {{"up", {}, {Vec3(-0.15, 0, 0)}, {}, 0}, {"out", {}, {}, {{Vec3(0.4, 0, 0), Vec3(0.6, 0, 0)}}, 0}};
  const Result<Patches> placed = recipe_patches(recipe, arm.character, arm.rig, arm.body);
  ASSERT_TRUE(placed.ok()) << placed.error().message;
  EXPECT_EQ(placed->patches.size(), 2u);
  EXPECT_EQ(total_modes(*placed), 40);
}

TEST(RecipePatches, TheXIsOne) {
  const Built x = build("x_shape", 2000);
  Recipe recipe;
  recipe.flesh.size = 45;
  const Result<Patches> made = recipe_patches(recipe, x.character, x.rig, x.body);
  ASSERT_TRUE(made.ok());
  ASSERT_EQ(made->patches.size(), 1u);
  EXPECT_EQ(made->patches[0].weights.minCoeff(), 1.0);
  EXPECT_EQ(made->patches[0].modes, 45);
}

}  // namespace
}  // namespace supple::recipe_patches_test
