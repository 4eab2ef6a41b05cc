// SPDX-License-Identifier: Apache-2.0
// Limbs that pass through each other, resolved into corrections: the arm's clip, in which its hand comes so near to its
// shoulder that the skin of the bend is inside itself, measured anew between the moments that were looked at.
#include "supple/pipeline/character/resolve_contacts.h"

#include "samples/creature_files.h"
#include "samples/creatures.h"
#include "supple/export/posed_meshes.h"
#include "supple/offline/contact/push_apart.h"
#include "supple/pipeline/character/corrections.h"
#include "supple/pipeline/character/engine.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

namespace supple::contacts_test {
namespace {

constexpr double slack = 0.002;  // of the height, as the product has it

class ContactsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder() = std::filesystem::temp_directory_path() / ("supple_contacts_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder());
    const Creature arm = make_arm();
    ASSERT_TRUE(write_creature(folder() / "arm.glb", arm, make_character(arm, 3000)).ok());
    plain().emplace(load_source(folder() / "arm.glb").value());
    std::erase_if(plain()->character.clips, [](const Clip& clip) { return clip.name != "flex"; });
    plain()->recipe.clips = {"flex"};
    resolved().emplace(with_contacts_resolved(*plain()).value());
  }
  static void TearDownTestSuite() {
    plain().reset();
    resolved().reset();
    std::filesystem::remove_all(folder());
  }
  static std::filesystem::path& folder() {
    static std::filesystem::path path;
    return path;
  }
  static std::optional<CharacterSource>& plain() {
    static std::optional<CharacterSource> source;
    return source;
  }
  static std::optional<CharacterSource>& resolved() {
    static std::optional<CharacterSource> source;
    return source;
  }

  /// As a player of the file has it, in % of the height.
  static double depth(const CharacterSource& source, const Clip& clip, double time) {
    PosedMeshes meshes(source.character, {});
    const double height = height_of(source);
    Surface skin = source.character.meshes.at(0).surface;
    meshes.pose(clip, time);
    meshes.positions(skin.vertices);
    const std::vector<double> depths = buried_depths(skin, slack * height);
    return 100 * *std::max_element(depths.begin(), depths.end()) / height;
  }
};

TEST_F(ContactsTest, ATenthIsLeftAndNoMomentIsWorse) {
  ASSERT_EQ(plain()->character.meshes.size(), 1u);
  ASSERT_TRUE(resolved()->contacts);
  EXPECT_FALSE(resolved()->contacts->corrections.empty());
  const Clip &before = plain()->character.clips.at(0), &after = resolved()->character.clips.at(0);
  double worst_before = 0, worst_after = 0;
  // Every third moment is one that was looked at.
  for (double time = 0; time <= before.duration; time += 1.0 / 90) {
    const double was = depth(*plain(), before, time), is = depth(*resolved(), after, time);
    worst_before = std::max(worst_before, was);
    worst_after = std::max(worst_after, is);
    EXPECT_LE(is, std::max(was, 100 * slack) + 0.05) << time;
  }
  EXPECT_GT(worst_before, 2);
  EXPECT_LT(worst_after, 0.1 * worst_before);
}

TEST_F(ContactsTest, WhatIsFarFromTheContactStays) {
  const Clip &before = plain()->character.clips.at(0), &after = resolved()->character.clips.at(0);
  PosedMeshes a(plain()->character, {}), b(resolved()->character, {});
  std::vector<Vec3> x(to_size(a.vertex_count())), y = x;
  const auto moved = [&](double time) {
    a.pose(before, time);
    b.pose(after, time);
    a.positions(x);
    b.positions(y);
    double most = 0;
    for (std::size_t v = 0; v < x.size(); ++v) most = std::max(most, (x[v] - y[v]).norm());
    return most / height_of(*plain());
  };
  for (const double time : {0.0, 0.2, 0.4, 1.6, 1.8, 2.0}) EXPECT_LT(moved(time), 1e-6) << time;
  EXPECT_GT(moved(1.0), 0.005);
}

/// Whoever bends the elbow so far, it gives way: a motion that knows no weights plays the file's shapes by the joints,
/// and the corrections on top.
TEST_F(ContactsTest, TheyActUnderOtherDrivers) {
  const auto clip_without_weights = [](const CharacterSource& source) {
    CharacterSource other = source;
    Clip& clip = other.character.clips.at(0);
    std::erase_if(clip.channels, [](const Channel& channel) { return channel.target == ChannelTarget::weights; });
    EXPECT_TRUE(play_corrections(other, 0).ok());
    return other;
  };
  const CharacterSource bare = clip_without_weights(*plain()), apart = clip_without_weights(*resolved());
  const double was = depth(bare, bare.character.clips.at(0), 1.0);
  EXPECT_GT(was, 2);
  EXPECT_LT(depth(apart, apart.character.clips.at(0), 1.0), 0.1 * was);
}

TEST_F(ContactsTest, WhatIsResolvedIsNotResolvedAgain) {
  const CharacterSource again = with_contacts_resolved(*resolved()).value();
  EXPECT_EQ(again.character.meshes.at(0).targets.size(), resolved()->character.meshes.at(0).targets.size());
}

}  // namespace
}  // namespace supple::contacts_test
