// SPDX-License-Identifier: Apache-2.0
// bake and init on plants that nobody prepared, and what they say to bad ones.
#include "samples/plants.h"
#include "run_cli.h"
#include "supple/export/posed_meshes.h"
#include "supple/io/gltf/read_character.h"

namespace supple::cli_plants_test {
namespace {

class PlantsCli : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    ASSERT_TRUE(samples::write_plant(folder / "tree.glb", samples::make_tree(2, 3)).ok());
  }

  nlohmann::json json(const std::string& name) const { return nlohmann::json::parse(slurp(folder / name)); }
};

TEST_F(PlantsCli, BakesATreeThatMovesAndLoops) {
  const CliRun baked = supple({"bake", "tree.glb", "-o", "wind.glb", "--tets", "900", "--json=bake.json"});
  ASSERT_EQ(baked.code, 0) << baked.err;
  EXPECT_NE(baked.out.find("9 pieces, 6 of them copies; 1 on the ground"), std::string::npos) << baked.out;
  const nlohmann::json facts = json("bake.json");
  EXPECT_GE(facts["domains"], 9);
  EXPECT_NEAR(facts["sway_percent"].get<double>(), 3, 0.5);
  EXPECT_LT(facts["loop_gap"].get<double>(), 0.01);
  EXPECT_LT(facts["morphs"]["largest_error_percent"].get<double>(), 0.21);

  // What a player makes of the file.
  const Result<GltfDocument> document = load_gltf(folder / "wind.glb");
  ASSERT_TRUE(document.ok()) << document.error().message;
  const Result<RawCharacter> plant = read_character(*document, {.require_skin = false});
  ASSERT_TRUE(plant.ok()) << plant.error().message;
  ASSERT_EQ(plant->clips.size(), 1U);
  PosedMeshes player(*plant, {});
  std::vector<Vec3> first(to_size(player.vertex_count())), last = first, middle = first;
  const Clip& clip = plant->clips[0];
  player.pose(clip, 0);
  player.positions(first);
  player.pose(clip, clip.duration);
  player.positions(last);
  player.pose(clip, 0.4 * clip.duration);
  player.positions(middle);
  double open = 0, moved = 0, base = 0;
  for (std::size_t v = 0; v < first.size(); ++v) {
    open = std::max(open, (last[v] - first[v]).norm());
    moved = std::max(moved, (middle[v] - first[v]).norm());
    if (first[v].y() < 0.02) base = std::max(base, (middle[v] - first[v]).norm());
  }
  EXPECT_LT(open, 1e-5);
  EXPECT_GT(moved, 0.05);
  EXPECT_LT(base, 0.01);
}

TEST_F(PlantsCli, InitWritesARecipeThatBakesTheSame) {
  const CliRun made = supple({"init", "tree.glb"});
  ASSERT_EQ(made.code, 0) << made.err;
  std::string text = slurp(folder / "tree.toml");
  EXPECT_NE(text.find("9 pieces, 6 of them copies"), std::string::npos);
  const auto put = [&](const std::string& from, const std::string& to) {
    ASSERT_NE(text.find(from), std::string::npos) << from;
    text.replace(text.find(from), from.size(), to);
  };
  put("# speed = 5", "speed = 4");
  put("tets = 9000", "tets = 900");
  put("period = 8", "period = 2");
  spill(folder / "tree.toml", text);
  const CliRun baked = supple({"bake", "tree.toml", "-o", "wind.glb", "--json=bake.json"});
  ASSERT_EQ(baked.code, 0) << baked.err;
  EXPECT_EQ(json("bake.json")["wind_m_s"], 4);
  EXPECT_EQ(json("bake.json")["loop_s"], 2);
}

TEST_F(PlantsCli, SaysWhatIsWrongInOneSentence) {
  const auto refused = [&](const std::string& text, const std::string& word) {
    spill(folder / "bad.toml", text);
    const CliRun bad = supple({"bake", "bad.toml", "-o", "bad.glb"});
    EXPECT_EQ(bad.code, 3) << text;
    EXPECT_NE(bad.err.find(word), std::string::npos) << bad.err;
    EXPECT_FALSE(std::filesystem::exists(folder / "bad.glb"));
  };
  refused("input = \"tree.glb\"\n[plant]\nsway = 90", "\"sway\" must be above 0 and at most 20");
  refused("input = \"tree.glb\"\n[plant]\nswai = 9", "did you mean \"sway\"?");
  refused("input = \"tree.glb\"\nscale = 0\n[plant]", "\"scale\" must be above 0");
  refused("input = \"none.glb\"\n[plant]", "none.glb");
  spill(folder / "flat.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n");
  refused("input = \"flat.obj\"\n[plant]", "no triangles with an area");
  const CliRun clip = supple({"bake", "tree.glb", "-o", "bad.glb", "--clip", "walk"});
  EXPECT_EQ(clip.code, 2);
  EXPECT_NE(clip.err.find("baked as a plant"), std::string::npos) << clip.err;
}

}  // namespace
}  // namespace supple::cli_plants_test
