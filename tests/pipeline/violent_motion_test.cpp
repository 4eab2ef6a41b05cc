// SPDX-License-Identifier: Apache-2.0
// Strangers' characters that jump, fall, strike and die: their liveliest clips, as they come. No step breaks down,
// flesh stays on the body, and no vertex leaves its neighbours. With SUPPLE_NIGHTLY
// (./go nightly) every clip, and every character of the collection in every feel, with flesh of 0.5 to 30 Hz and
// damping ratios of 0 to 1.
#include "supple/offline/fitting/liveliest_clips.h"
#include "supple/pipeline/character/exaggeration.h"
#include "supple/pipeline/character/feel.h"
#include "support/skin_spikes.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace supple::violent_motion_test {
namespace {

bool night() { return std::getenv("SUPPLE_NIGHTLY") != nullptr; }

std::filesystem::path collection() { return std::filesystem::path(SUPPLE_SHARED_DIR) / "assets/rigged"; }

/// Every clip of a character, each played to its end.
class WholeCharacter {
 public:
  explicit WholeCharacter(const Recipe& recipe) {
    Result<CharacterSource> source = load_source(recipe, "");
    if (!source.ok()) fault_ = source.error().message;
    if (!source.ok()) return;
    source_ = std::make_shared<const CharacterSource>(std::move(*source));
    Result<std::unique_ptr<SoftCharacter>> soft = find_engine("posespace").value()->build(source_);
    if (soft.ok())
      soft_ = std::move(*soft);
    else
      fault_ = soft.error().message;
  }

  const std::string& fault() const { return fault_; }
  /// All of them, or by day the ones that shake flesh most.
  std::vector<Clip> clips() const {
    constexpr std::size_t by_day = 6;
    const std::vector<Clip>& all = source_->character.clips;
    if (night()) return all;
    std::vector<Clip> some;
    for (const Index c : liveliest_clips(source_->character, source_->rig, wanted_frequency(source_->recipe),
                                         height_of(*source_), by_day))
      some.push_back(all[to_size(c)]);
    return some;
  }

  /// What a viewer sees of a clip, as shares of the height.
  struct Seen {
    std::string fault;
    double peak = 0, spike = 0;
    int recovered = 0;
  };
  Seen play(const Clip& clip, double damping) const {
    SimulateSettings settings;
    settings.exaggeration = soft_->exaggeration();
    settings.loop = closes(source_->rig, clip);
    settings.damping_ratio = damping;
    const Result<TonedRun> toned = simulate_in_range(*soft_, clip, settings);
    Seen seen;
    if (!toned.ok()) {
      seen.fault = toned.error().message;
      return seen;
    }
    seen.recovered = toned->run->report().recovered;
    const test::SkinSpikes spikes(source_->character, source_->rig);
    const double height = height_of(*source_);
    std::vector<Vec3> shown(to_size(soft_->vertex_count()));
    for (double time = toned->run->start(); time <= clip.duration; time += 1.0 / 60) {
      toned->run->in_character(time, shown);
      for (const Vec3& u : shown) seen.peak = std::max(seen.peak, u.norm() / height);
      seen.spike = std::max(seen.spike, spikes.largest(shown) / height);
    }
    return seen;
  }

 private:
  std::shared_ptr<const CharacterSource> source_;
  std::unique_ptr<SoftCharacter> soft_;
  std::string fault_;
};

constexpr double seen_spike = 0.01;  // of the height

class ViolentMotion : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    file = collection() / GetParam();
    if (!std::filesystem::exists(file)) GTEST_SKIP() << "no asset collection at " << file;
    recipe.input = file.string();
    recipe.tets = 2000;
    recipe.flesh.size = 24;
  }

  /// The largest peak of all clips.
  double play_all(double damping, const std::string& what, double longest_spike = seen_spike) const {
    const WholeCharacter character(recipe);
    EXPECT_EQ(character.fault(), "") << what;
    if (!character.fault().empty()) return 0;
    double largest = 0;
    const double most = numbers_of(recipe.flesh.feel).shown.most_peak;
    for (const Clip& clip : character.clips()) {
      const WholeCharacter::Seen seen = character.play(clip, damping);
      EXPECT_EQ(seen.fault, "") << what;
      EXPECT_EQ(seen.recovered, 0) << what << ", " << clip.name;
      EXPECT_LT(seen.peak, 1.06 * most) << what << ", " << clip.name;
      EXPECT_LT(seen.spike, longest_spike) << what << ", " << clip.name;
      largest = std::max(largest, seen.peak);
    }
    return largest;
  }

  std::filesystem::path file;
  Recipe recipe;
};

TEST_P(ViolentMotion, BreaksNoStepAndKeepsTheFleshOn) {
  const double largest = play_all(numbers_of(Feel::natural).damping, "natural");
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

/// By day a sample of the night's work: one character, the ends of the range, and whether flesh stays on. Spikes are
/// the night's affair.
class ViolentMotionNight : public ViolentMotion {};

TEST_P(ViolentMotionNight, AnyFleshStaysOn) {
  const std::string name = GetParam();
  if (!night() && !name.starts_with("khr_cesiumman/")) GTEST_SKIP() << "./go nightly";
  const double longest_spike = night() ? seen_spike : 1;
  if (!night()) recipe.tets = 1000, recipe.flesh.size = 12;
  using Numbers = std::vector<double>;
  for (const Feel feel :
       night() ? std::vector{Feel::subtle, Feel::natural, Feel::bouncy, Feel::jelly} : std::vector{Feel::jelly}) {
    recipe.flesh.feel = feel;
    recipe.material.frequency.reset();
    play_all(numbers_of(feel).damping, std::string(to_string(feel)), longest_spike);
  }
  recipe.flesh.feel = Feel::natural;
  for (const double frequency : night() ? Numbers{0.5, 1, 4, 10, 30} : Numbers{0.5}) {
    recipe.material.frequency = frequency;
    for (const double damping : night() ? Numbers{0, 0.05, 0.2, 1} : Numbers{0})
      play_all(damping, fmt::format("{:g} Hz, damping {:g}", frequency, damping), longest_spike);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Collection, ViolentMotionNight,
    testing::Values("bab_alien_morph/Alien.gltf", "farm_cow/Cow.gltf", "farm_pig/Pig.gltf", "farm_sheep/Sheep.gltf",
                    "godot_enemy/enemy.glb", "godot_mannequiny/mannequiny.glb", "kaykit_barbarian/Barbarian.glb",
                    "khr_cesiumman/CesiumMan.glb", "khr_fox/Fox.glb", "khr_recursiveskeletons/RecursiveSkeletons.glb",
                    "khr_riggedfigure/RiggedFigure.glb", "khr_riggedsimple/RiggedSimple.glb", "quat_alpaca/Alpaca.glb",
                    "quat_bull/Bull.glb", "quat_frog/Frog.glb", "quat_knightcharacter/KnightCharacter.glb",
                    "quat_manta_ray/Manta_ray.glb", "quat_shark/Shark.glb", "quat_spider/Spider.glb",
                    "quat_trex/Trex.glb", "quat_wolf/Wolf.glb", "three_robotexpressive/RobotExpressive.glb"),
    [](const auto& info) {
      const std::string name = info.param;
      return name.substr(0, name.find('/'));
    });

}  // namespace
}  // namespace supple::violent_motion_test
