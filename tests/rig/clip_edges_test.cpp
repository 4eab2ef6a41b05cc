// SPDX-License-Identifier: Apache-2.0
// Clips at their edges: one key, equal times, times outside, the seam of a loop.
#include "supple/rig/motion/keyframes.h"
#include "supple/rig/motion/sample_clip.h"
#include "support/rigs.h"

#include <gtest/gtest.h>

#include <limits>

namespace supple::clip_edges_test {
namespace {

Channel line_of(std::vector<double> times, const std::vector<double>& x) {
  Channel channel{0, ChannelTarget::translation, Interpolation::linear, 3, std::move(times), {}};
  for (const double value : x) channel.values.insert(channel.values.end(), {value, 0, 0});
  return channel;
}

double x_at(const Clip& clip, double time, ClipWrap wrap) {
  Pose pose(1);
  sample_clip(clip, time, wrap, pose);
  return pose[0].translation.x();
}

TEST(ClipEdges, OneKeyHoldsForAllTimes) {
  for (const Interpolation interpolation : {Interpolation::step, Interpolation::linear, Interpolation::cubic}) {
    Channel channel = line_of({0.5}, {3});
    channel.interpolation = interpolation;
    if (interpolation == Interpolation::cubic) channel.values = {9, 9, 9, 3, 0, 0, 9, 9, 9};  // tangents lead nowhere
    const Clip clip{"", 0.5, {channel}};
    for (const ClipWrap wrap : {ClipWrap::hold, ClipWrap::loop})
      for (const double time : {-1.0, 0.0, 0.5, 0.7, 100.0}) EXPECT_EQ(x_at(clip, time, wrap), 3);
  }
}

TEST(ClipEdges, AClipWithoutDurationDoesNotLoop) {
  const Clip clip{"", 0.0, {line_of({0}, {2})}};
  EXPECT_EQ(wrapped_time(clip, 7.5, ClipWrap::loop), 7.5);
  EXPECT_EQ(x_at(clip, 7.5, ClipWrap::loop), 2);
}

TEST(ClipEdges, TheEndOfALoopIsItsBeginning) {
  const Clip clip{"", 2.0, {line_of({0, 2}, {1, 5})}};
  EXPECT_EQ(x_at(clip, 2.0, ClipWrap::loop), 1);  // [0, 2) is the loop
  EXPECT_EQ(x_at(clip, 2.0, ClipWrap::hold), 5);
  EXPECT_NEAR(x_at(clip, 2.0 - 1e-9, ClipWrap::loop), 5, 1e-8);
  EXPECT_EQ(x_at(clip, -0.5, ClipWrap::loop), 4);
  EXPECT_EQ(x_at(clip, 20.5, ClipWrap::loop), 2);
  EXPECT_EQ(wrapped_time(clip, -2.0, ClipWrap::loop), 0.0);
}

TEST(ClipEdges, AChannelThatBeginsLateHoldsItsFirstKey) {
  const Clip clip{"", 3.0, {line_of({1, 2}, {4, 6})}};
  EXPECT_EQ(x_at(clip, 0.2, ClipWrap::loop), 4);
  EXPECT_EQ(x_at(clip, 1.5, ClipWrap::loop), 5);
  EXPECT_EQ(x_at(clip, 2.9, ClipWrap::loop), 6);  // and its last one up to the end of the clip
  EXPECT_EQ(last_key(clip), 2.0);
}

TEST(ClipEdges, WhatNoChannelMovesIsLeftAlone) {
  Pose pose(2);
  pose[0].scale = Vec3(2, 2, 2);
  pose[1].translation = Vec3(7, 7, 7);
  sample_clip({"", 1.0, {line_of({0, 1}, {0, 1})}}, 0.25, ClipWrap::hold, pose);
  EXPECT_EQ(pose[0].translation, Vec3(0.25, 0, 0));
  EXPECT_EQ(pose[0].scale, Vec3(2, 2, 2));
  EXPECT_EQ(pose[1].translation, Vec3(7, 7, 7));
}

TEST(ClipEdges, KeyframesInAnyOrderAreSortedAndEqualTimesRefused) {
  Skeleton skeleton;
  skeleton.joints.push_back({"arm", -1, {}, {}});
  std::vector<Keyframe> keys(3);
  keys[0] = {"arm", 2.0, {}, Vec3(2, 0, 0), {}};
  keys[1] = {"arm", 0.0, {}, Vec3(0, 0, 0), {}};
  keys[2] = {"arm", 1.0, {}, Vec3(1, 0, 0), Vec3(3, 3, 3)};
  const Clip clip = make_clip(skeleton, "reach", keys).value();
  EXPECT_EQ(clip.duration, 2.0);
  for (const double t : {0.0, 0.3, 1.0, 1.7, 2.0}) EXPECT_DOUBLE_EQ(x_at(clip, t, ClipWrap::hold), t);
  keys[0].time = 1.0;
  EXPECT_NE(make_clip(skeleton, "reach", keys).error().message.find("'arm': two keys have the time 1.0"),
            std::string::npos);
  keys[0].translation.reset();  // the same time for another quantity is fine
  keys[0].rotation_degrees = Vec3(0, 0, 10);
  EXPECT_TRUE(make_clip(skeleton, "reach", keys).ok());
  keys[0].time = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(make_clip(skeleton, "reach", keys).error().message.find("isn't a number"), std::string::npos);
  EXPECT_EQ(make_clip(skeleton, "still", {}).value().duration, 0.0);
}

TEST(ClipEdges, EulerAnglesTurnAboutFixedAxesInTheOrderXYZ) {
  const Quat q = euler_rotation(Vec3(90, 90, 0));
  EXPECT_LT((q * Vec3(0, 1, 0) - Vec3(1, 0, 0)).norm(), 1e-14);   // x first: y to z; then y: z to x
  EXPECT_LT((q * Vec3(1, 0, 0) - Vec3(0, 0, -1)).norm(), 1e-14);  // x leaves it; y takes x to −z
}

}  // namespace
}  // namespace supple::clip_edges_test
