// SPDX-License-Identifier: Apache-2.0
// Retargeting: to itself it is the identity, to a larger self larger; T-pose to A-pose, other axes, other names.
#include "supple/rig/motion/retarget.h"
#include "supple/rig/motion/retarget_floor.h"
#include "supple/rig/motion/sample_clip.h"
#include "supple/rig/pose_layout.h"
#include "support/rigs.h"

#include <gtest/gtest.h>

#include <map>

namespace supple::retarget_test {
namespace {

struct Limbs {
  double arms_down = 0;  ///< degrees from the T-pose
  double size = 1;
};

/// A small person facing +z, y up, standing on the floor; world directions are in the offsets, rotations are identity.
Skeleton make_person(const Limbs& limbs = {}) {
  Skeleton skeleton;
  const auto add = [&](const std::string& name, Index parent, const Vec3& offset) {
    Joint joint;
    joint.name = name;
    joint.parent = parent;
    joint.rest.translation = limbs.size * offset;
    skeleton.joints.push_back(joint);
    return skeleton.size() - 1;
  };
  const Index hips = add("Hips", -1, {0, 0.95, 0});
  const Index spine = add("Spine", hips, {0, 0.15, 0});
  const Index chest = add("Chest", spine, {0, 0.2, 0});
  const Index neck = add("Neck", chest, {0, 0.2, 0});
  add("Head", neck, {0, 0.1, 0});
  for (const double s : {1.0, -1.0}) {
    const std::string side = s > 0 ? "Left" : "Right";
    const Vec3 along = turn(-s * limbs.arms_down, Vec3::UnitZ()) * Vec3(s, 0, 0);
    const Index arm = add(side + "Arm", chest, {0.18 * s, 0.15, 0});
    const Index forearm = add(side + "ForeArm", arm, 0.28 * along);
    add(side + "Hand", forearm, 0.25 * along);
    const Index thigh = add(side + "UpLeg", hips, {0.1 * s, -0.05, 0});
    const Index shin = add(side + "Leg", thigh, {0, -0.42, 0.01});
    const Index foot = add(side + "Foot", shin, {0, -0.4, -0.01});
    add(side + "ToeBase", foot, {0, -0.06, 0.12});
  }
  return skeleton;
}

Clip make_walk(const Skeleton& skeleton, double size = 1) {
  Clip clip{"walk", 1.0, {}};
  std::mt19937 random(11);
  for (Index j = 0; j < skeleton.size(); ++j) {
    Channel channel{j, ChannelTarget::rotation, Interpolation::linear, 4, {}, {}};
    for (int k = 0; k <= 10; ++k) {
      const Quat q = skeleton.joints[to_size(j)].rest.rotation * Quat::Identity().slerp(0.25, random_rotation(random));
      channel.times.push_back(0.1 * k);
      channel.values.insert(channel.values.end(), q.coeffs().data(), q.coeffs().data() + 4);
    }
    clip.channels.push_back(channel);
  }
  Channel path{0, ChannelTarget::translation, Interpolation::linear, 3, {0, 1}, {}};
  for (const double v : {0.0, 0.9, 0.0, 0.3, 0.8, 2.0}) path.values.push_back(size * v);
  clip.channels.push_back(path);
  return clip;
}

Pose pose_at(const Skeleton& skeleton, const Clip& clip, double time) {
  Pose pose = rest_pose(skeleton);
  sample_clip(clip, time, ClipWrap::hold, pose);
  return pose;
}

TEST(Retarget, ToItselfIsTheIdentity) {
  const Skeleton person = make_person();
  const Clip walk = make_walk(person);
  const auto pairs = match_joints(person, person);
  ASSERT_EQ(pairs.size(), person.joints.size());
  const Clip again = retarget(person, walk, person, pairs).value();
  EXPECT_EQ(again.duration, 1.0);
  for (int k = 0; k <= 10; ++k) {
    const auto expected = world_matrices(person, pose_at(person, walk, 0.1 * k));
    const auto world = world_matrices(person, pose_at(person, again, 0.1 * k));
    for (std::size_t j = 0; j < world.size(); ++j)
      EXPECT_LT((world[j].matrix() - expected[j].matrix()).norm(), 1e-6) << person.joints[j].name;
  }
}

TEST(Retarget, ToALargerSelfIsLarger) {
  const Skeleton person = make_person();
  const Skeleton giant = make_person({.size = 2.5});
  const Clip walk = make_walk(person);
  const Clip again = retarget(person, walk, giant, match_joints(person, giant)).value();
  for (int k = 0; k <= 10; ++k) {
    const auto expected = world_matrices(person, pose_at(person, walk, 0.1 * k));
    const auto world = world_matrices(giant, pose_at(giant, again, 0.1 * k));
    for (std::size_t j = 0; j < world.size(); ++j)
      EXPECT_LT((world[j].translation() - 2.5 * expected[j].translation()).norm(), 1e-6) << person.joints[j].name;
  }
}

/// A T-posed and an A-posed skeleton of one body: afterwards both stand the same way, joint by joint.
TEST(Retarget, AlignsTPoseAndAPose) {
  const Skeleton t_pose = make_person();
  const Skeleton a_pose = make_person({.arms_down = 50});
  const Clip walk = make_walk(t_pose);
  const Clip again = retarget(t_pose, walk, a_pose, match_joints(t_pose, a_pose)).value();
  for (int k = 0; k <= 10; ++k) {
    const auto expected = world_matrices(t_pose, pose_at(t_pose, walk, 0.1 * k));
    const auto world = world_matrices(a_pose, pose_at(a_pose, again, 0.1 * k));
    for (std::size_t j = 0; j < world.size(); ++j)
      EXPECT_LT((world[j].translation() - expected[j].translation()).norm(), 1e-6) << t_pose.joints[j].name;
  }
}

/// The same body in a file with z up that faces −y, its bones' own axes turned at random.
TEST(Retarget, TurnsUpAndFacing) {
  const Skeleton person = make_person();
  const Clip walk = make_walk(person);
  Skeleton other = person;
  const Quat lay(Eigen::AngleAxisd(std::numbers::pi / 2, Vec3::UnitX()));  // y up → z up
  std::mt19937 random(12);
  std::vector<Quat> axes;
  for (Joint& joint : other.joints) {
    axes.push_back(random_rotation(random));
    const Quat parent = joint.parent < 0 ? Quat::Identity() : axes[to_size(joint.parent)];
    joint.rest.rotation = parent.conjugate() * axes.back();
    joint.rest.translation = parent.conjugate() * (lay * joint.rest.translation);
  }
  const Clip again = retarget(person, walk, other, match_joints(person, other)).value();
  for (int k = 0; k <= 10; ++k) {
    const auto expected = world_matrices(person, pose_at(person, walk, 0.1 * k));
    const auto world = world_matrices(other, pose_at(other, again, 0.1 * k));
    for (std::size_t j = 0; j < world.size(); ++j)
      EXPECT_LT((world[j].translation() - lay * expected[j].translation()).norm(), 1e-6) << person.joints[j].name;
  }
}

/// A foot that stands still, stands still on a body with other proportions.
TEST(Retarget, FeetStandStill) {
  const Skeleton person = make_person();
  Skeleton other = make_person({.size = 1.4});
  for (Joint& joint : other.joints) {
    if (joint.name.ends_with("UpLeg")) joint.rest.translation.x() *= 1.5;
    if (joint.name.ends_with("Leg") && !joint.name.ends_with("UpLeg")) joint.rest.translation *= 0.9;
    if (joint.name.ends_with("Foot")) joint.rest.translation *= 1.15;
  }
  Clip crouch{
      "crouch", 1.0, {{0, ChannelTarget::translation, Interpolation::linear, 3, {0, 1}, {0, 0.9, 0, 0, 0.6, 0.1}}}};
  // Its legs by IK, so that its own feet stand.
  Pose pose = rest_pose(person);
  std::map<Index, Channel> legs;
  for (int k = 0; k <= 20; ++k) {
    sample_clip(crouch, 0.05 * k, ClipWrap::hold, pose);
    for (const std::string side : {"Left", "Right"}) {
      const Index thigh = find_joint(person, side + "UpLeg");
      const Index shin = find_joint(person, side + "Leg");
      const Index foot = find_joint(person, side + "Foot");
      for (const Index j : {thigh, shin, foot}) pose[to_size(j)] = person.joints[to_size(j)].rest;
      const Vec3 knee_side = world_matrix(person, pose, thigh).translation() + Vec3(0, 0, 5);
      const Vec3 ankle = world_matrix(person, rest_pose(person), foot).translation();
      // A pose for each key of the thigh and the shin.
      const auto solve = [&] {
        Pose solved = pose;
        const Vec3 a = world_matrix(person, solved, thigh).translation();
        const Vec3 u = (ankle - a).normalized();
        const double d = (ankle - a).norm();
        const double upper = 0.42012, lower = 0.40012;
        const double cosine = std::clamp((upper * upper + d * d - lower * lower) / (2 * upper * d), -1.0, 1.0);
        Vec3 out = (knee_side - a) - u * u.dot(knee_side - a);
        const Vec3 knee = a + upper * (cosine * u + std::sqrt(1 - cosine * cosine) * out.normalized());
        rotate_in_world(person, solved, thigh,
                        rotation_between(world_matrix(person, solved, shin).translation() - a, knee - a));
        const Vec3 b = world_matrix(person, solved, shin).translation();
        rotate_in_world(person, solved, shin,
                        rotation_between(world_matrix(person, solved, foot).translation() - b, ankle - b));
        return solved;
      };
      const Pose solved = solve();
      for (const Index j : {thigh, shin}) {
        Channel& channel =
            legs.try_emplace(j, Channel{j, ChannelTarget::rotation, Interpolation::linear, 4, {}, {}}).first->second;
        channel.times.push_back(0.05 * k);
        const double* q = solved[to_size(j)].rotation.coeffs().data();
        channel.values.insert(channel.values.end(), q, q + 4);
      }
    }
  }
  for (const auto& [joint, channel] : legs) crouch.channels.push_back(channel);
  const Clip again = retarget(person, crouch, other, match_joints(person, other)).value();
  const Index foot = find_joint(other, "LeftFoot");
  const Index source_foot = find_joint(person, "LeftFoot");
  const Vec3 first = world_matrix(other, pose_at(other, again, 0), foot).translation();
  EXPECT_NEAR(first.y(), world_matrix(other, rest_pose(other), foot).translation().y(), 0.01);
  for (int k = 0; k <= 20; ++k) {
    const Vec3 source = world_matrix(person, pose_at(person, crouch, 0.05 * k), source_foot).translation();
    ASSERT_LT((source - world_matrix(person, rest_pose(person), source_foot).translation()).norm(), 1e-3);
    EXPECT_LT((world_matrix(other, pose_at(other, again, 0.05 * k), foot).translation() - first).norm(), 2e-3);
  }
}

// A recording that floats above its floor is brought down: where its feet are lowest, they stand.
TEST(Retarget, FloatingMotionsComeDown) {
  const Skeleton person = make_person(), other = make_person({.size = 1.3});
  const Vec3 hips = person.joints[0].rest.translation;
  Clip hop{"hop", 2.0, {{0, ChannelTarget::translation, Interpolation::linear, 3, {}, {}}}};
  for (int k = 0; k <= 40; ++k) {
    const double height = 0.17 + 0.3 * std::max(0.0, std::sin(0.05 * k * std::numbers::pi));  // never below 0.17
    hop.channels[0].times.push_back(0.05 * k);
    for (const double x : {hips.x(), hips.y() + height, hips.z()}) hop.channels[0].values.push_back(x);
  }
  const Clip again = retarget(person, hop, other, match_joints(person, other)).value();
  const Index foot = find_joint(other, "LeftFoot");
  const double standing = world_matrix(other, rest_pose(other), foot).translation().y();
  double lowest = 1e9, highest = -1e9;
  for (int k = 0; k <= 40; ++k) {
    const double y = world_matrix(other, pose_at(other, again, 0.05 * k), foot).translation().y();
    lowest = std::min(lowest, y);
    highest = std::max(highest, y);
  }
  EXPECT_NEAR(lowest, standing, 1e-3);
  EXPECT_NEAR(highest - lowest, 1.3 * 0.3, 0.01);  // and the hop is a hop
}

/// A person who hops on a floor that rises by `drift` from one second to two.
Clip make_drifting_hops(const Skeleton& person, double drift) {
  const Vec3 hips = person.joints[0].rest.translation;
  Clip hops{"hops", 6.0, {{0, ChannelTarget::translation, Interpolation::linear, 3, {}, {}}}};
  for (int k = 0; k <= 240; ++k) {
    const double t = 0.025 * k;
    const double floor = drift * std::clamp(t - 2, 0.0, 1.0);
    const double hop = 0.2 * std::max(0.0, std::sin(2 * std::numbers::pi * t));  // half a second up, half a second down
    hops.channels[0].times.push_back(t);
    for (const double x : {hips.x(), hips.y() + 0.05 + floor + hop, hips.z()}) hops.channels[0].values.push_back(x);
  }
  return hops;
}

std::vector<double> foot_heights(const Skeleton& skeleton, const Clip& clip, double from, double to) {
  const Index foot = find_joint(skeleton, "LeftFoot");
  const double standing = world_matrix(skeleton, rest_pose(skeleton), foot).translation().y();
  std::vector<double> heights;
  for (double t = from; t < to; t += 0.025)
    heights.push_back(world_matrix(skeleton, pose_at(skeleton, clip, t), foot).translation().y() - standing);
  return heights;
}

// A floor that drifts by two decimetres is levelled, the hops on it stay; asked not to, it stays; a climb stays a
// climb.
TEST(Retarget, DriftingFloorsAreLevelled) {
  const Skeleton person = make_person(), other = make_person({.size = 1.3});
  const auto pairs = match_joints(person, other);
  const auto range = [&](double drift, bool level, double from, double to) {
    RetargetSettings settings;
    settings.floor.level = level;
    const Clip clip = retarget(person, make_drifting_hops(person, drift), other, pairs, settings).value();
    const std::vector<double> heights = foot_heights(other, clip, from, to);
    return std::pair(*std::min_element(heights.begin(), heights.end()),
                     *std::max_element(heights.begin(), heights.end()));
  };
  for (const auto& [from, to] : {std::pair(0.0, 1.5), std::pair(4.0, 6.0)}) {
    EXPECT_NEAR(range(0.2, true, from, to).first, 0, 2e-3);
    EXPECT_NEAR(range(0.2, true, from, to).second, 1.3 * 0.2, 2e-3);
  }
  EXPECT_NEAR(range(0.2, false, 4, 6).first, 1.3 * 0.2, 2e-3);
  EXPECT_NEAR(range(0.6, true, 4, 6).first, 1.3 * 0.6, 2e-3);
}

/// On tiptoe the toes stand, however long the foot: its ball stays where it stood, and the ankle comes up.
TEST(Retarget, TiptoesStandOnTheFloor) {
  const Skeleton person = make_person();
  Skeleton other = make_person({.size = 1.4});
  for (Joint& joint : other.joints) {
    if (joint.name.ends_with("ToeBase")) joint.rest.translation.z() *= 2;
  }
  const double tip = 40;
  const double toe_y = -0.06, toe_z = 0.12;  // of the toes, from the ankle
  const double c = std::cos(tip * std::numbers::pi / 180), s = std::sin(tip * std::numbers::pi / 180);
  const double raised = toe_y - (toe_y * c - toe_z * s);  // what the ankle rises by, for the toes to stay
  Clip tiptoe{"tiptoe", 1.0, {}};
  for (const std::string side : {"Left", "Right"}) {
    const Quat q = turn(tip, Vec3::UnitX());
    tiptoe.channels.push_back({find_joint(person, side + "Foot"),
                               ChannelTarget::rotation,
                               Interpolation::linear,
                               4,
                               {0, 1},
                               {0, 0, 0, 1, q.x(), q.y(), q.z(), q.w()}});
  }
  tiptoe.channels.push_back(
      {0, ChannelTarget::translation, Interpolation::linear, 3, {0, 1}, {0, 0.95, 0, 0, 0.95 + raised, 0}});
  const Clip again = retarget(person, tiptoe, other, match_joints(person, other)).value();
  for (const auto& [skeleton, clip] : {std::pair<const Skeleton*, const Clip*>(&person, &tiptoe), {&other, &again}}) {
    const Index toe = find_joint(*skeleton, "LeftToeBase");
    const double before = world_matrix(*skeleton, rest_pose(*skeleton), toe).translation().y();
    EXPECT_NEAR(world_matrix(*skeleton, pose_at(*skeleton, *clip, 1), toe).translation().y(), before, 0.012);
  }
}

/// Rigs that lead the leg to a foot of its own: the foot isn't a child of the shin, but stays at its end.
TEST(Retarget, FeetBesideTheLegFollowIt) {
  const Skeleton person = make_person();
  Skeleton other = person;
  for (Joint& joint : other.joints) {
    if (!joint.name.ends_with("Foot")) continue;
    const auto self = static_cast<Index>(&joint - other.joints.data());
    joint.rest.translation = world_matrix(person, rest_pose(person), self).translation();
    joint.parent = -1;
  }
  const Clip walk = make_walk(person);
  const Clip again = retarget(person, walk, other, match_joints(person, other)).value();
  for (int k = 0; k <= 10; ++k) {
    const auto expected = world_matrices(person, pose_at(person, walk, 0.1 * k));
    const auto world = world_matrices(other, pose_at(other, again, 0.1 * k));
    for (std::size_t j = 0; j < world.size(); ++j)
      EXPECT_LT((world[j].matrix() - expected[j].matrix()).norm(), 1e-6) << person.joints[j].name;
  }
}

TEST(JointRoles, KnowManyDialects) {
  const std::vector<std::vector<std::string>> dialects = {
      {"mixamorig:Hips", "mixamorig:LeftUpLeg", "mixamorig:LeftLeg", "mixamorig:RightUpLeg", "mixamorig:LeftForeArm"},
      {"pelvis", "thigh_l", "calf_l", "thigh_r", "lowerarm_l"},
      {"Bip01 Pelvis", "Bip01 L Thigh", "Bip01 L Calf", "Bip01 R Thigh", "Bip01 L Forearm"},
      {"J_Bip_C_Hips", "J_Bip_L_UpperLeg", "J_Bip_L_LowerLeg", "J_Bip_R_UpperLeg", "J_Bip_L_LowerArm"},
      {"hips", "DEF-thigh.L", "DEF-shin.L", "DEF-thigh.R", "DEF-forearm.L"},
      {"Root", "UpLeg_L", "LoLeg_L", "UpLeg_R", "LoArm_L"},
      {"torso_joint_1", "leg_joint_L_1", "leg_joint_L_2", "leg_joint_R_1", "lowerarm.l"},
      {"char:def_c_hip", "char:def_l_thigh", "char:def_l_knee", "char:def_r_thigh", "char:def_l_elbow"},
  };
  for (const auto& names : dialects) {
    Skeleton skeleton;
    for (std::size_t k = 0; k < names.size(); ++k)
      skeleton.joints.push_back({names[k], k == 0 ? -1 : k == 2 ? 1 : 0, {}, {}});
    const auto roles = joint_roles(skeleton);
    const std::vector<JointRole> expected = {{BodyPart::hips, Side::centre, 0},
                                             {BodyPart::thigh, Side::left, 0},
                                             {BodyPart::shin, Side::left, 0},
                                             {BodyPart::thigh, Side::right, 0},
                                             {BodyPart::forearm, Side::left, 0}};
    for (std::size_t k = 0; k < names.size(); ++k) EXPECT_EQ(roles[k], expected[k]) << names[k];
  }
}

/// A mesh called "Head" is no head: the head is carried with the arms. "A, B" count as "1, 2" do.
TEST(JointRoles, MeshesAreNoJoints) {
  Skeleton skeleton;
  for (const auto& [name, parent] : std::vector<std::pair<std::string, Index>>{{"root", -1},
                                                                               {"Head", 0},
                                                                               {"hips", 0},
                                                                               {"spineA", 2},
                                                                               {"spineB", 3},
                                                                               {"neckA", 4},
                                                                               {"neckB", 5},
                                                                               {"l_shoulder", 4},
                                                                               {"l_elbow", 7},
                                                                               {"r_shoulder", 4},
                                                                               {"r_elbow", 9}})
    skeleton.joints.push_back({name, parent, {}, {}});
  const auto roles = joint_roles(skeleton);
  EXPECT_EQ(roles[1], JointRole{});
  EXPECT_EQ(roles[4], (JointRole{BodyPart::spine, Side::centre, 1}));
  EXPECT_EQ(roles[6], (JointRole{BodyPart::head, Side::centre, 0}));
  EXPECT_EQ(roles[7], (JointRole{BodyPart::upper_arm, Side::left, 0}));
}

TEST(Retarget, RefusalsAreSentences) {
  const Skeleton person = make_person();
  EXPECT_NE(retarget(person, make_walk(person), person, {}).error().message.find("give a map"), std::string::npos);
  EXPECT_FALSE(retarget(person, make_walk(person), person, {{0, 99}}).ok());
}

}  // namespace
}  // namespace supple::retarget_test
