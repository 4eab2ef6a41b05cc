// SPDX-License-Identifier: Apache-2.0
// Root motion taken out of a pose, and put back.
#include "supple/rig/motion/root_motion.h"

#include "support/rigs.h"

#include <gtest/gtest.h>

namespace supple::root_motion_test {
namespace {

/// armature ─ hips ─ (spine, leg),  armature ─ prop,  and a lamp on its own.
Skeleton two_legs() {
  Skeleton skeleton;
  const auto add = [&](const char* name, Index parent, const Vec3& at, const Quat& rotation) {
    Joint joint{name, parent, {}, {}};
    joint.rest.translation = at;
    joint.rest.rotation = rotation;
    skeleton.joints.push_back(joint);
  };
  add("armature", -1, Vec3(0, 0.1, 0), turn(90, Vec3::UnitX()));
  add("hips", 0, Vec3(0, 0, 1), turn(30, Vec3(1, 1, 0)));
  add("spine", 1, Vec3(0, 0.5, 0), turn(-20, Vec3::UnitZ()));
  add("leg", 1, Vec3(0.1, -0.5, 0), Quat::Identity());
  add("prop", 0, Vec3(1, 0, 0), turn(10, Vec3::UnitY()));
  add("lamp", -1, Vec3(3, 3, 3), Quat::Identity());
  return skeleton;
}

Affine matrix_of(const RigidTransform& placement) {
  Affine result = Affine::Identity();
  result.linear() = placement.rotation.toRotationMatrix();
  result.translation() = placement.translation;
  return result;
}

/// Walks away, turns around, bends the spine.
Pose walked(const Skeleton& skeleton) {
  Pose pose = rest_pose(skeleton);
  pose[0].translation += Vec3(2, 0, -1);
  pose[1].translation += Vec3(0.3, 0.2, 0.1);
  pose[1].rotation = turn(140, Vec3(0.2, 1, 0)) * pose[1].rotation;
  pose[2].rotation = pose[2].rotation * turn(35, Vec3::UnitX());
  return pose;
}

TEST(CommonAncestor, IsTheLowestJointThatCarriesAll) {
  const Skeleton skeleton = two_legs();
  const auto of = [&](std::vector<Index> joints) { return common_ancestor(skeleton, joints); };
  EXPECT_EQ(of({2, 3}), 1);
  EXPECT_EQ(of({3}), 3);
  EXPECT_EQ(of({1, 3}), 1);
  EXPECT_EQ(of({2, 4}), 0);
  EXPECT_EQ(of({2, 5}), -1);  // on trees of their own
  EXPECT_EQ(of({}), -1);
}

TEST(RootMotion, PlacementTimesWhatIsLeftIsThePose) {
  const Skeleton skeleton = two_legs();
  const RootSplitter splitter(skeleton, 1);
  const Pose pose = walked(skeleton);
  const std::vector<Affine> before = world_matrices(skeleton, pose);
  Pose left = pose;
  const Affine placement = matrix_of(splitter.split(left));
  const std::vector<Affine> after = world_matrices(skeleton, left);
  for (std::size_t j = 1; j < before.size(); ++j)  // the armature itself goes back to rest
    EXPECT_LT(((placement * after[j]).matrix() - before[j].matrix()).norm(), 1e-12) << skeleton.joints[j].name;
}

TEST(RootMotion, RootAndWhatIsAboveGoBackToRest) {
  const Skeleton skeleton = two_legs();
  Pose pose = walked(skeleton);
  RootSplitter(skeleton, 1).split(pose);
  for (const std::size_t j : {0u, 1u}) {
    EXPECT_EQ(pose[j].translation, skeleton.joints[j].rest.translation);
    EXPECT_EQ(pose[j].rotation.coeffs(), skeleton.joints[j].rest.rotation.coeffs());
  }
  EXPECT_EQ(pose[2].rotation.coeffs(), walked(skeleton)[2].rotation.coeffs());  // the bend is the pose
}

TEST(RootMotion, APoseIsTheSameWhereverItIsTaken) {
  const Skeleton skeleton = two_legs();
  const RootSplitter splitter(skeleton, 1);
  Pose here = walked(skeleton), there = here;
  there[0].translation = Vec3(-7, 1, 4);
  there[0].rotation = turn(77, Vec3(1, 2, 3)) * there[0].rotation;
  splitter.split(here);
  splitter.split(there);
  for (const std::size_t j : {0u, 1u, 2u, 3u}) {
    EXPECT_LT((here[j].translation - there[j].translation).norm(), 1e-13);
    EXPECT_LT(here[j].rotation.angularDistance(there[j].rotation), 1e-7);
  }
}

TEST(RootMotion, RestHasNone) {
  const Skeleton skeleton = two_legs();
  Pose pose = rest_pose(skeleton);
  const RigidTransform placement = RootSplitter(skeleton, 1).split(pose);
  EXPECT_LT(placement.translation.norm(), 1e-14);
  EXPECT_LT(placement.rotation.angularDistance(Quat::Identity()), 1e-7);
}

TEST(RootMotion, WithoutARootNothingIsTakenOut) {
  const Skeleton skeleton = two_legs();
  Pose pose = walked(skeleton);
  const RigidTransform placement = RootSplitter(skeleton, -1).split(pose);
  EXPECT_EQ(placement.translation, Vec3(0, 0, 0));
  EXPECT_EQ(pose[1].translation, walked(skeleton)[1].translation);
}

}  // namespace
}  // namespace supple::root_motion_test
