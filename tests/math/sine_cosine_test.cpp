// SPDX-License-Identifier: Apache-2.0
#include "supple/math/sine_cosine.h"

#include <gtest/gtest.h>

namespace supple {
namespace {

TEST(SineCosine, AgreeWithTheScalarFunctions) {
  for (double x = -40; x < 40; x += 0.0137) {
    Pack<double, 4> angles(x), s, c;
    angles.set(1, 100 * x);
    angles.set(2, std::numbers::pi / 4 * std::round(x));
    angles.set(3, 1e-7 * x);
    sine_cosine(angles, s, c);
    for (int lane = 0; lane < 4; ++lane) {
      EXPECT_NEAR(s[lane], std::sin(angles[lane]), 3e-16) << angles[lane];
      EXPECT_NEAR(c[lane], std::cos(angles[lane]), 3e-16) << angles[lane];
    }
  }
}

}  // namespace
}  // namespace supple
