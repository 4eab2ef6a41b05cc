// SPDX-License-Identifier: Apache-2.0
// Strangers' characters that jump, fall, strike and die: every clip of them, as it comes. No step breaks down, and
// flesh stays on the body.
#include "supple/pipeline/character/exaggeration.h"

#include <gtest/gtest.h>

namespace supple::violent_motion_test {
namespace {

class ViolentMotion : public testing::TestWithParam<const char*> {};

TEST_P(ViolentMotion, BreaksNoStepAndKeepsTheFleshOn) {
  const std::filesystem::path file = std::filesystem::path(SUPPLE_SHARED_DIR) / "assets/rigged" / GetParam();
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "no asset collection at " << file;
  Recipe recipe;
  recipe.input = file.string();
  recipe.tets = 2000;
  recipe.flesh.size = 24;
  Result<CharacterSource> source = load_source(recipe, "");
  ASSERT_TRUE(source.ok()) << source.error().message;
  const auto shared = std::make_shared<const CharacterSource>(std::move(*source));
  const Result<std::unique_ptr<SoftCharacter>> soft = find_engine("posespace").value()->build(shared);
  ASSERT_TRUE(soft.ok()) << soft.error().message;
  const double height = height_of(*shared);
  std::vector<Vec3> shown(to_size((*soft)->vertex_count()));
  double largest = 0;
  for (const Clip& clip : shared->character.clips) {
    SimulateSettings settings;
    settings.gain = (*soft)->exaggeration();
    settings.loop = closes(shared->rig, clip);
    const Result<TonedRun> toned = simulate_in_range(**soft, clip, settings);
    ASSERT_TRUE(toned.ok()) << toned.error().message;
    ClipRun* const run = toned->run.get();
    EXPECT_EQ(run->report().recovered, 0) << clip.name;
    for (double time = run->start(); time <= clip.duration; time += 1.0 / 60) {
      run->in_character(time, shown);
      double farthest = 0;
      for (const Vec3& u : shown) farthest = std::max(farthest, u.norm() / height);
      EXPECT_LT(farthest, 0.1) << clip.name << " at " << time << " s";
      largest = std::max(largest, farthest);
    }
  }
  RecordProperty("peak_percent", std::to_string(100 * largest));
  EXPECT_GT(largest, 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Collection, ViolentMotion,
                         testing::Values("khr_fox/Fox.glb", "quat_spider/Spider.glb",
                                         "quat_knightcharacter/KnightCharacter.glb", "quat_trex/Trex.glb",
                                         "godot_mannequiny/mannequiny.glb", "farm_cow/Cow.gltf", "farm_pig/Pig.gltf",
                                         "farm_sheep/Sheep.gltf", "quat_alpaca/Alpaca.glb", "quat_wolf/Wolf.glb",
                                         "quat_bull/Bull.glb", "quat_frog/Frog.glb", "kaykit_barbarian/Barbarian.glb",
                                         "three_robotexpressive/RobotExpressive.glb"),
                         [](const auto& info) {
                           const std::string name = info.param;
                           return name.substr(0, name.find('/'));
                         });

}  // namespace
}  // namespace supple::violent_motion_test
