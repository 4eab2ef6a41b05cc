// SPDX-License-Identifier: Apache-2.0
// supple bake and supple compare as a user calls them, on a small copy of the mascot.
#include "cli/run_cli.h"
#include "supple/io/gltf/gltf_document.h"
#include "supple/io/gltf/read_character.h"
#include "supple/rig/character_rig.h"

#include <chrono>
#include <cmath>
#include <thread>

namespace supple::cli_bake_test {
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
  const nlohmann::json result = supple_json(
      quick({"bake", "mascot.glb", "-o", "soft.glb", "--clip", "hop", "--tolerance", "0.1", "--max-morphs", "96"}));
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

// What nobody has set is simulated in full where clips are short; the report says so, and both engines move it alike.
TEST_F(BakeCommand, ShortClipsAreBakedWithEveryVertexFree) {
  const std::vector<std::string> words = {"bake", "mascot.glb", "-o", "soft.glb", "--clip", "hop", "--tets", "800"};
  const nlohmann::json all = supple_json(words);
  EXPECT_EQ(all["engine"], "full");
  EXPECT_TRUE(all["clips"][0]["loop"]);
  EXPECT_LT(all["clips"][0]["loop_gap"].get<double>(), 1e-3);
  std::vector<std::string> drafted = words;
  drafted.insert(drafted.end(), {"--quality", "draft", "--force"});
  const nlohmann::json few = supple_json(drafted);
  EXPECT_EQ(few["engine"], "posespace");
  EXPECT_NEAR(few["clips"][0]["peak_percent"].get<double>() / all["clips"][0]["peak_percent"].get<double>(), 1, 0.3);
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
  // Rounding decides between elements that are as good: few coordinates with 3 % of cubature's error.
  EXPECT_NEAR(small / peak("large.toml"), 1, 0.03);
}

TEST_F(BakeCommand, WritesEveryFormat) {
  for (const std::string format : {"pc2", "mdd", "exr", "png"}) {
    const nlohmann::json result = supple_json(quick(
        {"bake", "mascot.glb", "-o", format, "--format", format, "--clip", "walk", "--rate", "10", "--to", "0.3"}));
    ASSERT_FALSE(result["files"].empty()) << format;
    for (const auto& file : result["files"])
      EXPECT_TRUE(std::filesystem::exists(path(file.get<std::string>()))) << file;
  }
  // A few bones: fitting the usual number takes longer than all else here.
  EXPECT_EQ(
      supple(quick({"bake", "mascot.glb", "-o", "bones.glb", "--helper-bones", "4", "--clip", "walk", "--rate", "20"}))
          .code,
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

// Stopped at any moment: what was there before is there still, and nothing else.
TEST_F(BakeCommand, InterruptLeavesThingsAsTheyWere) {
  spill(path("soft.glb"), "precious");
  const std::vector<std::string> before = files();
  int stopped = 0;
  for (const int milliseconds : {60, 300, 900, 2000}) {
    for (const std::string format : {"glb", "pc2"}) {
      const pid_t child = start({"bake", "mascot.glb", "-o", format == "glb" ? "soft.glb" : "caches", "--format",
                                 format, "--tets", "12000", "--size", "45", "--no-cache"});
      std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
      ::kill(child, SIGINT);
      const CliRun run = finish(child);
      if (run.code == 0) continue;  // too late: all is written
      ++stopped;
      EXPECT_EQ(run.code, 130) << milliseconds;
      EXPECT_EQ(run.out, "");
      EXPECT_NE(run.err.find("stopped"), std::string::npos) << run.err;
      EXPECT_EQ(files(), before) << milliseconds;
      EXPECT_EQ(slurp(path("soft.glb")), "precious");
    }
  }
  EXPECT_GE(stopped, 4);
}

// Of several, those that were done stay, and those that come later aren't begun.
TEST_F(BakeCommand, InterruptEndsTheWholeList) {
  std::filesystem::copy_file(path("mascot.glb"), path("second.glb"));
  std::filesystem::copy_file(path("mascot.glb"), path("third.glb"));
  const pid_t child = start(quick(
      {"bake", "mascot.glb", "second.glb", "third.glb", "-o", "out", "--clip", "walk", "--to", "0.2", "--no-cache"}));
  for (int k = 0; k < 2400 && !std::filesystem::exists(path("out/mascot_soft.glb")); ++k)
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
  ::kill(child, SIGINT);
  const CliRun run = finish(child);
  EXPECT_EQ(run.code, 130);
  EXPECT_TRUE(load_gltf(path("out/mascot_soft.glb")).ok());
  EXPECT_FALSE(std::filesystem::exists(path("out/third_soft.glb")));
  for (const std::string& file : files()) EXPECT_EQ(file.find("/."), std::string::npos) << file;
}

// The whole road, from the mesh to the compressed file, gives the same bits on one thread and on two.
TEST_F(BakeCommand, ThreadsDoNotChangeABit) {
  for (const std::string threads : {"1", "2"})
    ASSERT_EQ(supple(quick({"bake", "mascot.glb", "-o", threads + ".glb", "--clip", "hop", "--threads", threads,
                            "--no-cache"}))
                  .code,
              0);
  const std::string one = slurp(path("1.glb"));
  EXPECT_GT(one.size(), 10000u);
  EXPECT_TRUE(one == slurp(path("2.glb")));
}

TEST_F(BakeCommand, ComparesWithTheFullSimulation) {
  const nlohmann::json result = supple_json({"compare", "mascot.glb", "--tets", "1500", "--sizes", "6,30", "--clip",
                                             "walk", "--seconds", "0.3", "--plain-drive"});
  ASSERT_EQ(result["rows"].size(), 2u);
  const double coarse = result["rows"][0]["error"], fine = result["rows"][1]["error"];
  EXPECT_LT(fine, coarse);
  EXPECT_LT(fine, 0.5);
  EXPECT_LT(result["rows"][1]["projection_error"].get<double>(), fine + 1e-9);
}

// Flesh is judged by the motion that a bake shows, not by a gentler one.
TEST_F(BakeCommand, ComparesWhatABakeShows) {
  spill(folder / "mascot.toml", "input = \"mascot.glb\"\n[body]\ntets = 1500\n[flesh]\nsize = 12\n");
  const auto compare = [&](std::vector<std::string> words) {
    words.insert(words.begin(),
                 {"compare", "mascot.toml", "--sizes", "12", "--clip", "walk", "--seconds", "0.6", "--known-only"});
    return supple_json(words);
  };
  const nlohmann::json baked = supple_json({"bake", "mascot.toml", "-o", "soft.glb", "--clip", "walk"});
  const nlohmann::json shown = compare({});
  const nlohmann::json plain = compare({"--plain-drive"});
  EXPECT_EQ(plain["exaggeration"], 1);
  const double gain = shown["exaggeration"];
  ASSERT_GT(std::abs(std::log(gain)), 0.1) << "a clip that is shown as it is tells nothing";
  EXPECT_EQ(gain > 1, shown["peak"].get<double>() > plain["peak"].get<double>());
  // A bake's first moments are those of a loop; the truth starts at rest.
  EXPECT_NEAR(100 * shown["peak"].get<double>() / baked["clips"][0]["peak_percent"].get<double>(), 1, 0.4);
}

TEST_F(BakeCommand, CompareTellsTheErrorOfTheTruthItself) {
  const nlohmann::json result =
      supple_json({"compare", "mascot.glb", "--tets", "800", "--sizes", "6", "--clip", "walk", "--seconds", "0.3",
                   "--step", "0.002", "--known-only", "--truth", "--plain-drive"});
  const double half = result["truth_error"], quarter = result["truth_error_quarter"];
  // Errors of second order: a quarter of the step takes away 15/16 of them, half of it 3/4.
  EXPECT_GT(half, 1e-4);
  EXPECT_LT(half, 0.01);
  EXPECT_GT(quarter, half);
  EXPECT_LT(quarter, 1.6 * half);
  EXPECT_LT(result["truth_error_newton"].get<double>(), 0.2 * half);
}

// Flesh that is left behind by more than the character's size is no truth to measure anything by.
TEST_F(BakeCommand, CompareRefusesATruthThatFliesApart) {
  spill(path("thrown.toml"),
        "input = \"mascot.glb\"\nclips = []\n[body]\ntets = 800\n[flesh]\nsize = 6\nlimit = false\n[material]\nyoung = "
        "1\n[[keyframes]]\n"
        "name = \"thrown\"\n[[keyframes.key]]\njoint = \"root\"\ntime = 0\ntranslation = [0, 0, 0]\n"
        "[[keyframes.key]]\njoint = \"root\"\ntime = 0.1\ntranslation = [0, 0, 0]\n"
        "[[keyframes.key]]\njoint = \"root\"\ntime = 0.6\ntranslation = [0, 10, 0]\n");
  const std::vector<std::string> before = files();
  expect_refusal({"compare", "thrown.toml", "--clip", "thrown", "--known-only", "--plain-drive"}, 3,
                 "the full simulation of the clip \"thrown\" flew apart");
  EXPECT_EQ(files(), before);
}

}  // namespace
}  // namespace supple::cli_bake_test
