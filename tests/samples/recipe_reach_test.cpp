// SPDX-License-Identifier: Apache-2.0
// [[reach]] of a recipe on the example arm: where its tip is at the times of the keys, and what is refused.
#include "supple/pipeline/character/character_source.h"

#include "samples/creatures.h"
#include "supple/io/gltf/write_character.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

namespace supple::recipe_reach_test {
namespace {

/// The arm lies along x: trunk, shoulder, elbow, wrist.
class RecipeReachTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder() = std::filesystem::temp_directory_path() / ("supple_recipe_reach_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder());
    ASSERT_TRUE(write_character(folder() / "arm.glb", make_character(make_arm(), 600), {}).ok());
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder()); }

  static std::filesystem::path& folder() {
    static std::filesystem::path path;
    return path;
  }
  static Recipe parsed(const std::string& text) {
    return parse_recipe("input = \"arm.glb\"\n" + text, "arm.toml", folder()).value();
  }
  static RawCharacter prepared(const std::string& text) {
    return load_source(parsed(text), folder()).value().character;
  }
  static void expect_refusal(const std::string& text, const std::string& words) {
    const Result<CharacterSource> result = load_source(parsed(text), folder());
    ASSERT_FALSE(result.ok()) << text;
    EXPECT_EQ(result.error().kind, ErrorKind::input);
    EXPECT_EQ(result.error().message.find("arm.toml, " + words), 0u) << result.error().message;
  }
};

const Clip& clip_of(const RawCharacter& character, const std::string& name) {
  return *std::find_if(character.clips.begin(), character.clips.end(), [&](const Clip& c) { return c.name == name; });
}

Pose pose_at(const RawCharacter& character, const std::string& clip, double time) {
  Pose pose = rest_pose(character.skeleton);
  sample_clip(clip_of(character, clip), time, ClipWrap::hold, pose);
  return pose;
}

Vec3 place(const RawCharacter& character, const std::string& clip, double time, const std::string& joint) {
  const std::vector<Affine> world = world_matrices(character.skeleton, pose_at(character, clip, time));
  return world[to_size(find_joint(character.skeleton, joint))].translation();
}

const std::string two_bones = "[[reach]]\nname = \"grab\"\nroot = \"shoulder\"\ntip = \"wrist\"\n";  // lines 2 to 5
const std::string keys =
    "[[reach.key]]\ntime = 0.5\ntarget = [0.4, 0.1, 0.2]\n"
    "[[reach.key]]\ntime = 1.5\ntarget = [0.35, -0.2, 0.25]\n";

void expect_at_targets(const RawCharacter& character) {
  EXPECT_LT((place(character, "grab", 0.5, "wrist") - Vec3(0.4, 0.1, 0.2)).norm(), 1e-3);
  EXPECT_LT((place(character, "grab", 1.0, "wrist") - Vec3(0.375, -0.05, 0.225)).norm(), 1e-3);
  EXPECT_LT((place(character, "grab", 1.5, "wrist") - Vec3(0.35, -0.2, 0.25)).norm(), 1e-3);
  EXPECT_TRUE(character.warnings.empty());
}

TEST_F(RecipeReachTest, TheTipIsAtItsTargets) {
  const RawCharacter character = prepared("clips = []\n" + two_bones + keys);
  ASSERT_EQ(character.clips.size(), 1u);
  EXPECT_EQ(character.clips[0].duration, 1.5);
  EXPECT_EQ(character.clips[0].channels[0].times.size(), 31u);
  expect_at_targets(character);
  // Nothing but the two joints turns.
  const Pose rest = rest_pose(character.skeleton), pose = pose_at(character, "grab", 1.5);
  for (std::size_t j = 0; j < rest.size(); ++j) {
    const std::string& name = character.skeleton.joints[j].name;
    if (name == "shoulder" || name == "elbow")
      EXPECT_GT(rest[j].rotation.angularDistance(pose[j].rotation), 0.1) << name;
    else
      EXPECT_EQ(rest[j].rotation.angularDistance(pose[j].rotation), 0) << name;
  }
}

TEST_F(RecipeReachTest, LongerChainsStiffnessAndRateAreUsed) {
  const std::string chain = "[[reach]]\nname = \"grab\"\nroot = \"trunk\"\ntip = \"wrist\"\nrate = 60\n";
  const RawCharacter loose = prepared(chain + keys), stiff = prepared(chain + "stiffness = [1, 0.9]\n" + keys);
  EXPECT_EQ(clip_of(loose, "grab").channels[0].times.size(), 61u);
  expect_at_targets(loose);
  expect_at_targets(stiff);
  const auto turn = [](const RawCharacter& character, const char* joint) {
    const auto j = to_size(find_joint(character.skeleton, joint));
    return pose_at(character, "grab", 1.5)[j].rotation.angularDistance(character.skeleton.joints[j].rest.rotation);
  };
  EXPECT_GT(turn(loose, "trunk"), 0.01);
  EXPECT_LT(turn(stiff, "trunk"), 1e-9);
  // Two bones listen to it too.
  EXPECT_LT(turn(prepared(two_bones + "stiffness = [0, 0.9]\n" + keys), "elbow"),
            turn(prepared(two_bones + "stiffness = [0.9]\n" + keys), "elbow") - 0.01);
}

/// A corner of the target's way between two frames would be cut.
TEST_F(RecipeReachTest, KeysAreMetWhateverTheRate) {
  const std::string between = "[[reach.key]]\ntime = 0.77\ntarget = [0.3, 0.3, 0.2]\n";
  const std::size_t second = keys.find("[[reach.key]]", 1);
  const RawCharacter character =
      prepared(two_bones + "rate = 7\n" + keys.substr(0, second) + between + keys.substr(second));
  EXPECT_LT((place(character, "grab", 0.5, "wrist") - Vec3(0.4, 0.1, 0.2)).norm(), 1e-6);
  EXPECT_LT((place(character, "grab", 0.77, "wrist") - Vec3(0.3, 0.3, 0.2)).norm(), 1e-6);
  EXPECT_LT((place(character, "grab", 1.5, "wrist") - Vec3(0.35, -0.2, 0.25)).norm(), 1e-6);
}

TEST_F(RecipeReachTest, ThePoleSaysWhereTheElbowGoes) {
  for (const double side : {-5.0, 5.0}) {
    const RawCharacter character = prepared(two_bones + "pole = [0, " + std::to_string(side) + ", 0]\n" + keys);
    expect_at_targets(character);
    // The elbow's part normal to the line from shoulder to wrist points at the pole.
    const Vec3 shoulder = place(character, "grab", 0.5, "shoulder");
    const Vec3 line = (place(character, "grab", 0.5, "wrist") - shoulder).normalized();
    const auto normal = [&](const Vec3& v) { return Vec3(v - line * line.dot(v)).normalized(); };
    const Vec3 elbow = place(character, "grab", 0.5, "elbow") - shoulder;
    EXPECT_GT(normal(elbow).dot(normal(Vec3(0, side, 0) - shoulder)), 1 - 1e-9);
  }
}

TEST_F(RecipeReachTest, OtherJointsMoveOnWithTheBaseClip) {
  const std::string sway =
      "[[keyframes]]\nname = \"sway\"\n"
      "[[keyframes.key]]\njoint = \"trunk\"\ntime = 0\nrotation = [0, 0, 0]\n"
      "[[keyframes.key]]\njoint = \"trunk\"\ntime = 2\nrotation = [0, 30, 0]\n"
      "[[keyframes.key]]\njoint = \"elbow\"\ntime = 0\nrotation = [0, 0, 50]\n";
  const RawCharacter character = prepared(two_bones + "clip = \"sway\"\n" + keys + sway);
  expect_at_targets(character);
  EXPECT_EQ(clip_of(character, "grab").duration, 2);
  const auto trunk = to_size(find_joint(character.skeleton, "trunk"));
  for (const double time : {0.0, 0.4, 1.3, 2.0})
    EXPECT_LT(pose_at(character, "grab", time)[trunk].rotation.angularDistance(
                  pose_at(character, "sway", time)[trunk].rotation),
              1e-12);
  // Before the first key and after the last the target rests, however the body moves.
  EXPECT_LT((place(character, "grab", 0, "wrist") - Vec3(0.4, 0.1, 0.2)).norm(), 1e-3);
  EXPECT_LT((place(character, "grab", 2, "wrist") - Vec3(0.35, -0.2, 0.25)).norm(), 1e-3);
}

TEST_F(RecipeReachTest, TargetsAreMetresWhateverTheScale) {
  const RawCharacter large = prepared("scale = 2\n" + two_bones + keys);
  expect_at_targets(large);
}

TEST_F(RecipeReachTest, WhatIsOutOfReachIsPointedAtAndTold) {
  const RawCharacter character = prepared(two_bones + "[[reach.key]]\ntime = 0\ntarget = [0.1, 3, 0]\n");
  ASSERT_EQ(character.warnings.size(), 1u);
  EXPECT_NE(character.warnings[0].find("leaves \"wrist\""), std::string::npos) << character.warnings[0];
  const Vec3 shoulder = place(character, "grab", 0, "shoulder");
  const Vec3 arm = place(character, "grab", 0, "wrist") - shoulder;
  EXPECT_GT(arm.normalized().dot((Vec3(0.1, 3, 0) - shoulder).normalized()), 1 - 1e-6);
}

TEST_F(RecipeReachTest, WhatTheSkeletonRefusesIsToldWithItsLine) {
  const std::string ends = "[[reach]]\nname = \"grab\"\n";
  expect_refusal(ends + "root = \"sholder\"\ntip = \"wrist\"\n" + keys,
                 "line 4: there is no joint \"sholder\" in arm.glb; did you mean \"shoulder\"?");
  expect_refusal(ends + "root = \"shoulder\"\ntip = \"wirst\"\n" + keys, "line 5: there is no joint \"wirst\"");
  expect_refusal(ends + "root = \"wrist\"\ntip = \"shoulder\"\n" + keys,
                 "line 5: the joint \"shoulder\" doesn't hang below \"wrist\"");
  expect_refusal(ends + "root = \"wrist\"\ntip = \"wrist\"\n" + keys, "line 5: the joint \"wrist\" doesn't hang");
  expect_refusal(two_bones + "clip = \"flexx\"\n" + keys,
                 "line 6: there is no clip \"flexx\" in arm.glb; did you mean");
  expect_refusal(two_bones + "stiffness = [0, 0.1, 0.2]\n" + keys, "line 6: \"stiffness\" has 3 numbers, but only 2");
  expect_refusal(ends + "root = \"trunk\"\ntip = \"wrist\"\npole = [0, 0, 1]\n" + keys,
                 "line 6: \"pole\" is for two bones, but from \"trunk\" to \"wrist\" there are 3");
}

}  // namespace
}  // namespace supple::recipe_reach_test
