// SPDX-License-Identifier: Apache-2.0
// supple correct: corrective shapes of poses, against what the quasistatic engine bakes in the same pose, and a bake by
// the pose-space engine that uses them.
#include "run_cli.h"
#include "supple/export/posed_meshes.h"
#include "supple/pipeline/character/engine.h"

namespace supple::cli_correct_test {
namespace {

class CorrectCli : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    ASSERT_EQ(supple({"example", "arm"}).code, 0);
  }
};

/// The character's vertices in the world at a moment of a clip, as players of its file have them, with its morph
/// targets or without.
std::vector<Vec3> played(const CharacterSource& source, const std::string& clip, double time, bool targets = true) {
  PosedMeshes meshes(source.character, {});
  std::vector<Vec3> x(to_size(meshes.vertex_count()));
  for (Clip own : source.character.clips) {
    if (own.name != clip) continue;
    if (!targets)
      std::erase_if(own.channels, [](const Channel& channel) { return channel.target == ChannelTarget::weights; });
    meshes.pose(own, time);
  }
  meshes.positions(x);
  return x;
}

TEST_F(CorrectCli, ThePoseIsWhereTheFleshComesToRest) {
  const nlohmann::json made =
      supple_json({"correct", "arm.glb", "--at", "flex:0.5", "--tets", "3000", "--no-cache", "-o", "fixed.glb"});
  const double height = made["height_m"];
  ASSERT_EQ(made["poses"].size(), 1u);
  EXPECT_TRUE(made["poses"][0]["converged"]);
  EXPECT_GT(made["poses"][0]["largest_m"], 0.002 * height);

  // The flesh in that pose, by the engine itself and without any morph target.
  Recipe recipe = load_recipe(path("fixed.toml")).value();
  ASSERT_EQ(recipe.corrections->size(), 1u);
  const auto file = std::make_shared<const CharacterSource>(load_source(path("arm.glb")).value());
  recipe.input = "arm.glb";
  recipe.corrections->clear();
  const auto plain = std::make_shared<const CharacterSource>(load_source(recipe, folder).value());
  const CharacterEngine* engine = find_engine("quasistatic").value();
  const auto soft = engine->build(plain).value();
  const Clip& flex = *std::find_if(plain->character.clips.begin(), plain->character.clips.end(),
                                   [](const Clip& clip) { return clip.name == "flex"; });
  SimulateSettings settings;
  settings.from = 0.5;
  settings.to = 0.5;
  const auto run = soft->simulate(flex, settings).value();
  std::vector<Vec3> moved(to_size(soft->vertex_count()));
  run->in_world(0.5, moved);

  const CharacterSource fixed = load_source(path("fixed.toml")).value();
  // Of what the file's own shapes show there the correction knows: the skin comes to be where the flesh is, once.
  const std::vector<Vec3> before = played(*file, "flex", 0.5, false), after = played(fixed, "flex", 0.5);
  ASSERT_EQ(before.size(), after.size());
  double apart = 0, largest = 0;
  for (std::size_t v = 0; v < after.size(); ++v) {
    apart = std::max(apart, (after[v] - before[v] - moved[v]).norm());
    largest = std::max(largest, moved[v].norm());
  }
  // Both are solved to the engine's tolerance from another start; half of it is where contact settled.
  EXPECT_LT(apart, 0.1 * largest);
  EXPECT_GT(largest, 0.002 * height);
  // At rest nothing is changed.
  PosedMeshes a(file->character, {}), b(fixed.character, {});
  std::vector<Vec3> still(after.size()), now(after.size());
  a.pose_at_rest();
  b.pose_at_rest();
  a.positions(still);
  b.positions(now);
  for (std::size_t v = 0; v < still.size(); ++v) EXPECT_LT((still[v] - now[v]).norm(), 1e-6 * height);
}

TEST_F(CorrectCli, ThePoseSpaceEngineBakesWithIt) {
  ASSERT_EQ(supple({"example", "x_shape"}).code, 0);
  supple_json({"correct", "x_shape.glb", "--at", "bend:0.25", "--tets", "1500", "--no-cache", "-o", "fixed.glb"});
  const nlohmann::json baked =
      supple_json({"bake", "fixed.toml", "--quality", "draft", "--no-cache", "-o", "soft.glb"});
  EXPECT_GT(baked["clips"][0]["peak_percent"], 0.01);
}

TEST_F(CorrectCli, WithoutAPoseItFindsWhereSkinEntersSkin) {
  const nlohmann::json made = supple_json({"correct", "arm.glb", "-o", "fixed.glb"});
  EXPECT_GT(made["contact"]["rig_before_percent"], 2);
  EXPECT_LT(made["contact"]["rig_after_percent"], 0.1 * made["contact"]["rig_before_percent"].get<double>());
  const CharacterSource fixed = load_source(path("fixed.toml")).value();
  ASSERT_TRUE(fixed.recipe.corrections);
  EXPECT_EQ(fixed.recipe.corrections->size(), made["contact"]["corrections"].size());
  EXPECT_GT(fixed.recipe.corrections->front().reach, 1);
}

TEST_F(CorrectCli, TellsWhatItCannotDo) {
  spill(folder / "no_pose.toml", "input = \"arm.glb\"\nclips = [\"reach\"]\n[body]\ntets = 1500\n");
  expect_refusal({"correct", "no_pose.toml", "-o", "fixed.glb", "--no-cache"}, 3, "no pose to resolve");
  expect_refusal({"correct", "arm.glb", "-o", "fixed.obj", "--at", "flex:0.5"}, 2, ".glb");
  expect_refusal({"correct", "arm.glb", "-o", "fixed.glb", "--at", "flex"}, 2, "run:0.25");
  expect_refusal({"correct", "arm.glb", "-o", "fixed.glb", "--at", "flax:0.5"}, 3, "flex");
  expect_refusal({"correct", "arm.glb", "-o", "fixed.glb", "--at", "flex:99"}, 3, "ends at");
  EXPECT_FALSE(std::filesystem::exists(folder / "fixed.glb"));
}

}  // namespace
}  // namespace supple::cli_correct_test
