// SPDX-License-Identifier: Apache-2.0
// Broken lines of keys, rounded: the mean of the line over a window, everywhere.
#include "supple/rig/motion/round_corners.h"

#include "supple/rig/motion/sample_clip.h"
#include "supple/rig/skeleton.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>

namespace supple::round_corners_test {
namespace {

Clip one_channel(ChannelTarget target, std::vector<double> times, std::vector<double> values) {
  const int width = target == ChannelTarget::rotation ? 4 : 3;
  return {"clip", times.back(), {{0, target, Interpolation::linear, width, std::move(times), std::move(values)}}};
}

Transform at(const Clip& clip, double time) {
  Skeleton skeleton;
  skeleton.joints.emplace_back();
  Pose pose = rest_pose(skeleton);
  sample_clip(clip, time, ClipWrap::hold, pose);
  return pose[0];
}

/// Keys at the rate of frames, of something that changes its speed abruptly.
Clip frames() {
  std::vector<double> times, values;
  for (int k = 0; k <= 12; ++k) {
    times.push_back(k / 24.0);
    values.insert(values.end(), {k < 5 ? 0.0 : k - 5.0, std::sin(0.7 * k), 0.1 * k * k});
  }
  return one_channel(ChannelTarget::translation, times, values);
}

TEST(RoundCorners, AreTheMeanOfTheLineOverAFrame) {
  const Clip lines = frames(), rounded = round_corners(lines);
  for (double time = 0.5 / 24; time <= 11.5 / 24; time += 0.0037) {
    Vec3 mean = Vec3::Zero();
    constexpr int points = 4000;
    for (int k = 0; k < points; ++k) mean += at(lines, time + ((k + 0.5) / points - 0.5) / 24).translation / points;
    EXPECT_LT((at(rounded, time).translation - mean).norm(), 1e-6) << time;
  }
}

TEST(RoundCorners, LeaveLinesAndEndsAsTheyAre) {
  // Keys far apart are rounded for a twenty-fourth of a second on either side, no more.
  const Clip lines = one_channel(ChannelTarget::translation, {0, 1, 2}, {0, 0, 0, 1, 0, 0, 1, 3, 0});
  const Clip rounded = round_corners(lines);
  for (const double time : {0.0, 0.3, 0.95, 1.05, 1.7, 2.0})
    EXPECT_LT((at(rounded, time).translation - at(lines, time).translation).norm(), 1e-12) << time;
  // In the corner itself the parabola is off by a/4 times the change of speed.
  const Vec3 off = at(rounded, 1).translation - Vec3(1, 0, 0);
  EXPECT_LT((off - Vec3(-1, 3, 0) / 24 / 4).norm(), 1e-12);
}

TEST(RoundCorners, KeepJumps) {
  const Clip lines = one_channel(ChannelTarget::translation, {0, 1, 1.0001, 2}, {0, 0, 0, 0, 0, 0, 5, 0, 0, 5, 0, 0});
  const Clip rounded = round_corners(lines);
  for (const double time : {0.99, 1.0, 1.00005, 1.0001, 1.01})
    EXPECT_LT((at(rounded, time).translation - at(lines, time).translation).norm(), 1e-9) << time;
}

TEST(RoundCorners, RotationsTurnAsFarAndAsFast) {
  // Half a turn about one axis in half a second, then back; one key written with the opposite sign.
  std::vector<double> values;
  for (const double angle : {0.0, 3.0, 0.0}) {
    const Quat q(Eigen::AngleAxisd(angle, Vec3(1, 2, 2) / 3));
    for (int i = 0; i < 4; ++i) values.push_back(angle > 1 ? -q.coeffs()[i] : q.coeffs()[i]);
  }
  const Clip lines = one_channel(ChannelTarget::rotation, {0, 0.5, 1}, values);
  const Clip rounded = round_corners(lines);
  for (double time = 0; time <= 1; time += 0.01) {
    // Cubics leave the arc of quaternions that each follows, a quarter, by θ⁴/384. In the corner a quaternion that
    // would go on to an eighth ends at half its tangent: a/4 · 12 rad/s, but for the tangent being straight.
    const double off = at(rounded, time).rotation.angularDistance(at(lines, time).rotation);
    EXPECT_LT(off, std::abs(time - 0.5) < 1.0 / 24 ? 2 * (0.125 - std::atan(0.0625)) + 1e-6 : 2e-5) << time;
  }
}

}  // namespace
}  // namespace supple::round_corners_test
