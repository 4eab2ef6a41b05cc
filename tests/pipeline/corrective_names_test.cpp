// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/corrective_names.h"

#include <gtest/gtest.h>

#include <cmath>

namespace supple::corrective_names_test {
namespace {

Skeleton people(const std::vector<std::string>& names) {
  Skeleton skeleton;
  for (std::size_t j = 0; j < names.size(); ++j) {
    Joint& joint = skeleton.joints.emplace_back();
    joint.name = names[j];
    joint.parent = static_cast<Index>(j) - 1;
  }
  return skeleton;
}

const Skeleton& blender() {
  static const Skeleton skeleton =
      people({"hips", "spine", "upper_arm.L", "forearm.L", "hand.L", "upper_arm.R", "forearm.R", "hand.R", "spine01"});
  return skeleton;
}

struct Reading {
  const char* name;
  const char* joint;
  double degrees;
  int axis;
};

TEST(CorrectiveNames, WhatRiggersWriteIsUnderstood) {
  for (const Reading& row :
       {Reading{"forearm.L_90", "forearm.L", 90, -1}, Reading{"Forearm_L_90_corrective", "forearm.L", 90, -1},
        Reading{"corrective_forearm_l_bend90", "forearm.L", 90, -1}, Reading{"forearm.R_x_120", "forearm.R", 120, 0},
        Reading{"forearm_L_rz_-45", "forearm.L", -45, 2}, Reading{"PSD_hand_R_rotY_neg30", "hand.R", -30, 1},
        Reading{"rig:upper_arm.L_z60", "upper_arm.L", 60, 2}, Reading{"spine01_y_30", "spine01", 30, 1},
        // Places that people call otherwise.
        Reading{"Elbow_L_90_corrective", "forearm.L", 90, -1},
        Reading{"corrective_elbow_r_bend90", "forearm.R", 90, -1},
        Reading{"LeftShoulder_z_80_fix", "upper_arm.L", 80, 2}}) {
    SCOPED_TRACE(row.name);
    std::string remark;
    const std::optional<CorrectiveName> read = read_corrective_name(row.name, blender(), remark);
    ASSERT_TRUE(read) << remark;
    EXPECT_EQ(blender().joints[to_size(read->joint)].name, row.joint);
    EXPECT_EQ(read->degrees, row.degrees);
    EXPECT_EQ(read->axis, row.axis);
  }
}

TEST(CorrectiveNames, OtherShapesAreLeftAlone) {
  for (const char* name : {"smile", "blink.L", "forearm.L", "forearm.L_900", "forearm.L_3", "mouth_open_50",
                           "viseme_aa", "forearm.L_90_120", "forearm.L_x_y_90", "big_forearm.L_90", "90", "", "_"}) {
    std::string remark;
    EXPECT_FALSE(read_corrective_name(name, blender(), remark)) << name;
    EXPECT_EQ(remark, "") << name;
  }
}

TEST(CorrectiveNames, WhatIsOpenIsToldAndNotGuessed) {
  std::string remark;
  EXPECT_FALSE(read_corrective_name("tail_60_corrective", blender(), remark));
  EXPECT_NE(remark.find("no joint is called so"), std::string::npos) << remark;
  const Skeleton twins = people({"root", "arm_l", "arm.L"});
  EXPECT_FALSE(read_corrective_name("arm_l_90", twins, remark));
  EXPECT_NE(remark.find("may be a corrective of \"arm_l\" or of \"arm.L\""), std::string::npos) << remark;
}

Clip turning(Index joint, const std::vector<Vec3>& turns) {
  Clip clip;
  Channel& channel = clip.channels.emplace_back();
  channel.joint = joint;
  channel.target = ChannelTarget::rotation;
  channel.width = 4;
  for (const Vec3& turn : turns) {
    const double angle = turn.norm();
    const Quat q(Eigen::AngleAxisd(angle, angle > 0 ? Vec3(turn / angle) : Vec3(Vec3::UnitX())));
    channel.times.push_back(static_cast<double>(channel.times.size()));
    channel.values.insert(channel.values.end(), q.coeffs().data(), q.coeffs().data() + 4);
  }
  return clip;
}

TEST(CorrectiveNames, ClipsTellTheAxisOfAHinge) {
  const Clip hinge = turning(3, {Vec3(0, 0, 0), Vec3(0, -0.5, 0.02), Vec3(0.01, -1.4, 0), Vec3(0, -0.7, 0)});
  const std::optional<Vec3> axis = usual_axis(blender(), 3, std::span(&hinge, 1));
  ASSERT_TRUE(axis);
  EXPECT_GT(axis->dot(Vec3(0, -1, 0)), 0.99);
  const Clip ball = turning(3, {Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1)});
  EXPECT_FALSE(usual_axis(blender(), 3, std::span(&ball, 1)));
  const Clip swing = turning(3, {Vec3(0, 1, 0), Vec3(0, -1, 0)});
  EXPECT_FALSE(usual_axis(blender(), 3, std::span(&swing, 1)));
  EXPECT_FALSE(usual_axis(blender(), 4, std::span(&hinge, 1)));
}

}  // namespace
}  // namespace supple::corrective_names_test
