// SPDX-License-Identifier: Apache-2.0
// Motion that would sway flesh too far is turned down; what does not is left as it is. Exaggeration enlarges what is
// slow and gentle, and nothing else.
#include "supple/runtime/flesh_drive.h"

#include <gtest/gtest.h>

#include <complex>

namespace supple::flesh_drive_test {
namespace {

constexpr double frequency = 2, w = 2 * std::numbers::pi * frequency;

FleshDrive drive_of(double limit, double gain = 1, double exaggeration = 1, double h = 1.0 / 240) {
  SoftStepSettings settings;
  settings.most_acceleration = limit;
  settings.gain = gain;
  settings.exaggeration = exaggeration;
  settings.flesh_frequency = frequency;
  settings.time_step = h;
  return FleshDrive(settings);
}

/// The amplitude [m] of flesh that is driven by `a` of the time in the last of `seconds`.
template <class Motion>
double amplitude(FleshDrive drive, double seconds, Motion a) {
  DrivenPoint point;
  SpringMass flesh;
  double most = 0;
  const double h = drive.time_step;
  const int steps = static_cast<int>(std::lround(seconds / h));
  for (int k = 0; k <= steps; ++k) {
    flesh.step(drive(Vec3(a(k * h), 0, 0), point, k == 0), w, 0.2, h);
    if (k * h > seconds - 1) most = std::max(most, flesh.place.norm());
  }
  return most;
}

auto swing(double strength, double hertz = frequency) {
  return [=](double time) { return strength * std::sin(2 * std::numbers::pi * hertz * time); };
}

TEST(SpringMass, SwaysAsTheClosedFormSays) {
  // ẍ + 2ζωẋ + ω²x = sin(Ωt) settles at |x| = 1/√((ω² − Ω²)² + (2ζωΩ)²), of second order in the step.
  const double rhythm = 0.8 * w, damping = 0.2;
  const double expected = 1 / std::hypot(w * w - rhythm * rhythm, 2 * damping * w * rhythm);
  double last = 0;
  for (const double h : {1.0 / 60, 1.0 / 120}) {
    SpringMass mass;
    double most = 0;
    for (int k = 1; k * h < 20; ++k) {
      mass.step(Vec3(0.5 * (std::sin(rhythm * k * h) + std::sin(rhythm * (k - 1) * h)), 0, 0), w, damping, h);
      if (k * h > 18) most = std::max(most, mass.place.norm());
    }
    const double error = std::abs(most / expected - 1);
    EXPECT_LT(error, 0.03);
    if (last > 0) {
      EXPECT_LT(error, 0.3 * last);
    }
    last = error;
  }
}

TEST(FleshDrive, LeavesGentleMotionAsItIs) {
  FleshDrive drive = drive_of(10);
  DrivenPoint point;
  for (int k = 0; k < 1200; ++k) {
    const Vec3 gentle = std::sin(w * k / 240.0) * Vec3(1.2, 0, 1.6);  // resonates 1/(2 ζ) times as far
    ASSERT_EQ(drive(gentle, point, k == 0), gentle);
  }
  EXPECT_GT(drive.violence, 0.3);
  EXPECT_LT(drive.violence, 0.55);
}

TEST(FleshDrive, SteadyMotionSwaysByWhatItMay) {
  // Whatever the amplitude and rhythm: static flesh would give way by limit/ω².
  for (const double strength : {3.0, 30.0, 300.0}) {
    for (const double rhythm : {1.0, 2.0, 3.0}) {
      const double far = amplitude(drive_of(10), 8, swing(10 * strength, rhythm));
      EXPECT_LT(far * w * w / 10, 1.3) << strength << " at " << rhythm << " Hz";
      EXPECT_GT(far * w * w / 10, 0.5) << strength << " at " << rhythm << " Hz";
    }
  }
}

TEST(FleshDrive, LimitsAlikeWhateverTheStep) {
  const double fine = amplitude(drive_of(10, 1, 1, 1.0 / 960), 8, swing(60));
  EXPECT_NEAR(amplitude(drive_of(10, 1, 1, 1.0 / 240), 8, swing(60)) / fine, 1, 0.01);
  EXPECT_NEAR(amplitude(drive_of(10, 1, 1, 1.0 / 60), 8, swing(60)) / fine, 1, 0.05);
}

TEST(FleshDrive, ShortPushIsFeltInFull) {
  // 60 times the limit for one step is over before flesh has moved by half of what it may.
  const auto push = [](double time) { return time < 1.0 / 480 ? 60 * 10 * 0.1 : 0.0; };
  EXPECT_DOUBLE_EQ(amplitude(drive_of(10), 1, push), amplitude(drive_of(0), 1, push));
}

TEST(FleshDrive, KeepsTheDirectionAndHasNoCorner) {
  const Vec3 direction = Vec3(1, -2, 0.5).normalized();
  const auto length = [&](double a) {
    DrivenPoint point;
    FleshDrive drive = drive_of(10);
    const Vec3 limited = drive(a * direction, point, true);
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
  while (std::abs(length(begins) / begins - 1) < 1e-12 && begins < 1e4) begins *= 1.001;
  constexpr double d = 1e-4;
  EXPECT_NEAR((length(begins + d) - length(begins)) / d, (length(begins) - length(begins - d)) / d, 2e-2);
}

TEST(FleshDrive, GainComesAfterTheLimit) {
  const Vec3 violent(4e4, 1e4, 0);
  DrivenPoint one, two, three;
  FleshDrive doubled = drive_of(10, 2), plain = drive_of(10), none = drive_of(0, 3);
  EXPECT_LT((doubled(violent, one, true) - 2 * plain(violent, two, true)).norm(), 1e-9);
  EXPECT_EQ(none(violent, three, true), Vec3(12e4, 3e4, 0));
}

TEST(FleshDrive, ExaggeratesGentleMotionMoreThanViolent) {
  const auto larger = [&](double strength, double hertz) {
    const auto motion = swing(strength, hertz);
    return amplitude(drive_of(10, 1, 16, 1.0 / 960), 8, motion) / amplitude(drive_of(10, 1, 1, 1.0 / 960), 8, motion);
  };
  // |1 + 15 B| with B = 1/(1 − Ω² + i √2 Ω), Ω: of the pass, 2 ω
  const auto expected = [](double hertz) {
    const double rhythm = hertz / (2 * frequency);
    return std::abs(1.0 + 15.0 / std::complex<double>(1 - rhythm * rhythm, std::numbers::sqrt2 * rhythm));
  };
  for (const double hertz : {0.5, 2.0, 10.0}) EXPECT_NEAR(larger(0.05, hertz) / expected(hertz), 1, 0.005) << hertz;
  EXPECT_GT(expected(0.5), 15.5);
  EXPECT_LT(expected(20), 2);  // what is fast is hardly enlarged
  // Where flesh resonates its amplitude is steady, and violent motion is turned down √e times as much.
  EXPECT_NEAR(larger(3000, frequency) / (expected(frequency) / 4), 1, 0.02);
  EXPECT_LT(larger(10, 2), larger(3, 2));
  // Less than one is less of everything.
  DrivenPoint one, two;
  FleshDrive half = drive_of(10, 1, 0.5), plain = drive_of(10);
  EXPECT_LT((half(Vec3(4e4, 0, 0), one, true) - 0.5 * plain(Vec3(4e4, 0, 0), two, true)).norm(), 1e-9);
}

}  // namespace
}  // namespace supple::flesh_drive_test
