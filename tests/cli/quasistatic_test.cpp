// SPDX-License-Identifier: Apache-2.0
// --engine quasistatic from the command line: bake, asset, parts of a clip.
#include "run_cli.h"
#include "supple/base/types.h"

#include <fmt/format.h>

namespace supple::cli_quasistatic_test {
namespace {

using Words = std::vector<std::string>;

class QuasistaticCli : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    ASSERT_EQ(supple({"example", "x_shape"}).code, 0);
  }
  nlohmann::json bake(const Words& more) const {
    Words words = {"bake", "x_shape.glb", "--engine", "quasistatic", "--tets", "1500", "--no-cache"};
    words.insert(words.end(), more.begin(), more.end());
    return supple_json(words);
  }
  /// Frames of a point cache, without its header.
  std::string frames(const std::string& cache, std::size_t first, std::size_t count) const {
    for (const auto& entry : std::filesystem::directory_iterator(folder / cache)) {
      if (entry.path().extension() != ".pc2") continue;
      const std::string bytes = slurp(entry.path());
      std::int32_t points = 0;
      std::memcpy(&points, bytes.data() + 16, 4);
      const std::size_t size = 12 * static_cast<std::size_t>(points);
      return bytes.substr(32 + first * size, count * size);
    }
    return {};
  }
};

TEST_F(QuasistaticCli, BakesWithoutSettingsAndTellsWhatIsLeft) {
  const nlohmann::json baked = bake({"-o", "soft.glb"});
  EXPECT_TRUE(std::filesystem::exists(folder / "soft.glb"));
  ASSERT_FALSE(baked["clips"].empty());
  for (const auto& clip : baked["clips"]) {
    EXPECT_GT(clip["solved_frames"], 2);
    EXPECT_EQ(clip["recovered_steps"], 0);
    EXPECT_LE(clip["worst_residual"], 1e-5);
    EXPECT_GT(clip["peak_percent"], 0.1);
    EXPECT_LT(clip["worst_penetration_m"], 0.02 * baked["height_m"].get<double>());
  }
}

TEST_F(QuasistaticCli, AnAssetBakesTheSame) {
  ASSERT_EQ(supple({"build", "x_shape.glb", "--engine", "quasistatic", "--tets", "1500", "-o", "x.supple"}).code, 0);
  EXPECT_EQ(supple_json({"inspect", "x.supple"})["files"][0]["kind"], "quasistatic");
  bake({"-o", "a", "--format", "pc2", "--frames", "3:6"});
  supple_json({"bake", "x_shape.glb", "--asset", "x.supple", "-o", "b", "--format", "pc2", "--frames", "3:6"});
  EXPECT_FALSE(frames("a", 0, 4).empty());
  EXPECT_EQ(frames("a", 0, 4), frames("b", 0, 4));
}

TEST_F(QuasistaticCli, PartsHaveTheBitsOfTheWhole) {
  bake({"-o", "whole", "--format", "pc2", "--rate", "20"});
  bake({"-o", "part", "--format", "pc2", "--rate", "20", "--frames", "9:14", "--threads", "1"});
  EXPECT_EQ(frames("part", 0, 6).size(), frames("part", 0, 99).size());
  EXPECT_FALSE(frames("part", 0, 6).empty());
  EXPECT_EQ(frames("part", 0, 6), frames("whole", 9, 6));
}

TEST_F(QuasistaticCli, CollidersOfARecipeKeepFleshOut) {
  const auto bake_with = [&](const std::string& collider) {
    spill(folder / "r.toml", "input = \"x_shape.glb\"\n[body]\ntets = 1500\n" + collider);
    return Words{"bake", "r.toml", "--engine", "quasistatic", "--no-cache", "-o", "c.glb", "--frames", "0:1"};
  };
  const nlohmann::json free = supple_json(bake_with(""));
  const nlohmann::json far =
      supple_json(bake_with("[[collider]]\nshape = \"capsule\"\nat = [90, 0, 0]\nto = [90, 1, 0]\nradius = 0.5\n"));
  EXPECT_EQ(far["clips"][0]["rms_m"], free["clips"][0]["rms_m"]);
  const nlohmann::json pressed = supple_json(bake_with("[[collider]]\nshape = \"plane\"\nat = [0, 0.02, 0]\n"));
  EXPECT_NE(pressed["clips"][0]["rms_m"], free["clips"][0]["rms_m"]);
  expect_refusal(bake_with("[[collider]]\nshape = \"sphere\"\n"), 3, "radius");
  expect_refusal(bake_with("[[collider]]\nshape = \"cone\"\n"), 3, "capsule");
  expect_refusal(bake_with("[[collider]]\nshape = \"plane\"\nnormal = [0, 0, 0]\n"), 3, "direction");
}

/// A box around the origin as OBJ; `turned`: inside out; `faces`: of twelve triangles.
std::string box_obj(const Vec3& size, bool turned = false, std::size_t faces = 12) {
  std::string text;
  for (int k = 0; k < 8; ++k)
    text += fmt::format("v {} {} {}\n", (k & 1 ? 0.5 : -0.5) * size[0], (k & 2 ? 0.5 : -0.5) * size[1],
                        (k & 4 ? 0.5 : -0.5) * size[2]);
  const int corner[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                             {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  for (std::size_t f = 0; f < faces; ++f)
    text += fmt::format("f {} {} {}\n", corner[f][0] + 1, corner[f][turned ? 2 : 1] + 1, corner[f][turned ? 1 : 2] + 1);
  return text;
}

TEST_F(QuasistaticCli, MeshesCollideAsTheShapesThatTheyAre) {
  spill(folder / "box.obj", box_obj(Vec3(20, 4, 20)));
  spill(folder / "turned.obj", box_obj(Vec3(1, 1, 1), true));
  spill(folder / "open.obj", box_obj(Vec3(1, 1, 1), false, 11));
  const auto bake_with = [&](const std::string& collider) {
    spill(folder / "r.toml", "input = \"x_shape.glb\"\n[body]\ntets = 1500\n[[collider]]\n" + collider);
    return Words{"bake", "r.toml", "--engine", "quasistatic", "--no-cache", "-o", "c.glb", "--frames", "6:8"};
  };
  const auto rms = [&](const std::string& collider) {
    return supple_json(bake_with(collider))["clips"][0]["rms_m"].get<double>();
  };
  const std::string at = "at = [0, -2.45, 0]\n";
  const double box = rms("shape = \"box\"\nsize = [20, 4, 20]\n" + at);
  // Frames are solved to 1e-5 of what an edge takes, and rounding decides where in that they end.
  EXPECT_NEAR(rms("mesh = \"box.obj\"\n" + at), box, 1e-4 * box);
  EXPECT_NEAR(rms("mesh = \"box.obj\"\nscale = 0.5\nat = [0, -1.45, 0]\n"), box, 1e-4 * box);
  EXPECT_GT(std::abs(rms("shape = \"sphere\"\nradius = 0.1\nat = [90, 0, 0]\n") - box), 0.003 * box);
  // On a joint that moves away it presses less, or more.
  const double carried = rms("mesh = \"box.obj\"\njoint = \"up_7\"\n" + at);
  EXPECT_GT(std::abs(carried - box), 0.003 * box);
  expect_refusal(bake_with("mesh = \"turned.obj\"\n"), 3, "turned.obj");
  expect_refusal(bake_with("mesh = \"turned.obj\"\n"), 3, "inside out");
  expect_refusal(bake_with("mesh = \"open.obj\"\n"), 3, "the mesh is open");
  expect_refusal(bake_with("mesh = \"nowhere.obj\"\n"), 3, "nowhere.obj");
  expect_refusal(bake_with("mesh = \"box.obj\"\njoint = \"up_99\"\n"), 3, "up_99");
  expect_refusal(bake_with("mesh = \"box.obj\"\nradius = 2\n"), 3, "radius");
}

TEST_F(QuasistaticCli, FleshOfARecipeSwingsHoldsAndTurnsByWeightsOfItsOwn) {
  const auto words = [&](const std::string& flesh, const std::string& more = "") {
    spill(folder / "r.toml", "input = \"x_shape.glb\"\n[body]\ntets = 1500\n[flesh]\n" + flesh + more);
    return Words{"bake", "r.toml", "--engine", "quasistatic", "--no-cache", "-o", "c.glb", "--frames", "0:4"};
  };
  const auto rms = [&](const std::string& flesh, const std::string& more = "") {
    const nlohmann::json clip = supple_json(words(flesh, more))["clips"][0];
    EXPECT_EQ(clip["recovered_steps"], 0);
    return clip["rms_m"].get<double>();
  };
  const double still = rms("feel = \"natural\"\n");
  EXPECT_GT(std::abs(rms("inertia = true\n") - still), 0.01 * still);
  EXPECT_GT(std::abs(rms("turns = \"biharmonic\"\n") - still), 0.001 * still);
  const std::string plate = "[[collider]]\nshape = \"plane\"\nat = [0, -0.45, 0]\n";
  const double slippery = rms("", plate), rough = rms("", plate + "friction = 0.8\n");
  EXPECT_GT(std::abs(slippery - still), 0.001 * still);
  EXPECT_GT(std::abs(rough - slippery), 1e-4 * still);
  expect_refusal(words("friction = -1\n"), 3, "friction");
  expect_refusal(words("turns = \"bones\"\n"), 3, "biharmonic");
}

TEST_F(QuasistaticCli, PartsOfSwingingFleshHaveTheBitsOfTheWhole) {
  spill(folder / "r.toml", "input = \"x_shape.glb\"\n[body]\ntets = 1500\n[flesh]\ninertia = true\nfriction = 0.3\n");
  for (const std::string range : {"0:9", "6:9"})
    supple_json({"bake", "r.toml", "--engine", "quasistatic", "--no-cache", "-o", "f" + range.substr(0, 1), "--format",
                 "pc2", "--frames", range});
  EXPECT_FALSE(frames("f6", 0, 4).empty());
  EXPECT_EQ(frames("f6", 0, 4), frames("f0", 6, 4));
}

TEST_F(QuasistaticCli, AnElbowThatIsBentFarLeavesNoSkinInsideSkin) {
  ASSERT_EQ(supple({"example", "arm"}).code, 0);
  const nlohmann::json baked =
      supple_json({"bake", "arm.glb", "--engine", "quasistatic", "--clip", "flex", "--no-cache", "-o", "a.glb"});
  // A hundredth of the way from bone to skin, which is 0.062 m on average.
  EXPECT_LT(baked["clips"][0]["worst_contact_m"], 0.00062);
  EXPECT_GE(baked["clips"][0]["worst_penetration_m"], baked["clips"][0]["worst_contact_m"]);
  EXPECT_EQ(baked["clips"][0]["recovered_steps"], 0);
}

TEST_F(QuasistaticCli, TellsWhatIsWrongWithFrames) {
  const Words bake = {"bake", "x_shape.glb", "-o", "no.glb", "--tets", "1500", "--no-cache", "--frames"};
  const auto with = [&](const Words& more) {
    Words words = bake;
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  expect_refusal(with({"0:5"}), 2, "--engine quasistatic");
  expect_refusal(with({"5", "--engine", "quasistatic"}), 2, "0:23");
  expect_refusal(with({"0:99999", "--engine", "quasistatic"}), 3, "has frames 0 to");
}

}  // namespace
}  // namespace supple::cli_quasistatic_test
