// SPDX-License-Identifier: Apache-2.0
// Clips, keyframes and inverse kinematics against closed forms.
#include "supple/rig/motion/inverse_kinematics.h"
#include "supple/rig/motion/keyframes.h"
#include "supple/rig/motion/sample_clip.h"
#include "supple/rig/pose_layout.h"
#include "support/rigs.h"

#include <gtest/gtest.h>

namespace supple::motion_test {
namespace {

double angle_between(const Quat& a, const Quat& b) {
  return rotation_angle(a.coeffs(), b.coeffs()) * 180 / std::numbers::pi;
}

Channel rotation_channel(Interpolation interpolation, const std::vector<Quat>& keys) {
  Channel channel{0, ChannelTarget::rotation, interpolation, 4, {}, {}};
  for (std::size_t k = 0; k < keys.size(); ++k) {
    channel.times.push_back(static_cast<double>(k));
    const double* q = keys[k].coeffs().data();
    channel.values.insert(channel.values.end(), q, q + 4);
  }
  return channel;
}

Quat sampled(const Channel& channel, double time) {
  Pose pose(1);
  sample_clip({"", 0, {channel}}, time, ClipWrap::hold, pose);
  return pose[0].rotation;
}

TEST(Clip, LinearRotationsTurnSteadilyTheShortWay) {
  const Vec3 axis(1, 2, -1);
  Quat end = turn(100, axis);
  end.coeffs() *= -1;  // the same rotation
  const Channel channel = rotation_channel(Interpolation::linear, {Quat::Identity(), end});
  for (const double t : {-1.0, 0.0, 0.2, 0.5, 0.99, 1.0, 3.0})
    EXPECT_LT(angle_between(sampled(channel, t), turn(100 * std::clamp(t, 0.0, 1.0), axis)), 1e-12);
}

TEST(Clip, StepsStepAndCubicsAreHermite) {
  Channel step{0, ChannelTarget::translation, Interpolation::step, 3, {1, 2, 4}, {1, 0, 0, 2, 0, 0, 3, 0, 0}};
  const auto x = [](const Channel& channel, double t) {
    std::array<double, 3> v{};
    sample_channel(channel, t, v);
    return v[0];
  };
  for (const auto& [t, value] : {std::pair(0.0, 1.0), {1.0, 1.0}, {1.99, 1.0}, {2.0, 2.0}, {3.9, 2.0}, {9.0, 3.0}})
    EXPECT_EQ(x(step, t), value);
  // A cubic polynomial with its own slopes is reproduced: f = t³ − 2t + 1 at keys 0, 1, 3.
  Channel cubic{0, ChannelTarget::translation, Interpolation::cubic, 3, {0, 1, 3}, {}};
  const auto f = [](double t) { return t * t * t - 2 * t + 1; };
  for (const double t : cubic.times) {
    const double slope = 3 * t * t - 2;
    for (const double v : {slope, f(t), slope}) cubic.values.insert(cubic.values.end(), {v, 0, 0});
  }
  for (const double t : {0.0, 0.3, 1.0, 1.7, 2.9, 3.0}) EXPECT_NEAR(x(cubic, t), f(t), 1e-13);
}

TEST(Clip, LoopsAndMorphWeights) {
  Clip clip{"", 2.0, {{3, ChannelTarget::weights, Interpolation::linear, 2, {0, 2}, {0, 1, 1, 0}}}};
  std::array<double, 2> w{};
  sample_weights(clip, 2.5, ClipWrap::loop, 3, w);
  EXPECT_DOUBLE_EQ(w[0], 0.25);
  sample_weights(clip, -0.5, ClipWrap::loop, 3, w);
  EXPECT_DOUBLE_EQ(w[0], 0.75);
  sample_weights(clip, 2.5, ClipWrap::hold, 3, w);
  EXPECT_DOUBLE_EQ(w[0], 1.0);
  w = {7, 7};
  sample_weights(clip, 1.0, ClipWrap::hold, 2, w);  // another mesh's
  EXPECT_EQ(w[0], 7);
}

TEST(Keyframes, BecomeAClip) {
  RawCharacter tube = make_tube(3, 5, 6, 3.0, 0.2);
  tube.skeleton.joints[1].rest.rotation = turn(20, Vec3::UnitX());
  std::vector<Keyframe> keys(3);
  keys[0] = {"joint1", 1.0, Vec3(0, 0, 90), {}, {}};
  keys[1] = {"joint1", 0.0, Vec3(0, 0, 0), {}, {}};
  keys[2] = {"joint0", 0.5, {}, Vec3(0, 1, 0), Vec3(2, 2, 2)};
  for (const Interpolation interpolation : {Interpolation::linear, Interpolation::cubic}) {
    const Clip clip = make_clip(tube.skeleton, "wave", keys, interpolation).value();
    EXPECT_EQ(clip.duration, 1.0);
    Pose pose = rest_pose(tube.skeleton);
    sample_clip(clip, 0.5, ClipWrap::hold, pose);
    EXPECT_LT(angle_between(pose[1].rotation, turn(20, Vec3::UnitX()) * turn(45, Vec3::UnitZ())), 1e-9);
    EXPECT_EQ(pose[0].translation, Vec3(0, 1, 0));
    EXPECT_EQ(pose[0].scale, Vec3(2, 2, 2));
  }
  keys[0].joint = "jiont1";
  EXPECT_NE(make_clip(tube.skeleton, "wave", keys).error().message.find("did you mean 'joint1'"), std::string::npos);
  keys[0] = keys[1];
  EXPECT_NE(make_clip(tube.skeleton, "wave", keys).error().message.find("two keys"), std::string::npos);
}

Skeleton bent_arm() {
  Skeleton skeleton = make_tube(4, 5, 6, 4.0, 0.2).skeleton;
  skeleton.joints[0].rest.rotation = turn(30, Vec3(1, 1, 0));
  skeleton.joints[1].rest.scale.setConstant(1.3);
  skeleton.joints[2].rest.rotation = turn(-25, Vec3(0, 0, 1));
  return skeleton;
}

TEST(TwoBones, MakeTheTriangle) {
  const Skeleton skeleton = bent_arm();
  std::mt19937 random(3);
  for (int k = 0; k < 50; ++k) {
    Pose pose = rest_pose(skeleton);
    const Vec3 a = world_matrix(skeleton, pose, 1).translation();
    const double bone = 1.3;  // both bones are of length 1, scaled
    const double d = 0.2 + 0.05 * k;
    const Vec3 target = a + d * (random_rotation(random) * Vec3(Vec3::UnitX()));
    const Vec3 pole = a + random_rotation(random) * Vec3(0, 3, 0);
    solve_two_bones(skeleton, pose, 1, 2, 3, target, k % 2 == 0 ? std::optional<Vec3>(pole) : std::nullopt);
    const Vec3 b = world_matrix(skeleton, pose, 2).translation();
    const Vec3 c = world_matrix(skeleton, pose, 3).translation();
    EXPECT_LT((world_matrix(skeleton, pose, 1).translation() - a).norm(), 1e-12);
    EXPECT_NEAR((c - target).norm(), std::max(0.0, d - 2 * bone), 1e-9);
    EXPECT_LT((c - a).cross(target - a).norm(), 1e-9);  // towards it where it is too far
    if (d < 2 * bone) {
      // Law of cosines: the inner angle at the middle joint.
      const double cosine = (2 * bone * bone - d * d) / (2 * bone * bone);
      EXPECT_NEAR((a - b).normalized().dot((c - b).normalized()), cosine, 1e-9);
    }
    if (k % 2 == 0 && d < 2 * bone - 1e-6) {
      const Vec3 u = (target - a).normalized();
      const Vec3 side = (pole - a) - u * u.dot(pole - a);
      EXPECT_NEAR((b - a - u * u.dot(b - a)).normalized().dot(side.normalized()), 1.0, 1e-9);
    }
  }
}

TEST(TwoBones, LeaveALimbAloneThatIsThere) {
  const Skeleton skeleton = bent_arm();
  Pose pose = rest_pose(skeleton);
  solve_two_bones(skeleton, pose, 1, 2, 3, world_matrix(skeleton, pose, 3).translation());
  for (std::size_t j = 0; j < pose.size(); ++j)
    EXPECT_LT(angle_between(pose[j].rotation, skeleton.joints[j].rest.rotation), 1e-5);
}

TEST(ChainIk, ReachesTheTarget) {
  const Skeleton skeleton = make_tube(10, 5, 6, 2.0, 0.1).skeleton;
  const std::vector<Index> chain = joint_chain(skeleton, 2, 9);
  ASSERT_EQ(chain.size(), 8u);
  EXPECT_TRUE(joint_chain(skeleton, 9, 2).empty());
  const double length = 7 * 0.2;
  const Vec3 root(0, 0.4, 0);
  std::mt19937 random(4);
  for (int k = 0; k < 20; ++k) {
    Pose pose = rest_pose(skeleton);
    // Along the straight chain too, where it can't know where to bend.
    const Vec3 way = k == 0 ? Vec3(0, 1, 0) : Vec3(random_rotation(random) * Vec3(0, 1, 0));
    const Vec3 target = root + way * length * (0.3 + 0.03 * k);
    const double left = solve_chain(skeleton, pose, chain, target);
    EXPECT_LT(left, 1e-4 * length) << k;
    EXPECT_NEAR((world_matrix(skeleton, pose, 9).translation() - target).norm(), left, 1e-12);
    EXPECT_LT((world_matrix(skeleton, pose, 2).translation() - root).norm(), 1e-12);
  }
  Pose pose = rest_pose(skeleton);
  const double left = solve_chain(skeleton, pose, chain, root + Vec3(3, 0, 0));
  EXPECT_NEAR(left, 3 - length, 0.02);  // out of reach: it stretches towards it
}

TEST(ChainIk, StiffJointsTurnLess) {
  const Skeleton skeleton = make_tube(6, 5, 6, 1.2, 0.1).skeleton;
  const std::vector<Index> chain = joint_chain(skeleton, 0, 5);
  const Vec3 target(0.5, 0.5, 0.1);
  Pose free = rest_pose(skeleton);
  Pose stiff = free;
  Pose locked = free;
  const auto turned = [](const Transform& local) { return angle_between(local.rotation, Quat::Identity()); };
  solve_chain(skeleton, free, chain, target);
  EXPECT_LT(solve_chain(skeleton, stiff, chain, target, {.stiffness = {0, 0, 0.9}}), 1e-4);
  EXPECT_LT(turned(stiff[2]), 0.6 * turned(free[2]));
  EXPECT_LT(solve_chain(skeleton, locked, chain, target, {.stiffness = {0, 0, 1}}), 1e-4);
  EXPECT_LT(turned(locked[2]), 1e-9);
  EXPECT_GT(turned(free[2]), 10);
}

TEST(IkClip, FollowsAMovingTargetSmoothlyAndComesBack) {
  const Skeleton skeleton = make_tube(6, 5, 6, 1.2, 0.1).skeleton;
  IkGoal goal{0, 5, {}, {}, {}, {}};
  for (int k = 0; k <= 40; ++k) {
    const double angle = 2 * std::numbers::pi * k / 40;
    goal.times.push_back(0.05 * k);
    goal.targets.emplace_back(0.4 + 0.2 * std::cos(angle), 0.6 + 0.2 * std::sin(angle), 0.1 * std::sin(angle));
  }
  const Clip clip = make_ik_clip(skeleton, nullptr, goal, 60, "reach").value();
  EXPECT_EQ(clip.channels.size(), 5u);
  Pose before = rest_pose(skeleton);
  Pose pose = before;
  sample_clip(clip, 0, ClipWrap::hold, before);
  const Pose first = before;
  for (int k = 1; k <= 120; ++k) {
    sample_clip(clip, k / 60.0, ClipWrap::hold, pose);
    for (std::size_t j = 0; j < pose.size(); ++j) EXPECT_LT(angle_between(pose[j].rotation, before[j].rotation), 12);
    before = pose;
    if (k % 3 != 0) continue;  // a key of the target
    const Vec3 tip = world_matrix(skeleton, pose, 5).translation();
    EXPECT_LT((tip - goal.targets[to_size(k / 3)]).norm(), 1e-4);
  }
  for (std::size_t j = 0; j < pose.size(); ++j) EXPECT_LT(angle_between(pose[j].rotation, first[j].rotation), 1e-6);
  goal.root = 5;
  goal.tip = 0;
  EXPECT_FALSE(make_ik_clip(skeleton, nullptr, goal, 60, "reach").ok());
}

}  // namespace
}  // namespace supple::motion_test
