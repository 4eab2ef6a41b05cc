// SPDX-License-Identifier: Apache-2.0
// Motion that would sway flesh too far is turned down; what does not is left as it is.
#include "supple/runtime/exaggerated_drive.h"

#include <gtest/gtest.h>

namespace supple::drive_limit_test {
namespace {

constexpr double h = 1.0 / 240, frequency = 2, w = 2 * std::numbers::pi * frequency;

DriveLimit limit_of(double limit, double gain = 1) {
  return {.limit = limit, .gain = gain, .frequency = frequency, .time_step = h};
}

/// The amplitude [m] of flesh that is driven by `a` of the time, limited, in the last of `seconds`.
template <class Drive>
double amplitude(DriveLimit limit, double seconds, Drive a) {
  Sway sway, flesh;
  double most = 0;
  for (double time = 0; time < seconds; time += h) {
    const Vec3 driven = limit(Vec3(a(time), 0, 0), sway);
    flesh.velocity = (flesh.velocity + h * (driven - w * w * flesh.place)) / (1 + 0.4 * w * h + w * w * h * h);
    flesh.place += h * flesh.velocity;
    if (time > seconds - 1) most = std::max(most, flesh.place.norm());
  }
  return most;
}

TEST(DriveLimit, LeavesGentleMotionAsItIs) {
  DriveLimit drive = limit_of(10);
  Sway sway;
  for (double time = 0; time < 5; time += h) {
    const Vec3 gentle = std::sin(w * time) * Vec3(1.2, 0, 1.6);  // resonates 1/(2 ζ) times as far
    ASSERT_EQ(drive(gentle, sway), gentle);
  }
  EXPECT_GT(drive.violence, 0.3);
  EXPECT_LT(drive.violence, 0.5);
}

TEST(DriveLimit, SteadyMotionSwaysByWhatItMay) {
  // Whatever the amplitude and rhythm: static flesh would give way by limit/ω².
  for (const double strength : {3.0, 30.0, 300.0}) {
    for (const double rhythm : {1.0, 2.0, 3.0}) {
      const double far = amplitude(
          limit_of(10), 8, [&](double time) { return strength * 10 * std::sin(2 * std::numbers::pi * rhythm * time); });
      EXPECT_LT(far * w * w / 10, 1.3) << strength << " at " << rhythm << " Hz";
      EXPECT_GT(far * w * w / 10, 0.5) << strength << " at " << rhythm << " Hz";
    }
  }
}

TEST(DriveLimit, ShortPushIsFeltInFull) {
  // 60 times the limit for one step is over before flesh has moved by half of what it may.
  const auto push = [](double time) { return time < h / 2 ? 60 * 10 * 0.1 : 0.0; };
  EXPECT_DOUBLE_EQ(amplitude(limit_of(10), 1, push), amplitude(limit_of(0), 1, push));
}

TEST(DriveLimit, KeepsTheDirectionAndHasNoCorner) {
  const Vec3 direction = Vec3(1, -2, 0.5).normalized();
  const auto length = [&](double a) {
    Sway sway;
    DriveLimit drive = limit_of(10);
    const Vec3 limited = drive(a * direction, sway);
    EXPECT_NEAR(limited.normalized().dot(direction), 1, 1e-12);
    return limited.norm();
  };
  double last = 0;
  for (double a = 0.1; a < 1e6; a *= 1.3) {
    EXPECT_GT(length(a), last);  // more is never less
    last = length(a);
  }
  // Where it begins to act
  double begins = 1;
  while (length(begins) == begins * direction.norm() && begins < 1e4) begins *= 1.001;
  constexpr double d = 1e-4;
  EXPECT_NEAR((length(begins + d) - length(begins)) / d, (length(begins) - length(begins - d)) / d, 2e-2);
}

TEST(DriveLimit, GainComesAfterTheLimit) {
  const Vec3 violent(4e4, 1e4, 0);
  Sway one, two, three;
  DriveLimit doubled = limit_of(10, 2), plain = limit_of(10), none = limit_of(0, 3);
  EXPECT_LT((doubled(violent, one) - 2 * plain(violent, two)).norm(), 1e-9);
  EXPECT_EQ(none(violent, three), Vec3(12e4, 3e4, 0));
}

TEST(DriveLimit, ExaggeratesGentleMotionMoreThanViolent) {
  const auto with = [](double exaggeration) {
    SoftStepSettings settings;
    settings.most_acceleration = 10;
    exaggerate(settings, exaggeration);
    return limit_of(settings.most_acceleration, settings.gain);
  };
  const auto swing = [](double strength) { return [strength](double time) { return strength * std::sin(w * time); }; };
  const auto larger = [&](double strength) {
    return amplitude(with(16), 8, swing(strength)) / amplitude(with(1), 8, swing(strength));
  };
  EXPECT_NEAR(larger(0.05), 16, 1e-9);
  EXPECT_NEAR(larger(3000), 4, 0.05);
  EXPECT_LT(larger(10), larger(3));
  // Less than one is less of everything.
  Sway one, two;
  DriveLimit half = with(0.5), plain = with(1);
  EXPECT_LT((half(Vec3(4e4, 0, 0), one) - 0.5 * plain(Vec3(4e4, 0, 0), two)).norm(), 1e-9);
}

}  // namespace
}  // namespace supple::drive_limit_test
