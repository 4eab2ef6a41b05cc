// SPDX-License-Identifier: Apache-2.0
#include "supple/io/motion/bvh.h"
#include "supple/io/file.h"
#include "supple/io/motion/joint_map.h"
#include "supple/rig/motion/sample_clip.h"
#include "support/rigs.h"

#include <gtest/gtest.h>

#include <sstream>

namespace supple::bvh_test {
namespace {

const char* const two_joints = R"(HIERARCHY
ROOT Hips
{
  OFFSET 0 1 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
  JOINT Left Leg
  {
    OFFSET 0.1 -0.5 0
    CHANNELS 3 Xrotation Zrotation Yrotation
    End Site
    {
      OFFSET 0 -0.4 0
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.04
1 2 3 90 0 0 0 0 0
4 5 6 10 20 30 40 50 60
)";

std::string refusal(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  const Result<BvhMotion> motion = parse_bvh(text, "a.bvh");
  EXPECT_FALSE(motion.ok()) << to;
  return motion.ok() ? "" : motion.error().message;
}

TEST(Bvh, RotationsMultiplyInTheOrderOfTheirChannels) {
  const BvhMotion motion = parse_bvh(two_joints, "a.bvh").value();
  ASSERT_EQ(motion.skeleton.size(), 2);
  EXPECT_EQ(motion.skeleton.joints[1].name, "Left Leg");
  EXPECT_EQ(motion.skeleton.joints[1].parent, 0);
  EXPECT_EQ(motion.channel_count, 9);
  EXPECT_DOUBLE_EQ(motion.clip.duration, 0.04);
  Pose pose = rest_pose(motion.skeleton);
  sample_clip(motion.clip, 0.04, ClipWrap::hold, pose);
  EXPECT_EQ(pose[0].translation, Vec3(4, 5, 6));
  EXPECT_EQ(pose[1].translation, Vec3(0.1, -0.5, 0));
  const Quat hips = turn(10, Vec3::UnitZ()) * turn(20, Vec3::UnitY()) * turn(30, Vec3::UnitX());
  const Quat leg = turn(40, Vec3::UnitX()) * turn(50, Vec3::UnitZ()) * turn(60, Vec3::UnitY());
  EXPECT_LT(pose[0].rotation.angularDistance(hips), 1e-12);
  EXPECT_LT(pose[1].rotation.angularDistance(leg), 1e-12);
}

TEST(Bvh, RefusalsAreSentencesWithLines) {
  EXPECT_NE(refusal(two_joints, "HIERARCHY", "HIERARKY").find("a.bvh, line 1"), std::string::npos);
  EXPECT_NE(refusal(two_joints, "Zrotation Yrotation Xrotation", "Zrotation Yrotation Wrotation").find("Wrotation"),
            std::string::npos);
  EXPECT_NE(refusal(two_joints, "60\n", "\n").find("frame 2 of 2"), std::string::npos);
  EXPECT_NE(refusal(two_joints, "Frames: 2", "Frames: 2000000000").find("line 17"), std::string::npos);
  EXPECT_NE(refusal(two_joints, "Frame Time: 0.04", "Frame Time: 0").find("positive"), std::string::npos);
  EXPECT_NE(refusal(two_joints, "90", "nan").find("line 19"), std::string::npos);
  EXPECT_NE(refusal(two_joints, "ROOT Hips", "JOINT Hips").find("outside of any ROOT"), std::string::npos);
  EXPECT_NE(refusal(two_joints, "}\nMOTION", "MOTION").find("isn't closed"), std::string::npos);
  EXPECT_NE(refusal(two_joints, "OFFSET 0 1 0", "OFFSET 0 1").find("line 5"), std::string::npos);
  EXPECT_FALSE(parse_bvh("", "a.bvh").ok());
  EXPECT_FALSE(load_bvh("/nowhere/a.bvh").ok());
}

/// What the list of shared assets says of each file: joints, channels, frames, time between them.
TEST(Bvh, ReadsAllSharedMotions) {
  const std::filesystem::path assets = std::filesystem::path(SUPPLE_SHARED_DIR) / "assets";
  const Result<std::string> manifest = read_file(assets / "MANIFEST.tsv");
  if (!manifest.ok()) GTEST_SKIP() << manifest.error().message;
  std::istringstream lines(*manifest);
  int files = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("mocap/")) continue;
    int joints = 0;
    int channels = 0;
    int frames = 0;
    double dt = 0;
    const std::size_t facts = line.find("BVH: ");
    ASSERT_NE(facts, std::string::npos);
    ASSERT_EQ(std::sscanf(line.c_str() + facts, "BVH: %d joints, %d channels, %d frames", &joints, &channels, &frames),
              3);
    ASSERT_EQ(std::sscanf(line.c_str() + line.find("dt ", facts), "dt %lf", &dt), 1);
    const Result<BvhMotion> motion = load_bvh(assets / line.substr(0, line.find('\t')));
    ASSERT_TRUE(motion.ok()) << motion.error().message;
    EXPECT_EQ(motion->skeleton.size(), joints) << line;
    EXPECT_EQ(motion->channel_count, channels) << line;
    EXPECT_EQ(motion->frame_count, frames) << line;
    EXPECT_NEAR(motion->frame_time, dt, 1e-7) << line;
    ++files;
  }
  EXPECT_EQ(files, 7);
}

TEST(JointMap, PairsJointsByName) {
  const Skeleton source = parse_bvh(two_joints, "a.bvh").value().skeleton;
  const Skeleton target = make_tube(3, 5, 6, 1.0, 0.1).skeleton;
  const auto pairs = parse_joint_map("# motion = character\n\n Left Leg = joint2  # the leg\r\nHips=joint0\n",
                                     "map.txt", source, target);
  ASSERT_TRUE(pairs.ok()) << pairs.error().message;
  ASSERT_EQ(pairs->size(), 2u);
  EXPECT_EQ((*pairs)[0].source, 1);
  EXPECT_EQ((*pairs)[0].target, 2);
  const auto fault = [&](const char* text) { return parse_joint_map(text, "map.txt", source, target).error().message; };
  EXPECT_EQ(fault("Hips = jiont1\n"), "map.txt, line 1: the character has no joint 'jiont1'; did you mean 'joint1'?");
  EXPECT_NE(fault("\nHips joint1\n").find("line 2"), std::string::npos);
  EXPECT_NE(fault("Hips = joint1\nLeft Leg = joint1\n").find("driven twice"), std::string::npos);
  EXPECT_NE(fault("# nothing\n").find("no pair"), std::string::npos);
}

}  // namespace
}  // namespace supple::bvh_test
