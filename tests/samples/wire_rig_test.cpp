// SPDX-License-Identifier: Apache-2.0
// The bear on its wires, through the file and the recipe.
#include "samples/creatures.h"
#include "supple/io/gltf/write_character.h"
#include "supple/mesh/bounds.h"
#include "supple/pipeline/character/character_source.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <random>

namespace supple::wire_rig_test {
namespace {

class WireRigTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder() = std::filesystem::temp_directory_path() / ("supple_wire_rig_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder());
    const Creature creature = make_bear();
    CharacterLook look;
    for (const CreaturePose& pose : creature.poses) look.poses.push_back(pose.pose);
    ASSERT_TRUE(write_character(folder() / "bear.glb", make_character(creature, 2500), look).ok());
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder()); }

  static std::filesystem::path& folder() {
    static std::filesystem::path path;
    return path;
  }
  static Recipe recipe() {
    const Creature creature = make_bear();
    Recipe recipe;
    recipe.input = "bear.glb";
    for (const CreatureWire& wire : creature.wires) recipe.wires.push_back({wire.name, wire.handles});
    for (const CreaturePose& pose : creature.poses) recipe.poses.push_back({pose.pose.name, "", 0});
    return recipe;
  }

  const CharacterSource prepared = load_source(recipe(), folder()).value();
  const CharacterRig& rig = prepared.rig;
  const CharacterRig skin = CharacterRig::create(prepared.character).value();
};

double height_of(const std::vector<Vec3>& x) { return bounds_of(x).size().maxCoeff(); }

double largest_difference(const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
  double worst = 0;
  for (std::size_t v = 0; v < a.size(); ++v) worst = std::max(worst, (a[v] - b[v]).norm());
  return worst;
}

TEST_F(WireRigTest, HasThePapersDegreesOfFreedom) {
  EXPECT_EQ(rig.rig()->layout().size(), 144);
  EXPECT_EQ(rig.rig()->vertex_count(), skin.rig()->vertex_count());
}

TEST_F(WireRigTest, RestsWhereTheSkinRests) {
  const std::vector<Vec3> rest = evaluate_all(*skin.rig(), skin.neutral().p);
  EXPECT_LT(largest_difference(evaluate_all(*rig.rig(), rig.neutral().p), rest), 1e-9);
  CharacterPose pose = rig.neutral();
  rig.set_joints(rest_pose(rig.skeleton()), pose);
  for (const double number : pose.p) EXPECT_NEAR(number, 0, 1e-9);
}

// In its corrected poses the rig is the sculpted shape that any viewer shows: skinning of the morphed skin.
TEST_F(WireRigTest, IsTheFilesShapeInCorrectedPoses) {
  std::size_t corrected = 0;
  for (const RecipePoseState& state : prepared.poses) {
    if (!state.corrected) continue;
    SCOPED_TRACE(state.name);
    const CharacterMesh& mesh = prepared.character.meshes.front();
    const auto target = to_size(
        std::find_if(mesh.targets.begin(), mesh.targets.end(), [&](const auto& t) { return t.name == state.name; }) -
        mesh.targets.begin());
    ASSERT_LT(target, mesh.targets.size());
    CharacterPose pose = rig.neutral(), viewed = skin.neutral();
    rig.set_joints(state.locals, pose);
    skin.set_joints(state.locals, viewed);
    viewed.p[target] = 1;  // morph weights come first
    const std::vector<Vec3> file = evaluate_all(*skin.rig(), viewed.p);
    EXPECT_LT(largest_difference(evaluate_all(*rig.rig(), pose.p), file), 1e-9);
    ++corrected;
  }
  EXPECT_EQ(corrected, 7u);
}

// The file approximates the wires: what others see of a clip is nearly what we move.
TEST_F(WireRigTest, FollowsTheSkinThroughTheClips) {
  for (const Clip& clip : prepared.character.clips) {
    SCOPED_TRACE(clip.name);
    CharacterPose pose = rig.neutral(), viewed = skin.neutral();
    double sum = 0, moved = 0, size = 1;
    std::vector<Vec3> first;
    for (int k = 0; k < 8; ++k) {
      rig.sample(clip, clip.duration * k / 8, ClipWrap::loop, pose);
      skin.sample(clip, clip.duration * k / 8, ClipWrap::loop, viewed);
      const std::vector<Vec3> wires = evaluate_all(*rig.rig(), pose.p), file = evaluate_all(*skin.rig(), viewed.p);
      if (first.empty()) first = file;
      size = height_of(file);
      for (std::size_t v = 0; v < wires.size(); ++v)
        sum += (wires[v] - file[v]).norm() / static_cast<double>(wires.size());
      moved = std::max(moved, largest_difference(file, first));
    }
    EXPECT_GT(moved, 0.2 * size);
    EXPECT_LT(sum / 8, 0.004 * size);
  }
}

// What a viewer turns rigidly, a straight wire turns rigidly: all handles about one axis, along the wire or across it.
TEST(Wires, TurnRigidlyWithTheirJoints) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> some(-1, 1);
  Skeleton skeleton;
  Joint base;
  base.name = "base";
  skeleton.joints.push_back(base);
  for (int k = 0; k < 5; ++k) {
    Joint joint;
    joint.parent = static_cast<Index>(k);
    joint.rest.translation = Vec3(0, 1 + 0.3 * some(random), 0);
    skeleton.joints.push_back(joint);
  }
  std::vector<Vec3> rest;
  SkinWeights weights;
  weights.first.push_back(0);
  for (int k = 0; k < 50; ++k) {
    rest.emplace_back(some(random), 3 + 2.5 * some(random), some(random));
    weights.joint.push_back(k % 5 + 1);
    weights.weight.push_back(1);
    weights.first.push_back(k + 1);
  }
  std::vector<Bone> bones;
  for (Index j = 0; j < 6; ++j) bones.push_back({j, Affine::Identity()});
  const std::vector<Affine> world = world_matrices(skeleton, rest_pose(skeleton));
  const WireHandles handles = WireHandles::create(skeleton, world, {{"w", {1, 2, 3, 4, 5}}}).value();
  const StackRig rig(rest, {handles.make_deformer(skeleton, rest, bones, weights, 1.0)});
  for (int turn = 0; turn < 8; ++turn) {
    Pose pose = rest_pose(skeleton);
    const Quat q =
        Quat(Eigen::AngleAxisd(2.5 * some(random), Vec3(some(random), some(random), some(random)).normalized()));
    pose[0].rotation = q;
    std::vector<double> p(20);
    handles.read(skeleton, pose, p);
    const std::vector<Vec3> turned = evaluate_all(rig, p);
    for (std::size_t v = 0; v < rest.size(); ++v) EXPECT_LT((turned[v] - q * rest[v]).norm(), 1e-9);
  }
}

TEST(Wires, RefuseCurvesThatAreNone) {
  Skeleton skeleton;
  skeleton.joints.resize(2);
  const std::vector<Affine> world = world_matrices(skeleton, rest_pose(skeleton));
  EXPECT_FALSE(WireHandles::create(skeleton, world, {{"short", {0}}}).ok());
  const Result<WireHandles> same = WireHandles::create(skeleton, world, {{"same", {0, 1}}});
  ASSERT_FALSE(same.ok());
  EXPECT_NE(same.error().message.find("two handles at one place"), std::string::npos);
}

}  // namespace
}  // namespace supple::wire_rig_test
