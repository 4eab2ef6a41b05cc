// SPDX-License-Identifier: Apache-2.0
// Violent moments of a rig are limited, gentle ones are left as they are.
#include "supple/runtime/soft_step.h"

#include <gtest/gtest.h>

namespace supple::drive_limit_test {
namespace {

TEST(DriveLimit, LeavesGentleMotionAsItIs) {
  DriveLimit drive{.limit = 10, .gain = 1};
  const Vec3 gentle(3, 0, 4);
  EXPECT_EQ(drive(gentle), gentle);
  EXPECT_DOUBLE_EQ(drive.violence, 0.5);
}

TEST(DriveLimit, IsNeverExceededAndKeepsTheDirection) {
  DriveLimit drive{.limit = 10, .gain = 1};
  double last = 0;
  for (double a = 0.1; a < 1e6; a *= 1.3) {
    const Vec3 direction = Vec3(1, -2, 0.5).normalized(), limited = drive(a * direction);
    EXPECT_LT(limited.norm(), 10);
    EXPECT_GT(limited.norm(), last);  // more is never less
    EXPECT_NEAR(limited.normalized().dot(direction), 1, 1e-12);
    last = limited.norm();
  }
  EXPECT_GT(last, 9.9);
  EXPECT_GT(drive.violence, 1e4);
}

TEST(DriveLimit, HasNoCorner) {
  DriveLimit drive{.limit = 10, .gain = 1};
  const auto length = [&](double a) { return drive(Vec3(a, 0, 0)).x(); };
  constexpr double h = 1e-5;
  EXPECT_NEAR((length(5 + h) - length(5)) / h, (length(5) - length(5 - h)) / h, 1e-4);
}

TEST(DriveLimit, GainComesAfterTheLimit) {
  DriveLimit doubled{.limit = 10, .gain = 2}, plain{.limit = 10, .gain = 1}, none{.limit = 0, .gain = 3};
  const Vec3 violent(40, 10, 0);
  EXPECT_LT((doubled(violent) - 2 * plain(violent)).norm(), 1e-12);
  EXPECT_EQ(none(violent), Vec3(120, 30, 0));
}

}  // namespace
}  // namespace supple::drive_limit_test
