// SPDX-License-Identifier: Apache-2.0
// Skinning against its formulas, against what each method is known for, and its invariances.
#include "supple/rig/character_rig.h"
#include "support/rigs.h"

#include <gtest/gtest.h>

namespace supple::skinning_test {
namespace {

CharacterRig rig_of(const RawCharacter& character, SkinningMethod method) {
  CharacterRigSettings settings;
  settings.method = method;
  return CharacterRig::create(character, settings).value();
}

std::vector<Vec3> posed(const CharacterRig& rig, const Pose& locals) {
  CharacterPose pose = rig.neutral();
  rig.set_joints(locals, pose);
  std::vector<Vec3> positions = evaluate_all(*rig.rig(), pose.p);
  for (Vec3& x : positions) x = pose.placement * x;
  return positions;
}

Pose random_pose(const Skeleton& skeleton, std::uint32_t seed) {
  std::mt19937 random(seed);
  Pose pose = rest_pose(skeleton);
  for (Transform& local : pose) local.rotation = Quat::Identity().slerp(0.3, random_rotation(random));
  return pose;
}

double largest_difference(const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
  double largest = a.size() == b.size() ? 0.0 : 1e9;
  for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k) largest = std::max(largest, (a[k] - b[k]).norm());
  return largest;
}

/// Volume inside an open tube with its two ends closed by fans: Σ x·(y × z) / 6, ends by their centres.
double tube_volume(const std::vector<Vec3>& x, const RawCharacter& character, Index sectors) {
  double volume = 0;
  for (const Triangle& t : character.meshes[0].surface.triangles)
    volume += x[to_size(t[0])].dot(x[to_size(t[1])].cross(x[to_size(t[2])]));
  const auto n = to_size(sectors);
  for (const std::size_t first : {std::size_t{0}, x.size() - n}) {
    Vec3 centre = Vec3::Zero();
    for (std::size_t s = 0; s < n; ++s) centre += x[first + s] / sectors;
    for (std::size_t s = 0; s < n; ++s) {
      const double part = centre.dot(x[first + s].cross(x[first + (s + 1) % n]));
      volume += first == 0 ? part : -part;
    }
  }
  return std::abs(volume) / 6;
}

TEST(Skinning, RestIsRest) {
  const RawCharacter tube = make_tube(4, 9, 8, 2.0, 0.2, 3);
  for (const SkinningMethod method : {SkinningMethod::linear, SkinningMethod::dual_quaternion}) {
    const CharacterRig rig = rig_of(tube, method);
    EXPECT_LT(largest_difference(evaluate_all(*rig.rig(), rig.neutral().p), tube.meshes[0].surface.vertices), 1e-14);
  }
}

TEST(Skinning, LinearIsTheWeightedSumOfBoneMatrices) {
  const RawCharacter tube = make_tube(5, 9, 8, 2.0, 0.2, 3);
  const Pose pose = random_pose(tube.skeleton, 3);
  const std::vector<Affine> world = world_matrices(tube.skeleton, pose);
  const CharacterMesh& mesh = tube.meshes[0];
  std::vector<Vec3> expected;
  for (std::size_t v = 0; v < mesh.surface.vertices.size(); ++v) {
    Vec3 sum = Vec3::Zero();
    for (Index e = mesh.weights.first[v]; e < mesh.weights.first[v + 1]; ++e) {
      const auto j = to_size(mesh.weights.joint[to_size(e)]);
      sum += mesh.weights.weight[to_size(e)] * (world[j] * (tube.skins[0].inverse_bind[j] * mesh.surface.vertices[v]));
    }
    expected.push_back(sum);
  }
  EXPECT_LT(largest_difference(posed(rig_of(tube, SkinningMethod::linear), pose), expected), 1e-13);
}

TEST(Skinning, ASubsetIsASubset) {
  const RawCharacter tube = make_tube(5, 9, 8, 2.0, 0.2, 3);
  for (const SkinningMethod method : {SkinningMethod::linear, SkinningMethod::dual_quaternion}) {
    const CharacterRig rig = rig_of(tube, method);
    CharacterPose pose = rig.neutral();
    rig.set_joints(random_pose(tube.skeleton, 4), pose);
    const std::vector<Vec3> all = evaluate_all(*rig.rig(), pose.p);
    const std::vector<Index> some = {70, 3, 3, 41};
    std::vector<Vec3> positions(some.size());
    rig.rig()->evaluate(pose.p, some, positions, *rig.rig()->make_workspace(4));
    for (std::size_t k = 0; k < some.size(); ++k) EXPECT_EQ(positions[k], all[to_size(some[k])]);
  }
}

TEST(Skinning, DualQuaternionsKeepTheVolumeOfATwist) {
  const Index sectors = 24;
  RawCharacter tube = make_tube(2, 41, sectors, 2.0, 0.3);
  const double volume = tube_volume(tube.meshes[0].surface.vertices, tube, sectors);
  Pose pose = rest_pose(tube.skeleton);
  pose[1].rotation = turn(175, Vec3::UnitY());
  const auto linear = posed(rig_of(tube, SkinningMethod::linear), pose);
  const auto dual = posed(rig_of(tube, SkinningMethod::dual_quaternion), pose);
  EXPECT_LT(tube_volume(linear, tube, sectors), 0.8 * volume);
  EXPECT_GT(tube_volume(dual, tube, sectors), 0.97 * volume);
  // The closed form: a vertex with weights 1 − w and w turns by the angle of the blended quaternion, about the axis,
  // and keeps its radius; linear blending shrinks it to |(1 − w) + w e^{iθ}|.
  const CharacterMesh& mesh = tube.meshes[0];
  for (std::size_t v = 0; v < dual.size(); ++v) {
    const auto e = to_size(mesh.weights.first[v]);
    const double w = mesh.weights.joint[e] == 1 ? mesh.weights.weight[e] : mesh.weights.weight[e + 1];
    EXPECT_NEAR(std::hypot(dual[v].x(), dual[v].z()), 0.3, 1e-12);
    const double theta = 175 * std::numbers::pi / 180;
    EXPECT_NEAR(std::hypot(linear[v].x(), linear[v].z()),
                0.3 * std::hypot(1 - w + w * std::cos(theta), w * std::sin(theta)), 1e-12);
  }
}

TEST(Skinning, FollowsRigidMotionsOfTheRoot) {
  const RawCharacter tube = make_tube(4, 9, 8, 2.0, 0.2, 3);
  std::mt19937 random(8);
  const RigidTransform motion{Vec3(3, -2, 7), random_rotation(random)};
  for (const SkinningMethod method : {SkinningMethod::linear, SkinningMethod::dual_quaternion}) {
    const CharacterRig rig = rig_of(tube, method);
    Pose pose = random_pose(tube.skeleton, 5);
    std::vector<Vec3> expected = posed(rig, pose);
    for (Vec3& x : expected) x = motion * x;
    pose[0].translation = motion * pose[0].translation;
    pose[0].rotation = motion.rotation * pose[0].rotation;
    EXPECT_LT(largest_difference(posed(rig, pose), expected), 1e-13);
  }
}

TEST(Skinning, SignsOfQuaternionsDoNotMatter) {
  const RawCharacter tube = make_tube(4, 9, 8, 2.0, 0.2, 3);
  for (const SkinningMethod method : {SkinningMethod::linear, SkinningMethod::dual_quaternion}) {
    const CharacterRig rig = rig_of(tube, method);
    CharacterPose pose = rig.neutral();
    rig.set_joints(random_pose(tube.skeleton, 6), pose);
    const auto expected = evaluate_all(*rig.rig(), pose.p);
    for (std::size_t k = 4; k < 8; ++k) pose.p[k] *= -2.5;  // any length, either sign
    EXPECT_LT(largest_difference(evaluate_all(*rig.rig(), pose.p), expected), 1e-14);
    std::fill(pose.p.begin(), pose.p.end(), std::numeric_limits<double>::quiet_NaN());
    EXPECT_LT(largest_difference(evaluate_all(*rig.rig(), pose.p), tube.meshes[0].surface.vertices), 1e-14);
  }
}

/// The whole character in centimetres under a node that scales by 0.01: both methods agree with the one in metres.
TEST(Skinning, UnitsOfTheFileDoNotMatter) {
  const RawCharacter tube = make_tube(4, 9, 8, 2.0, 0.2, 3);
  RawCharacter scaled;
  scaled.skins = tube.skins;
  scaled.meshes = tube.meshes;
  scaled.skeleton.joints.resize(1);
  scaled.skeleton.joints[0].rest.scale.setConstant(0.01);
  for (Joint joint : tube.skeleton.joints) {
    ++joint.parent;
    joint.rest.translation *= 100;
    scaled.skeleton.joints.push_back(joint);
  }
  for (Index& joint : scaled.skins[0].joints) ++joint;
  for (Affine& bind : scaled.skins[0].inverse_bind) bind.translation() *= 100;
  for (Vec3& x : scaled.meshes[0].surface.vertices) x *= 100;
  const Pose pose = random_pose(tube.skeleton, 7);
  Pose scaled_pose = rest_pose(scaled.skeleton);
  for (std::size_t j = 0; j < pose.size(); ++j) scaled_pose[j + 1].rotation = pose[j].rotation;
  for (const SkinningMethod method : {SkinningMethod::linear, SkinningMethod::dual_quaternion}) {
    const auto expected = posed(rig_of(tube, method), pose);
    EXPECT_LT(largest_difference(posed(rig_of(scaled, method), scaled_pose), expected), 1e-12);
  }
}

TEST(Skinning, BothMethodsScaleABoneAlike) {
  const RawCharacter tube = make_tube(4, 9, 8, 2.0, 0.2, 2);
  CharacterRigSettings settings;
  Clip clip{"grow", 1.0, {{2, ChannelTarget::scale, Interpolation::linear, 3, {0, 1}, {1, 1, 1, 2, 0.5, 2}}}};
  RawCharacter animated = tube;
  animated.clips.push_back(clip);
  std::vector<std::vector<Vec3>> results;
  for (const SkinningMethod method : {SkinningMethod::linear, SkinningMethod::dual_quaternion}) {
    const CharacterRig rig = rig_of(animated, method);
    CharacterPose pose = rig.neutral();
    rig.sample(clip, 1.0, ClipWrap::hold, pose);
    results.push_back(evaluate_all(*rig.rig(), pose.p));
  }
  EXPECT_GT(largest_difference(results[0], tube.meshes[0].surface.vertices), 0.1);
  EXPECT_LT(largest_difference(results[0], results[1]), 1e-12);  // no rotation: both are the linear blend
}

TEST(RootMotion, PlacementTimesPoseIsTheWorld) {
  RawCharacter tube = make_tube(4, 9, 8, 2.0, 0.2, 3);
  // A prop beside the root, which the root's motion must not drag along.
  tube.skeleton.joints.push_back({"prop", -1, {}, {}});
  tube.skins[0].joints[3] = 4;
  tube.skins[0].joints[0] = 1;  // what is above the root carries no skin
  CharacterRigSettings settings;
  settings.root = 1;
  const CharacterRig rig = CharacterRig::create(tube, settings).value();
  Pose pose = random_pose(tube.skeleton, 9);
  pose[0].translation = Vec3(1, 2, 3);
  pose[4].translation = Vec3(-1, 0, 2);
  CharacterPose split = rig.neutral();
  rig.set_joints(pose, split);
  EXPECT_GT(split.placement.translation.norm(), 1.0);
  std::vector<Vec3> split_world = evaluate_all(*rig.rig(), split.p);
  for (Vec3& x : split_world) x = split.placement * x;
  const std::vector<Affine> world = world_matrices(tube.skeleton, pose);
  const CharacterMesh& mesh = tube.meshes[0];
  for (std::size_t v = 0; v < split_world.size(); ++v) {
    Vec3 sum = Vec3::Zero();
    for (Index e = mesh.weights.first[v]; e < mesh.weights.first[v + 1]; ++e) {
      const auto j = to_size(mesh.weights.joint[to_size(e)]);
      sum += mesh.weights.weight[to_size(e)] *
             (world[to_size(tube.skins[0].joints[j])] * (tube.skins[0].inverse_bind[j] * mesh.surface.vertices[v]));
    }
    ASSERT_LT((split_world[v] - sum).norm(), 1e-13);
  }
}

TEST(RootMotion, ThePoseForgetsThePlace) {
  const RawCharacter tube = make_tube(4, 9, 8, 2.0, 0.2, 3);
  const CharacterRig rig = rig_of(tube, SkinningMethod::linear);
  EXPECT_EQ(rig.root(), 0);
  Pose pose = random_pose(tube.skeleton, 10);
  CharacterPose here = rig.neutral();
  CharacterPose there = rig.neutral();
  rig.set_joints(pose, here);
  pose[0].translation += Vec3(5, 0, 1);
  pose[0].rotation = turn(120, Vec3(1, 2, 3)) * pose[0].rotation;
  rig.set_joints(pose, there);
  EXPECT_LT(pose_distance(rig.rig()->layout(), here.p, there.p), 1e-14);
}

}  // namespace
}  // namespace supple::skinning_test
