// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/recipe_regions.h"

#include "scenes/creatures.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace supple {
namespace {

struct Built {
  RecipeCharacter prepared;
  CharacterRig rig;
  EmbeddedBody body;
};

Built build(std::string_view name, int tets) {
  const CreatureExample* example = find_creature_example(name);
  RecipeCharacter prepared{make_character(example->make(), 2000), {}};
  CharacterRig rig = CharacterRig::create(prepared.character).value();
  EmbedSettings settings;
  settings.meshing.tets = tets;
  EmbeddedBody body = embed_character(prepared.character, rig, settings).value();
  return {std::move(prepared), std::move(rig), std::move(body)};
}

Recipe recipe_of(std::string_view name) {
  Recipe recipe;
  for (const CreatureRegion& region : find_creature_example(name)->make().regions)
    recipe.locals.push_back({region.name, region.joints, {}, {}, region.modes});
  return recipe;
}

int total_modes(const LocalRegions& made) {
  int total = 0;
  for (const LocalRegion& region : made.regions) total += region.modes;
  return total;
}

TEST(RecipeRegions, TheGorillaHasThePapersSix) {
  const Built gorilla = build("gorilla", 4000);
  const Result<LocalRegions> made = recipe_regions(recipe_of("gorilla"), gorilla.prepared, gorilla.rig, gorilla.body);
  ASSERT_TRUE(made.ok()) << made.error().message;
  ASSERT_EQ(made->regions.size(), 6u);
  EXPECT_EQ(total_modes(*made), 100);
  EXPECT_LT(made->report.largest_residual, 1e-4);
  // Arms stay on their own side.
  const auto named = [&](const std::string& name) -> const LocalRegion& {
    return *std::find_if(made->regions.begin(), made->regions.end(),
                         [&](const LocalRegion& r) { return r.name == name; });
  };
  for (const Index v : named("left arm").vertices)
    EXPECT_GT(gorilla.body.mesh.vertices[static_cast<std::size_t>(v)].x(), -0.05);

  // The same ones are found without being told.
  Recipe silent;
  silent.flesh.size = 77;
  const Result<LocalRegions> found = recipe_regions(silent, gorilla.prepared, gorilla.rig, gorilla.body);
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->regions.size(), 6u);
  EXPECT_EQ(total_modes(*found), 77);
  for (const LocalRegion& region : found->regions)
    EXPECT_LT((region.weights - named(region.name).weights).cwiseAbs().maxCoeff(), 1e-6) << region.name;
}

TEST(RecipeRegions, SomeCountedSomeShared) {
  const Built arm = build("arm", 2500);
  Recipe recipe = recipe_of("arm");
  recipe.locals[1].modes = 0;
  recipe.locals[2].modes = 0;
  recipe.flesh.size = 40;
  const Result<LocalRegions> made = recipe_regions(recipe, arm.prepared, arm.rig, arm.body);
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(made->regions[0].modes, 15);
  EXPECT_EQ(total_modes(*made), 40);
  EXPECT_GE(made->regions[2].modes, 4);

  recipe.locals = {{"up", {}, {Vec3(-0.15, 0, 0)}, {}, 0}, {"out", {}, {}, {{Vec3(0.4, 0, 0), Vec3(0.6, 0, 0)}}, 0}};
  const Result<LocalRegions> placed = recipe_regions(recipe, arm.prepared, arm.rig, arm.body);
  ASSERT_TRUE(placed.ok()) << placed.error().message;
  EXPECT_EQ(placed->regions.size(), 2u);
  EXPECT_EQ(total_modes(*placed), 40);
}

TEST(RecipeRegions, TheXIsOne) {
  const Built x = build("x_shape", 2000);
  const Result<LocalRegions> made = recipe_regions({}, x.prepared, x.rig, x.body);
  ASSERT_TRUE(made.ok());
  ASSERT_EQ(made->regions.size(), 1u);
  EXPECT_EQ(made->regions[0].weights.minCoeff(), 1.0);
  EXPECT_EQ(made->regions[0].modes, RecipeFlesh{}.size);
}

}  // namespace
}  // namespace supple
