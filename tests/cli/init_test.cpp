// SPDX-License-Identifier: Apache-2.0
#include "run_cli.h"
#include "supple/pipeline/character/character_source.h"

namespace supple::cli_init_test {
namespace {

class InitCommand : public CliTest {};

TEST_F(InitCommand, WritesARecipeThatCanBeFollowed) {
  supple_json({"example", "mascot", "-o", "in"});
  const nlohmann::json result = supple_json({"init", "in/mascot.glb", "-o", "soft.toml", "--tets", "1500"});
  EXPECT_EQ(result["recipe"], "soft.toml");
  EXPECT_EQ(result["clips"].size(), 3u);
  EXPECT_EQ(result["attributes"], nlohmann::json({"color"}));
  ASSERT_EQ(result["hard_parts"].size(), 1u);  // eyes and claws
  EXPECT_EQ(result["hard_parts"][0], "mascot_details (all of it)");

  const Result<Recipe> recipe = load_recipe(path("soft.toml"));
  ASSERT_TRUE(recipe.ok()) << recipe.error().message;
  EXPECT_EQ(recipe->input, "in/mascot.glb");
  EXPECT_EQ(recipe->tets, 1500);
  EXPECT_EQ(recipe->clips, (std::vector<std::string>{"walk", "hop", "wave"}));
  const Result<CharacterSource> prepared = load_source(*recipe, folder);
  ASSERT_TRUE(prepared.ok()) << prepared.error().message;
  EXPECT_EQ(prepared->character.clips.size(), 3u);
}

TEST_F(InitCommand, ExamplesGetTheSameRecipe) {
  supple_json({"example", "arm"});
  const std::string own = slurp(path("arm.toml"));
  EXPECT_NE(own.find("# A human arm"), std::string::npos);
  const std::size_t tets = to_size(load_recipe(path("arm.toml")).value().tets);
  supple_json({"init", "arm.glb", "--force", "--tets", std::to_string(tets)});
  // But for the line that says what it is, how often it sways, and its parts with bases of their own, which only its
  // makers know.
  const auto without_regions = [](std::string text) {
    const std::size_t soft = text.find("# How soft: the flesh"), poisson = text.find("# Poisson's ratio");
    if (soft < poisson) text.erase(soft, poisson - soft);
    const std::size_t local = text.find("local = ");
    text.erase(local, text.find('\n', local) - local);
    const std::size_t from = text.find("# Parts of the body"), to = text.find("# To make parts softer");
    EXPECT_LT(from, to);
    return text.erase(from, to - from);
  };
  EXPECT_EQ(without_regions(slurp(path("arm.toml"))), without_regions(own.substr(own.find('\n') + 1)));
}

TEST_F(InitCommand, EveryKeyHasAComment) {
  supple_json({"example", "x_shape"});
  std::istringstream lines(slurp(path("x_shape.toml")));
  bool commented = false;
  for (std::string line; std::getline(lines, line);) {
    const bool key = line.find(" = ") != line.npos && line[0] != '#';
    if (key && line.rfind("name", 0) != 0) {
      EXPECT_TRUE(commented) << line;
    }
    commented = !line.empty() && line[0] == '#';
  }
}

TEST_F(InitCommand, KeepsWhatIsThere) {
  supple_json({"example", "x_shape"});
  spill(path("x_shape.toml"), "mine");
  expect_refusal({"init", "x_shape.glb"}, 2, "x_shape.toml exists already");
  EXPECT_EQ(slurp(path("x_shape.toml")), "mine");
  supple_json({"init", "x_shape.glb", "--force"});
  EXPECT_NE(slurp(path("x_shape.toml")), "mine");
}

TEST_F(InitCommand, TheExampleOfTheManualIsRead) {
  const std::string manual = slurp(SUPPLE_SOURCE_DIR "/docs/recipe.md");
  const std::size_t start = manual.find("```toml\n") + 8;
  spill(path("hero.glb"), "");
  spill(path("hero.toml"), manual.substr(start, manual.find("```", start) - start));
  const Result<Recipe> recipe = load_recipe(path("hero.toml"));
  ASSERT_TRUE(recipe.ok()) << recipe.error().message;
  EXPECT_EQ(recipe->paints.size(), 1u);
  EXPECT_EQ(recipe->poses.size(), 1u);
}

TEST_F(InitCommand, RefusesWhatIsNoCharacter) {
  expect_refusal({"init", "gone.glb"}, 3, "gone.glb");
  spill(path("broken.glb"), "glTF");
  expect_refusal({"init", "broken.glb"}, 3, "broken.glb");
  EXPECT_EQ(files(), (std::vector<std::string>{"broken.glb"}));
}

}  // namespace
}  // namespace supple::cli_init_test
