// SPDX-License-Identifier: Apache-2.0
// Corrections of artists on the arm: from a recipe and from names, in the poses of the model, in clips of any origin,
// through the asset's bytes and in a baked file.
#include "supple/pipeline/character/corrections.h"

#include "samples/creatures.h"
#include "supple/io/gltf/read_character.h"
#include "supple/io/gltf/write_character.h"
#include "supple/pipeline/character/bake.h"
#include "supple/pipeline/character/engine.h"
#include "supple/rig/motion/keyframes.h"
#include "supple/runtime/character.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace supple::corrections_test {
namespace {

constexpr double bent = -115;  // degrees about y, in which the arm's artist has sculpted "elbow_bent"

class CorrectionsTest : public testing::Test {
 protected:
  /// The arm with two of its shapes, of which nothing in the file says what poses they are for.
  static void SetUpTestSuite() {
    folder() = std::filesystem::temp_directory_path() / ("supple_corrections_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder());
    RawCharacter arm = make_character(make_arm(), 1500);
    for (Clip& clip : arm.clips)
      std::erase_if(clip.channels, [](const Channel& channel) { return channel.target == ChannelTarget::weights; });
    CharacterMesh& mesh = arm.meshes.at(0);
    std::erase_if(mesh.targets, [](const MorphTarget& t) { return t.name != "elbow_bent" && t.name != "raised"; });
    ASSERT_EQ(mesh.targets.size(), 2u);
    mesh.default_target_weights.assign(2, 0.0);
    ASSERT_TRUE(write_character(folder() / "arm.glb", arm).ok());
    for (MorphTarget& target : mesh.targets)
      target.name = target.name == "raised" ? "shoulder_z_60_corrective" : "elbow_115_corrective";
    ASSERT_TRUE(write_character(folder() / "named.glb", arm).ok());
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder()); }
  static std::filesystem::path& folder() {
    static std::filesystem::path path;
    return path;
  }
  static Recipe plain() {
    Recipe recipe;
    recipe.input = "arm.glb";
    recipe.tets = 1200;
    recipe.flesh.size = 8;
    recipe.keyframes = {{"fold",
                         Interpolation::linear,
                         {{"elbow", 0, Vec3(0, 0, 0), std::nullopt, std::nullopt},
                          {"elbow", 1, Vec3(0, bent, 0), std::nullopt, std::nullopt},
                          {"elbow", 2, Vec3(0, -bent, 0), std::nullopt, std::nullopt}}}};
    recipe.corrections = {{"elbow_bent", {"elbow"}, {Vec3(0, bent, 0)}, "", 0}};
    return recipe;
  }
  static void expect_refusal(const Recipe& recipe, const std::string& words) {
    const Result<CharacterSource> source = load_source(recipe, folder());
    ASSERT_FALSE(source.ok()) << words;
    EXPECT_NE(source.error().message.find(words), std::string::npos) << source.error().message;
  }
  /// Weight of a target at a time of a clip, as the rig plays it.
  static double weight_in(const CharacterSource& source, const std::string& clip_name, const std::string& target,
                          double time) {
    const auto clip = std::find_if(source.character.clips.begin(), source.character.clips.end(),
                                   [&](const Clip& c) { return c.name == clip_name; });
    CharacterPose pose = source.rig.neutral();
    source.rig.sample(*clip, time, ClipWrap::hold, pose);
    return pose.p[to_size(morph_places(source.rig, target).at(0))];
  }
};

TEST_F(CorrectionsTest, TheyEnterThePosesOfTheModel) {
  const Result<CharacterSource> source = load_source(plain(), folder());
  ASSERT_TRUE(source.ok()) << source.error().message;
  ASSERT_EQ(source->poses.size(), 1u);
  EXPECT_TRUE(source->poses[0].corrected);
  const Index elbow = find_joint(source->character.skeleton, "elbow");
  EXPECT_EQ(source->poses[0].joints, std::vector<Index>{elbow});
  const std::vector<double> p = pose_parameters(source->rig, source->poses[0]);
  EXPECT_EQ(p[to_size(morph_places(source->rig, "elbow_bent").at(0))], 1);
  const std::vector<DistinctPose> poses = distinct_poses(*source, 10);
  ASSERT_EQ(poses.size(), 1u);
  EXPECT_EQ(poses[0].p, p);
}

TEST_F(CorrectionsTest, TheyFollowTheirJointInClipsOfAnyOrigin) {
  const CharacterSource source = load_source(plain(), folder()).value();
  // Keyframes: half way it is half there; bent the other way it isn't at all.
  EXPECT_NEAR(weight_in(source, "fold", "elbow_bent", 0), 0, 1e-6);
  EXPECT_NEAR(weight_in(source, "fold", "elbow_bent", 0.5), 0.5, 1e-3);
  EXPECT_NEAR(weight_in(source, "fold", "elbow_bent", 1), 1, 1e-3);
  EXPECT_NEAR(weight_in(source, "fold", "elbow_bent", 2), 0, 1e-6);
  // A clip of the file, in which the shoulder moves as well: that is none of its business.
  const Index elbow = find_joint(source.character.skeleton, "elbow");
  double most = 0;
  for (const double time : {0.2, 0.5, 0.8, 1.0, 1.3}) {
    CharacterPose pose = source.rig.neutral();
    const auto flex = std::find_if(source.character.clips.begin(), source.character.clips.end(),
                                   [](const Clip& c) { return c.name == "flex"; });
    source.rig.sample(*flex, time, ClipWrap::hold, pose);
    const double degrees = pose.locals[to_size(elbow)].rotation.angularDistance(
                               source.character.skeleton.joints[to_size(elbow)].rest.rotation) *
                           180 / std::numbers::pi;
    const double weight = weight_in(source, "flex", "elbow_bent", time);
    EXPECT_NEAR(weight, std::min(degrees, 2 * -bent - degrees) / -bent, 0.02) << time;
    most = std::max(most, weight);
  }
  EXPECT_GT(most, 0.9);
}

TEST_F(CorrectionsTest, AMomentOfAClipIsAPoseToo) {
  Recipe recipe = plain();
  recipe.corrections = {{"elbow_bent", {"elbow"}, {}, "fold", 1}, {"raised", {}, {}, "flex", 1}};
  const Result<CharacterSource> source = load_source(recipe, folder());
  ASSERT_TRUE(source.ok()) << source.error().message;
  ASSERT_EQ(source->poses.size(), 2u);
  EXPECT_NEAR(weight_in(*source, "fold", "elbow_bent", 1), 1, 1e-3);
  EXPECT_NEAR(weight_in(*source, "flex", "raised", 1), 1, 1e-3);
  EXPECT_NEAR(weight_in(*source, "flex", "raised", 0), 0, 0.25);
}

TEST_F(CorrectionsTest, ClipsThatMoveATargetThemselvesKeepIt) {
  Recipe recipe = plain();
  recipe.corrections = std::vector<RecipeCorrection>{};
  CharacterSource source = load_source(recipe, folder()).value();
  Clip clip = source.character.clips.at(0);
  const CharacterRig::MorphSlot& slot = source.rig.morphs().at(0);
  const Index place = morph_places(source.rig, "raised").at(0);
  Channel weights;
  weights.joint = slot.node;
  weights.target = ChannelTarget::weights;
  weights.width = 2;
  weights.times = {0, 1};
  weights.values.assign(4, 0.0);
  weights.values[to_size(place - slot.first) + 2] = 0.75;
  clip.channels.push_back(weights);
  Pose locals = rest_pose(source.character.skeleton);
  const Index elbow = find_joint(source.character.skeleton, "elbow");
  locals[to_size(elbow)].rotation = locals[to_size(elbow)].rotation * euler_rotation(Vec3(0, bent, 0));
  const NamedPose poses[] = {{"elbow_bent", locals, true, {elbow}}, {"raised", locals, true, {elbow}}};
  PoseMorphs::create(source.rig, poses).value()->add_channels(source.rig, 60, clip);
  source.character.clips = {clip};
  EXPECT_NEAR(weight_in(source, clip.name, "raised", 1), 0.75, 1e-6);
  EXPECT_NEAR(weight_in(source, clip.name, "raised", 0.5), 0.375, 1e-6);
  double most = 0;
  for (double time = 0; time < clip.duration; time += 0.05)
    most = std::max(most, weight_in(source, clip.name, "elbow_bent", time));
  EXPECT_GT(most, 0.3);
}

TEST_F(CorrectionsTest, TheyActThroughTheDoorAndInBakes) {
  Recipe recipe = plain();
  recipe.corrections->push_back({"raised", {"shoulder"}, {Vec3(0, 0, 60)}, "", 0});
  auto source = std::make_shared<const CharacterSource>(load_source(recipe, folder()).value());
  const auto soft = find_engine("posespace").value()->build(source, Progress::silent(), StageStore::none());
  ASSERT_TRUE(soft.ok()) << soft.error().message;
  const std::string bytes = encode_asset((*soft)->asset()).value();
  const Character character = Character::load(std::as_bytes(std::span(bytes))).value();
  CharacterState state = CharacterState::create(character, {}).value();
  const int elbow = character.find_joint("elbow"), shoulder = character.find_joint("shoulder");
  const auto turn = [&](int joint, const Vec3& degrees) {
    JointTransform local = character.joint_rest(joint);
    const Quat rest(local.rotation[3], local.rotation[0], local.rotation[1], local.rotation[2]);
    const Eigen::Vector4f q = (rest * euler_rotation(degrees)).coeffs().cast<float>();
    local.rotation = {q[0], q[1], q[2], q[3]};
    state.set_joint(joint, local);
    state.advance(1.0 / 60);
  };
  const auto weight = [&](const char* name) {
    for (int m = 0; m < character.morph_count(); ++m)
      if (character.morph_name(m).ends_with(name)) {
        EXPECT_TRUE(character.morph_follows_pose(m));
        return state.morph_weight(m);
      }
    return -1.0;
  };
  turn(elbow, Vec3(0, bent, 0));
  EXPECT_NEAR(weight(".elbow_bent"), 1, 1e-4);
  EXPECT_NEAR(weight(".raised"), 0, 1e-4);
  turn(shoulder, Vec3(0, 0, 60));  // both at once: each follows its own joint
  EXPECT_NEAR(weight(".elbow_bent"), 1, 1e-4);
  EXPECT_NEAR(weight(".raised"), 1, 1e-4);
  const Result<BakeReport> report = bake_character(**soft, folder() / "soft.glb", {}, Progress::silent());
  ASSERT_TRUE(report.ok()) << report.error().message;
  const RawCharacter baked = read_character(load_gltf(folder() / "soft.glb").value()).value();
  for (const Clip& clip : baked.clips) {
    if (clip.name != "flex") continue;
    const CharacterMesh& mesh = baked.meshes.at(0);
    const auto target = std::find_if(mesh.targets.begin(), mesh.targets.end(),
                                     [](const MorphTarget& t) { return t.name == "elbow_bent"; });
    ASSERT_NE(target, mesh.targets.end());
    double most = 0;
    for (const Channel& channel : clip.channels)
      if (channel.target == ChannelTarget::weights)
        for (std::size_t at = to_size(target - mesh.targets.begin()); at < channel.values.size();
             at += to_size(channel.width))
          most = std::max(most, channel.values[at]);
    EXPECT_GT(most, 0.9);
  }
}

/// Wires play no morph targets: the correction is one of the rig itself, and the skin is the file's in that pose.
TEST_F(CorrectionsTest, WiresAreCorrectedToo) {
  Recipe recipe = plain();
  const CharacterSource skinned = load_source(recipe, folder()).value();
  recipe.wires = {{"arm", {"shoulder", "elbow", "wrist"}}};
  const Result<CharacterSource> wired = load_source(recipe, folder());
  ASSERT_TRUE(wired.ok()) << wired.error().message;
  const std::vector<Vec3> ours = evaluate_all(*wired->rig.rig(), pose_parameters(wired->rig, wired->poses[0]));
  const std::vector<Vec3> file = evaluate_all(*skinned.rig.rig(), pose_parameters(skinned.rig, skinned.poses[0]));
  ASSERT_EQ(ours.size(), file.size());
  double worst = 0;
  for (std::size_t v = 0; v < ours.size(); ++v) worst = std::max(worst, (ours[v] - file[v]).norm());
  EXPECT_LT(worst, 1e-9);
}

TEST_F(CorrectionsTest, NamesTellWhatTheyAreFor) {
  Recipe recipe = plain();
  recipe.input = "named.glb";
  recipe.corrections.reset();
  const Result<CharacterSource> source = load_source(recipe, folder());
  ASSERT_TRUE(source.ok()) << source.error().message;
  ASSERT_TRUE(source->recipe.corrections);
  const std::vector<std::string>& remarks = source->character.warnings;
  const auto told = [&](const std::string& words) {
    return std::any_of(remarks.begin(), remarks.end(), [&](const std::string& r) { return r.find(words) != r.npos; });
  };
  EXPECT_TRUE(told("\"shoulder_z_60_corrective\" is taken as a correction of \"shoulder\" turned by [0, 0, 60]"));
  for (const RecipePoseState& state : source->poses) {
    if (state.name != "elbow_115_corrective") continue;
    // The clips bend the elbow about its y axis to the negative side; the reach turns it a little otherwise.
    const Index elbow = find_joint(source->character.skeleton, "elbow");
    const Quat wanted =
        source->character.skeleton.joints[to_size(elbow)].rest.rotation * euler_rotation(Vec3(0, bent, 0));
    EXPECT_LT(state.locals[to_size(elbow)].rotation.angularDistance(wanted), 0.3);
  }
  recipe.corrections.emplace();
  const CharacterSource none = load_source(recipe, folder()).value();
  EXPECT_TRUE(none.poses.empty());
}

TEST_F(CorrectionsTest, WrongOnesAreRefusedWithTheirLines) {
  const auto expect = [&](const std::string& text, const std::string& words) {
    const Result<Recipe> recipe =
        parse_recipe("input = \"arm.glb\"\n[[correction]]\n" + text + "\n", "arm.toml", folder());
    ASSERT_TRUE(recipe.ok()) << recipe.error().message;
    expect_refusal(*recipe, "arm.toml, " + words);
  };
  expect("target = \"elbow_bend\"\njoint = \"elbow\"\nrotation = [0, -90, 0]",
         "line 3: there is no morph target \"elbow_bend\" in arm.glb; did you mean \"elbow_bent\"?");
  expect("target = \"elbow_bent\"\njoint = \"elbw\"\nrotation = [0, -90, 0]", "line 4: there is no joint \"elbw\"");
  expect("target = \"elbow_bent\"\njoint = \"elbow\"\nrotation = [0, 0, 0]",
         "line 3: the correction \"elbow_bent\" belongs");
  expect("target = \"elbow_bent\"\nclip = \"flx\"\ntime = 0", "line 4: there is no clip \"flx\"");
  expect("target = \"elbow_bent\"\nclip = \"flex\"\ntime = 99", "line 3: the correction \"elbow_bent\" is at 99 s");
  Recipe root = plain();
  root.corrections = {{"elbow_bent", {"trunk"}, {Vec3(0, 90, 0)}, "", 0}};
  expect_refusal(root, "isn't part of the pose");
}

}  // namespace
}  // namespace supple::corrections_test
