// SPDX-License-Identifier: Apache-2.0
// bake and init on plants that nobody prepared, and what they say to bad ones.
#include "samples/plants.h"
#include "run_cli.h"
#include "supple/export/posed_meshes.h"
#include "supple/io/gltf/read_character.h"
#include "supple/rig/pose.h"

#include <fmt/format.h>

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
  double open = 0, moved = 0, base = 0;
  for (std::size_t v = 0; v < first.size(); ++v) open = std::max(open, (last[v] - first[v]).norm());
  for (int k = 1; k < 10; ++k) {
    player.pose(clip, 0.1 * k * clip.duration);
    player.positions(middle);
    for (std::size_t v = 0; v < first.size(); ++v) {
      double& most = first[v].y() < 0.02 ? base : moved;
      most = std::max(most, (middle[v] - first[v]).norm());
    }
  }
  EXPECT_LT(open, 1e-5);
  EXPECT_GT(moved, 0.1);  // of 5 m
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

/// A stick of 3 cm × 40 cm × 3 cm that stands in the elbow of the example arm.
void spill_stick(const std::filesystem::path& file) {
  std::string text;
  for (int k = 0; k <= 10; ++k)
    for (const auto& [x, z] :
         {std::pair(0.285, -0.023), std::pair(0.315, -0.023), std::pair(0.315, 0.007), std::pair(0.285, 0.007)})
      text += fmt::format("v {} {} {}\n", x, 0.04 * k, z);
  for (int k = 0; k < 10; ++k)
    for (int c = 0; c < 4; ++c) {
      const int a = 4 * k + c + 1, b = 4 * k + (c + 1) % 4 + 1;
      text += fmt::format("f {} {} {}\nf {} {} {}\n", a, a + 4, b, b, a + 4, b + 4);
    }
  text += "f 1 2 3\nf 1 3 4\nf 41 43 42\nf 41 44 43\n";
  spill(file, text);
}

TEST_F(PlantsCli, FollowsABoneAndIsBuiltForGames) {
  ASSERT_EQ(supple({"example", "arm"}).code, 0);
  spill_stick(folder / "stick.obj");
  const std::string recipe =
      "input = \"stick.obj\"\n[plant]\nup = \"y\"\nfrequency = 2\ntets = 900\n"
      "[base]\ncharacter = \"arm.glb\"\nclip = \"flex\"\njoint = ";
  spill(folder / "stick.toml", recipe + "\"elbow\"\n");
  const CliRun baked = supple({"bake", "stick.toml", "-o", "stick.glb", "--json=stick.json"});
  ASSERT_EQ(baked.code, 0) << baked.err;
  EXPECT_EQ(json("stick.json")["loop_s"], 2);
  EXPECT_GT(json("stick.json")["largest_percent"].get<double>(), 0.5);  // it lags behind the bone

  // The held end goes where the bone goes.
  const auto posed = [&](const std::string& file, const std::string& name, double time) {
    const Result<GltfDocument> document = load_gltf(folder / file);
    const Result<RawCharacter> read = read_character(*document, {.require_skin = false});
    PosedMeshes player(*read, {});
    const auto clip =
        std::find_if(read->clips.begin(), read->clips.end(), [&](const Clip& c) { return c.name == name; });
    player.pose(*clip, time);
    std::vector<Vec3> x(to_size(player.vertex_count()));
    player.positions(x);
    Index elbow = find_joint(read->skeleton, "elbow");
    return std::pair(x, elbow < 0 ? Affine(Affine::Identity()) : player.joints()[to_size(elbow)]);
  };
  const auto [rest_x, rest_bone] = posed("arm.glb", "flex", 0);
  const auto [moved_x, bone] = posed("arm.glb", "flex", 0.8);
  const auto [stick_0, none] = posed("stick.glb", "wind", 0);
  const auto [stick, none_either] = posed("stick.glb", "wind", 0.8);
  EXPECT_GT((bone.linear() - rest_bone.linear()).norm(), 0.1);
  double base_error = 0, tip_error = 0;
  for (std::size_t v = 0; v < stick.size(); ++v) {
    const double off = (stick[v] - bone * (rest_bone.inverse() * stick_0[v])).norm();
    double& error = (rest_bone.inverse() * stick_0[v]).norm() < 0.05 ? base_error : tip_error;
    error = std::max(error, off);
  }
  EXPECT_LT(base_error, 0.01);
  EXPECT_GT(tip_error, base_error);

  spill(folder / "bad.toml", recipe + "\"elbo\"\n");
  const CliRun bad = supple({"bake", "bad.toml", "-o", "bad.glb"});
  EXPECT_EQ(bad.code, 3);
  EXPECT_NE(bad.err.find("did you mean \"elbow\"?"), std::string::npos) << bad.err;

  const CliRun built = supple({"build", "stick.toml", "-o", "stick.supple"});
  ASSERT_EQ(built.code, 0) << built.err;
  EXPECT_NE(supple({"inspect", "stick.supple"}).out.find("an object made of many parts"), std::string::npos);
}

TEST_F(PlantsCli, FindsWhichWayIsUp) {
  // Twelve blades of 30 cm in a row of 2 m: longer than high, but they all stand on one side.
  std::string y_up, z_up;
  for (int k = 0; k < 12; ++k) {
    const double at = 0.18 * k;
    for (const auto& [x, h] : {std::pair(-0.02, 0.0), std::pair(0.02, 0.0), std::pair(0.0, 0.3)}) {
      y_up += fmt::format("v {} {} {}\n", x, h, at);
      z_up += fmt::format("v {} {} {}\n", x, at, h);
    }
    for (std::string* text : {&y_up, &z_up}) *text += fmt::format("f {} {} {}\n", 3 * k + 1, 3 * k + 2, 3 * k + 3);
  }
  spill(folder / "y.obj", y_up);
  spill(folder / "z.obj", z_up);
  for (const char* up : {"y", "z"}) {
    const std::string file = std::string(up) + ".obj";
    const CliRun made = supple({"init", file});
    ASSERT_EQ(made.code, 0) << made.err;
    EXPECT_NE(slurp(folder / (std::string(up) + ".toml")).find(fmt::format("\nup = \"{}\"", up)), std::string::npos);
  }
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
