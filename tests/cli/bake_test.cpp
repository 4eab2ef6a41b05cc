// SPDX-License-Identifier: Apache-2.0
// supple bake and supple compare as a user calls them, on a small copy of the mascot.
#include "cli/run_cli.h"
#include "supple/io/gltf/gltf_document.h"
#include "supple/io/gltf/read_character.h"
#include "supple/rig/character_rig.h"

namespace supple {
namespace {

class BakeCommand : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    ASSERT_EQ(supple({"example", "mascot", "-o", "."}).code, 0);
  }
  static std::vector<std::string> quick(std::vector<std::string> words) {
    words.insert(words.end(), {"--tets", "2000", "--size", "12"});
    return words;
  }
  RawCharacter read(const std::string& file) const {
    const Result<GltfDocument> document = load_gltf(path(file));
    EXPECT_TRUE(document.ok());
    return *read_character(*document);
  }
};

/// World positions of all vertices at a moment of a clip.
std::vector<Vec3> played(const RawCharacter& character, const std::string& name, double time) {
  const Result<CharacterRig> rig = CharacterRig::create(character);
  CharacterPose pose = rig->neutral();
  for (const Clip& clip : character.clips)
    if (clip.name == name) rig->sample(clip, time, ClipWrap::hold, pose);
  std::vector<Vec3> positions = evaluate_all(*rig->rig(), pose.p);
  for (Vec3& x : positions) x = pose.placement * x;
  return positions;
}

double largest_distance(const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
  double largest = 0;
  for (std::size_t v = 0; v < std::min(a.size(), b.size()); ++v) largest = std::max(largest, (a[v] - b[v]).norm());
  return largest;
}

TEST_F(BakeCommand, ThePlayedFileMovesAsFarAsTheReportSays) {
  const nlohmann::json result = supple_json(quick({"bake", "mascot.glb", "-o", "soft.glb", "--clip", "hop"}));
  ASSERT_EQ(result["clips"].size(), 1u);
  const nlohmann::json& clip = result["clips"][0];
  EXPECT_TRUE(clip["loop"]);
  EXPECT_EQ(clip["recovered_steps"], 0);
  EXPECT_LE(result["morphs"]["largest_error_percent"].get<double>(), 0.1);
  const RawCharacter before = read("mascot.glb"), after = read("soft.glb");
  EXPECT_EQ(after.clips.size(), before.clips.size());
  const double height = result["height_m"], peak = clip["peak_m"];
  EXPECT_GT(peak, 0.005 * height);
  EXPECT_LT(peak, 0.3 * height);
  const double time = clip["peak_time_s"];
  EXPECT_NEAR(largest_distance(played(before, "hop", time), played(after, "hop", time)), peak, 0.0015 * height);
  // A loop: the end is the start.
  const double end = clip["duration_s"];
  EXPECT_LT(largest_distance(played(after, "hop", 0), played(after, "hop", end)), 1e-4 * height + 0.002 * height);
  // Clips that weren't asked for play as before.
  EXPECT_LT(largest_distance(played(before, "wave", 1), played(after, "wave", 1)), 1e-5 * height);
}

TEST_F(BakeCommand, StartsSettledWithoutALoop) {
  ASSERT_EQ(supple(quick({"bake", "mascot.glb", "-o", "soft.glb", "--clip", "walk", "--loop", "none"})).code, 0);
  const RawCharacter before = read("mascot.glb"), after = read("soft.glb");
  EXPECT_LT(largest_distance(played(before, "walk", 0), played(after, "walk", 0)), 1e-3);
}

TEST_F(BakeCommand, SizeOfTheSceneDoesNotMatter) {
  spill(path("small.toml"), "input = \"mascot.glb\"\nscale = 0.01\n[body]\ntets = 2000\n[flesh]\nsize = 12\n");
  spill(path("large.toml"), "input = \"mascot.glb\"\nscale = 100\n[body]\ntets = 2000\n[flesh]\nsize = 12\n");
  const auto peak = [&](const std::string& recipe) {
    const nlohmann::json result = supple_json({"bake", recipe, "-o", "soft.glb", "--clip", "walk"});
    return result["clips"][0]["peak_percent"].get<double>();
  };
  const double small = peak("small.toml");
  EXPECT_NEAR(small / peak("large.toml"), 1, 0.01);
}

TEST_F(BakeCommand, WritesEveryFormat) {
  for (const std::string format : {"pc2", "mdd", "exr", "png"}) {
    const nlohmann::json result = supple_json(quick(
        {"bake", "mascot.glb", "-o", format, "--format", format, "--clip", "walk", "--rate", "10", "--to", "0.3"}));
    ASSERT_FALSE(result["files"].empty()) << format;
    for (const auto& file : result["files"])
      EXPECT_TRUE(std::filesystem::exists(path(file.get<std::string>()))) << file;
  }
  EXPECT_EQ(
      supple(quick({"bake", "mascot.glb", "-o", "bones.glb", "--helper-bones", "--clip", "walk", "--rate", "20"})).code,
      0);
}

TEST_F(BakeCommand, ManyFilesAndOneBadOne) {
  spill(path("broken.glb"), "glTF");
  const CliRun run = supple(quick({"bake", "mascot.glb", "broken.glb", "-o", "out", "--clip", "walk"}));
  EXPECT_EQ(run.code, 3);
  EXPECT_NE(run.err.find("broken.glb"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(path("out/mascot_soft.glb")));
}

TEST_F(BakeCommand, NonsenseIsRefusedAndLeavesNothing) {
  spill(path("bad.toml"), "input = \"mascot.glb\"\n[flesh]\ndampening = 3\n");
  spill(path("joint.toml"), "input = \"mascot.glb\"\n[[region]]\njoints = [\"belyl\"]\nsoftness = 2\n");
  const std::vector<std::string> before = files();
  expect_refusal({"bake", "mascot.glb", "-o", "soft.glb", "--clip", "wlak"}, 3, "walk");
  expect_refusal({"bake", "mascot.glb", "-o", "soft.obj"}, 2, "soft.obj");
  expect_refusal({"bake", "missing.glb", "-o", "soft.glb"}, 3, "missing.glb");
  expect_refusal({"bake", "bad.toml", "-o", "soft.glb"}, 3, "damping");
  expect_refusal({"bake", "joint.toml", "-o", "soft.glb"}, 3, "belyl");
  expect_refusal({"compare", "mascot.glb", "--clip", "wlak"}, 3, "wlak");
  EXPECT_EQ(files(), before);
}

TEST_F(BakeCommand, ComparesWithTheFullSimulation) {
  const nlohmann::json result =
      supple_json({"compare", "mascot.glb", "--tets", "1500", "--sizes", "6,30", "--clip", "walk", "--seconds", "0.3"});
  ASSERT_EQ(result["rows"].size(), 2u);
  const double coarse = result["rows"][0]["error"], fine = result["rows"][1]["error"];
  EXPECT_LT(fine, coarse);
  EXPECT_LT(fine, 0.5);
  EXPECT_LT(result["rows"][1]["projection_error"].get<double>(), fine + 1e-9);
}

}  // namespace
}  // namespace supple
