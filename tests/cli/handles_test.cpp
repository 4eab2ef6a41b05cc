// SPDX-License-Identifier: Apache-2.0
// Research rigs from their files to a baked one, with the command; and bodies of the user's own.
#include "cli/run_cli.h"

namespace supple::handles_test {
namespace {

class HandlesTest : public CliTest {
 protected:
  /// Bakes a recipe of some lines in the folder of an asset's files; false where the assets aren't there.
  bool bake(const std::string& name, const std::vector<std::string>& assets, const std::string& text) {
    for (const std::string& file : assets) {
      const std::string from = asset("handles/" + file);
      if (from.empty()) return false;
      std::filesystem::copy_file(from, folder / std::filesystem::path(file).filename());
    }
    spill(folder / (name + ".toml"), text + "\n[flesh]\nsize = 12\n");
    const nlohmann::json report = supple_json({"bake", name + ".toml", "-o", name + ".glb"});
    EXPECT_TRUE(std::filesystem::exists(folder / (name + ".glb")));
    EXPECT_EQ(report["clips"].size(), 1u) << report;
    EXPECT_GT(report["clips"][0]["peak_percent"].get<double>(), 0.01);
    EXPECT_LT(report["clips"][0]["peak_percent"].get<double>(), 30);
    EXPECT_EQ(report["clips"][0]["recovered_steps"].get<int>(), 0);
    return true;
  }
};

TEST_F(HandlesTest, TheElephantIsBakedFromItsExample) {
  if (!bake("elephant",
            {"cd_elephant/elephant.json", "cd_elephant/elephant.mesh", "cd_elephant/elephant.obj",
             "cd_elephant/elephant.tgf", "cd_elephant/elephant.dmat", "cd_elephant/elephant_anim.txt"},
            "input = \"elephant.obj\"\nscale = 0.02\n[rig]\nhandles = \"elephant.json\"\n[body]\nmesh = "
            "\"elephant.mesh\""))
    GTEST_SKIP() << "the shared assets aren't there";
  // What was written is a character like any other: it can be looked at and baked again.
  const nlohmann::json seen = supple_json({"inspect", "elephant.glb"});
  EXPECT_FALSE(seen.is_discarded());
}

TEST_F(HandlesTest, TheFishIsBaked) {
  if (!bake("fish", {"cd_fish/fish.mesh", "cd_fish/fish.tgf", "cd_fish/fish.dmat", "cd_fish/fish_anim.txt"},
            "input = \"fish.mesh\"\nscale = 0.1\n[rig]\nhandles = \"fish.tgf\"\nweights = \"fish.dmat\"\nmotions = "
            "[\"fish_anim.txt\"]\nrate = 100\n[body]\ntets = 1500"))
    GTEST_SKIP() << "the shared assets aren't there";
}

TEST_F(HandlesTest, TheFrogIsBakedWithWeightsOfOurOwn) {
  if (!bake("frog", {"cd_frog/frog.mesh", "cd_frog/frog.tgf", "cd_frog/frog_anim.txt"},
            "input = \"frog.mesh\"\nscale = 0.01\n[rig]\nhandles = \"frog.tgf\"\nmotions = [\"frog_anim.txt\"]\nrate = "
            "30\n[body]\ntets = 1500"))
    GTEST_SKIP() << "the shared assets aren't there";
}

TEST_F(HandlesTest, TheDolphinIsBakedInItsTexturedSkin) {
  if (!bake("dolphin", {"fc_dolphin/dolphin_tex.obj", "fc_dolphin/skeleton_rig.json", "fc_dolphin/anim_swim.json"},
            "input = \"dolphin_tex.obj\"\nscale = 0.01\n[rig]\nhandles = \"skeleton_rig.json\"\nmotions = "
            "[\"anim_swim.json\"]\nrate = 24\n[body]\ntets = 1500"))
    GTEST_SKIP() << "the shared assets aren't there";
}

TEST_F(HandlesTest, WhatIsNoBodyEndsWithThree) {
  const std::string fox = asset("rigged/khr_fox/Fox.glb");
  if (fox.empty()) GTEST_SKIP() << "the shared assets aren't there";
  std::filesystem::copy_file(fox, folder / "fox.glb");
  const std::string head = "input = \"fox.glb\"\n[body]\nmesh = ";
  ASSERT_EQ(supple({"convert", "fox.glb", "skin.obj"}).code, 0);
  spill(folder / "surface.toml", head + "\"skin.obj\"\n");
  expect_refusal({"bake", "surface.toml", "-o", "out.glb"}, 3, "line 3: skin.obj: the file holds a surface without");
  spill(folder / "cube.mesh",
        "MeshVersionFormatted 1\nDimension 3\nVertices\n4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\nTetrahedra\n1\n1 2 3 4 "
        "0\nEnd\n");
  spill(folder / "small.toml", head + "\"cube.mesh\"\n");
  expect_refusal({"bake", "small.toml", "-o", "out.glb"}, 3, "don't surround the skin");
}

}  // namespace
}  // namespace supple::handles_test
