// SPDX-License-Identifier: Apache-2.0
// Strangers' characters that jump, fall, strike and die: every clip of them, as it comes. No step breaks down, and
// flesh stays on the body.
#include "supple/pipeline/character/build_posespace.h"
#include "supple/pipeline/character/engine_posespace.h"

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
  const Result<BuiltCharacter> built = build_character(recipe, "");
  ASSERT_TRUE(built.ok()) << built.error().message;
  const PoseSpaceModel& model = *built->reduced.model;
  const MatX shown = surface_shape(model, 0, MatX::Identity(model.size(), model.size()));
  double largest = 0;
  for (const Clip& clip : built->character().clips) {
    for (const bool loop : {false, true}) {
      SimulateSettings settings;
      settings.loop = loop && closes(built->rig(), clip);
      if (loop && !settings.loop) continue;
      const Result<SimulatedClip> run = simulate_clip(built->reduced.model, built->reduced.flesh_frequency,
                                                      built->rig(), clip, settings, built->reduced.most_acceleration);
      ASSERT_TRUE(run.ok()) << run.error().message;
      EXPECT_EQ(run->recovered, 0) << clip.name;
      for (Eigen::Index k = 0; k < run->coordinates.cols(); k += 4) {
        const VecX u = shown * run->coordinates.col(k);
        const double farthest = std::sqrt(u.reshaped(3, u.size() / 3).colwise().squaredNorm().maxCoeff());
        EXPECT_LT(farthest, 0.12 * model.height) << clip.name;
        largest = std::max(largest, farthest / model.height);
      }
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
