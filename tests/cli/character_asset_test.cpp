// SPDX-License-Identifier: Apache-2.0
// build, inspect and bake of a character's asset, and the cache behind them.
#include "run_cli.h"

namespace supple::cli_character_asset_test {
namespace {

using Words = std::vector<std::string>;

class CharacterAssetCli : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    ASSERT_EQ(supple({"example", "x_shape"}).code, 0);
    std::string recipe = slurp(folder / "x_shape.toml");
    replace(recipe, "tets", "800");
    replace(recipe, "size", "8");
    spill(folder / "x_shape.toml", recipe);
  }

  /// Sets the first line "KEY = …" of a recipe.
  static void replace(std::string& recipe, const std::string& key, const std::string& value) {
    const std::size_t at = recipe.find("\n" + key + " = ");
    ASSERT_NE(at, std::string::npos) << key;
    recipe.replace(at + 1, recipe.find('\n', at + 1) - at - 1, key + " = " + value);
  }
  void edit(const std::string& key, const std::string& value) const {
    std::string recipe = slurp(folder / "x_shape.toml");
    replace(recipe, key, value);
    spill(folder / "x_shape.toml", recipe);
  }
  bool same(const std::string& a, const std::string& b) const { return slurp(folder / a) == slurp(folder / b); }

  /// On one thread: what several threads find for a basis differs in its last bits from run to run.
  nlohmann::json build(const std::string& output, const Words& more = {}) const {
    Words words = {"build", "x_shape.toml", "-o", output, "--threads", "1"};
    words.insert(words.end(), more.begin(), more.end());
    return supple_json(words);
  }
};

const Words all_stages = {"basis", "character", "cubature", "exaggeration", "tets"};

TEST_F(CharacterAssetCli, ASecondBuildIsFoundAndTheSame) {
  const nlohmann::json first = build("a.supple"), second = build("b.supple");
  EXPECT_EQ(first["cache"]["made"], all_stages);
  EXPECT_EQ(first["cache"]["found"], Words());
  EXPECT_EQ(second["cache"]["made"], Words());
  EXPECT_EQ(second["cache"]["found"], (Words{"character", "exaggeration", "tets"}));
  EXPECT_TRUE(same("a.supple", "b.supple"));
  EXPECT_EQ(build("c.supple", {"--no-cache"})["cache"], nullptr);
  EXPECT_TRUE(same("a.supple", "c.supple"));
}

TEST_F(CharacterAssetCli, AChangeRebuildsOnlyWhatItTouches) {
  build("a.supple");
  edit("frequency", "3");
  const nlohmann::json softer = build("b.supple");
  EXPECT_EQ(softer["cache"]["found"], Words{"tets"});
  EXPECT_EQ(softer["cache"]["made"], (Words{"basis", "character", "cubature", "exaggeration"}));
  EXPECT_FALSE(same("a.supple", "b.supple"));
  // Damping and amount are no part of the model; how far flesh sways depends on the one, and the other comes on top.
  edit("feel", "\"natural\"\ndamping = 0.4");
  EXPECT_EQ(build("c.supple")["cache"]["made"], Words{"exaggeration"});
  edit("damping", "0.4\namount = 2");
  EXPECT_EQ(build("c.supple")["cache"]["made"], Words());
  edit("tets", "900");
  EXPECT_EQ(build("d.supple")["cache"]["made"], all_stages);
}

TEST_F(CharacterAssetCli, OutputsOfABakeRebuildNothing) {
  const nlohmann::json asset = build("x_shape.supple");
  const nlohmann::json baked =
      supple_json({"bake", "x_shape.toml", "-o", "a.glb", "--to", "0.5", "--rate", "12", "--threads", "1"});
  EXPECT_EQ(baked["cache"]["made"], Words());
  const nlohmann::json again = supple_json(
      {"bake", "x_shape.toml", "-o", "b.glb", "--to", "0.5", "--rate", "12", "--threads", "1", "--no-cache"});
  EXPECT_TRUE(same("a.glb", "b.glb"));
  const nlohmann::json shipped = supple_json({"bake", "x_shape.toml", "--asset", "x_shape.supple", "-o", "c.glb",
                                              "--to", "0.5", "--rate", "12", "--threads", "1"});
  EXPECT_TRUE(same("a.glb", "c.glb"));
}

TEST_F(CharacterAssetCli, DamagedEntriesAreRebuilt) {
  build("a.supple");
  for (const auto& entry : std::filesystem::directory_iterator(cache())) {
    const std::string bytes = slurp(entry.path());
    spill(entry.path(), bytes.substr(0, bytes.size() / 2));
  }
  EXPECT_EQ(build("b.supple")["cache"]["made"], all_stages);
  EXPECT_TRUE(same("a.supple", "b.supple"));
}

TEST_F(CharacterAssetCli, AnInterruptedBuildLeavesNothingWrong) {
  const pid_t child = start({"build", "x_shape.toml", "-o", "a.supple", "--threads", "1"});
  ::usleep(400'000);
  ::kill(child, SIGKILL);
  finish(child);
  EXPECT_FALSE(std::filesystem::exists(folder / "a.supple"));
  build("b.supple");
  build("c.supple", {"--no-cache"});
  EXPECT_TRUE(same("b.supple", "c.supple"));
}

TEST_F(CharacterAssetCli, TwoBuildsAtOnceBothEndRight) {
  const pid_t one = start({"build", "x_shape.toml", "-o", "a.supple", "--quiet", "--threads", "1"});
  const pid_t two = start({"build", "x_shape.toml", "-o", "b.supple", "--quiet", "--threads", "1"});
  EXPECT_EQ(finish(one).code, 0);
  EXPECT_EQ(finish(two).code, 0);
  EXPECT_TRUE(same("a.supple", "b.supple"));
  EXPECT_EQ(build("c.supple")["cache"]["made"], Words());
  EXPECT_TRUE(same("a.supple", "c.supple"));
}

TEST_F(CharacterAssetCli, InspectShowsWhatIsInside) {
  const nlohmann::json made = build("x_shape.supple");
  const nlohmann::json seen = supple_json({"inspect", "x_shape.supple"})["files"][0];
  EXPECT_EQ(seen["kind"], "character");
  EXPECT_EQ(seen["coordinates"], 8);
  EXPECT_EQ(seen["tets"], made["tets"]);
  EXPECT_EQ(seen["bytes"], made["bytes"]);
  EXPECT_EQ(seen["surface_vertices"], made["surface_vertices"]);
}

TEST_F(CharacterAssetCli, BadAssetsGetASentence) {
  build("x_shape.supple");
  const std::string good = slurp(folder / "x_shape.supple");
  std::string bad = good;
  bad[bad.size() / 2] = static_cast<char>(bad[bad.size() / 2] ^ 1);
  spill(folder / "bad.supple", bad);
  spill(folder / "cut.supple", good.substr(0, 1000));
  expect_refusal({"inspect", "bad.supple"}, 3, "damaged");
  expect_refusal({"inspect", "cut.supple"}, 3, "cut short");
  expect_refusal({"bake", "x_shape.glb", "--asset", "bad.supple", "-o", "x.glb"}, 3, "bad.supple");
  ASSERT_EQ(supple({"example", "arm"}).code, 0);
  expect_refusal({"bake", "arm.toml", "--asset", "x_shape.supple", "-o", "x.glb"}, 3, "x_shape.supple");
  expect_refusal({"bake", "x_shape.toml", "--asset", "x_shape.supple", "--size", "9", "-o", "x.glb"}, 2, "--size");
  expect_refusal({"build", "x_shape.toml", "--fix", "min-x", "-o", "x.supple"}, 2, "--fix");
  expect_refusal({"build", "x_shape.toml", "-o", "x.glb"}, 2, ".supple");
  EXPECT_FALSE(std::filesystem::exists(folder / "x.glb"));
}

/// The engine without reduction: built, looked at, and baked from its asset with the same bytes as without one.
TEST_F(CharacterAssetCli, TheFullSimulationIsAnEngine) {
  const nlohmann::json made = build("full.supple", {"--engine", "full"});
  EXPECT_EQ(made["engine"], "full");
  const nlohmann::json seen = supple_json({"inspect", "full.supple"})["files"][0];
  EXPECT_EQ(seen["kind"], "full");
  EXPECT_EQ(seen["tets"], made["tets"]);
  EXPECT_EQ(seen["bytes"], made["bytes"]);
  const auto bake = [&](Words words) {
    words.insert(words.begin(),
                 {"bake", "x_shape.toml", "--to", "0.4", "--rate", "12", "--threads", "1", "--tolerance", "0.001"});
    return supple_json(words);
  };
  const nlohmann::json built = bake({"--engine", "full", "-o", "a.glb"});
  bake({"--asset", "full.supple", "-o", "b.glb"});
  EXPECT_TRUE(same("a.glb", "b.glb"));
  const nlohmann::json reduced = bake({"-o", "c.glb"});
  EXPECT_FALSE(same("a.glb", "c.glb"));
  // Eight coordinates see the motion, if not all of it.
  for (std::size_t k = 0; k < built["clips"].size(); ++k) {
    const double truth = built["clips"][k]["peak_m"], few = reduced["clips"][k]["peak_m"];
    EXPECT_GT(truth, 0);
    EXPECT_NEAR(few / truth, 1, 0.5) << built["clips"][k]["name"];
  }
}

TEST_F(CharacterAssetCli, EnginesAreComparedWithEachOther) {
  const auto error = [&](const std::string& engine, const std::string& against) {
    return supple_json(
               {"compare", "x_shape.toml", "--engine", engine, "--against", against, "--seconds", "0.3"})["error"]
        .get<double>();
  };
  EXPECT_EQ(error("posespace", "posespace"), 0);
  EXPECT_EQ(error("full", "full"), 0);
  const double table = supple_json({"compare", "x_shape.toml", "--seconds", "0.3"})["rows"][0]["error"];
  EXPECT_NEAR(error("posespace", "full"), table, 0.1 * table + 0.005);
}

TEST_F(CharacterAssetCli, WrongEnginesAndAssetsGetASentence) {
  build("full.supple", {"--engine", "full"});
  const std::string typo = "there is no engine \"ful\"; did you mean \"full\"?";
  expect_refusal({"bake", "x_shape.toml", "--engine", "ful", "-o", "x.glb"}, 2, typo);
  expect_refusal({"build", "x_shape.toml", "--engine", "ful", "-o", "x.supple"}, 2, typo);
  expect_refusal({"compare", "x_shape.toml", "--against", "ful"}, 2, typo);
  expect_refusal({"bake", "x_shape.toml", "--asset", "full.supple", "--engine", "posespace", "-o", "x.glb"}, 2,
                 "holds the full simulation of a character");
  spill(folder / "scene.toml", "mesh = \"full.supple\"\n[solver]\nkind = \"static\"\n");
  expect_refusal({"simulate", "scene.toml"}, 3, "a deformable object is wanted here");
  ASSERT_EQ(supple({"build", "x_shape.glb", "--resolution", "6", "-o", "object.supple"}).code, 0);
  expect_refusal({"bake", "x_shape.toml", "--asset", "object.supple", "-o", "x.glb"}, 3,
                 "holds a deformable object, but a character is wanted here");
  EXPECT_FALSE(std::filesystem::exists(folder / "x.glb"));
}

}  // namespace
}  // namespace supple::cli_character_asset_test
