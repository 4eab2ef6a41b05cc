// SPDX-License-Identifier: Apache-2.0
#include "supple/math/simd/sine_cosine.h"

#include <gtest/gtest.h>

#include <numbers>

namespace supple::sine_cosine_test {
namespace {

TEST(SineCosine, AgreeWithTheScalarFunctions) {
  for (double x = -12; x < 12; x += 0.00437) {
    Pack<double, 4> turns(x), s, c;
    turns.set(1, 100 * x);
    turns.set(2, 0.25 * std::round(x));
    turns.set(3, 1e-7 * x);
    sine_cosine_of_half_turns(turns, s, c);
    for (int lane = 0; lane < 4; ++lane) {
      // Whole turns off, which is exact: the scalar functions don't know that π is one half.
      const double angle = std::numbers::pi * std::remainder(turns[lane], 2.0);
      EXPECT_NEAR(s[lane], std::sin(angle), 5e-16) << turns[lane];
      EXPECT_NEAR(c[lane], std::cos(angle), 5e-16) << turns[lane];
    }
  }
}

}  // namespace
}  // namespace supple::sine_cosine_test
