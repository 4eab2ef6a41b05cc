// SPDX-License-Identifier: Apache-2.0
#include "supple/math/simd/pack.h"

#include <gtest/gtest.h>

namespace supple::pack_test {
namespace {

template <class T, int W>
void expect_logarithms(T tolerance) {
  for (T size = T(1e-30); size < T(1e30); size *= T(1.37)) {
    Pack<T, W> x(size);
    for (int lane = 0; lane < W; ++lane) x.set(lane, size * (T(1) + T(lane) / W));
    x.set(0, T(1) + T(1) / size);  // near one from above and far away, then from below
    if (size > T(2)) x.set(1, T(1) - T(1) / size);
    const Pack<T, W> y = log(x);
    for (int lane = 0; lane < W; ++lane)
      EXPECT_NEAR(y[lane], std::log(x[lane]), tolerance * std::max(std::abs(std::log(x[lane])), T(1e-30))) << x[lane];
  }
}

TEST(Pack, LogarithmsAreThoseOfTheLibrary) {
  expect_logarithms<float, 8>(3e-7F);
  expect_logarithms<double, 4>(6e-16);
}

TEST(Pack, LogarithmsOfWhatHasNone) {
  Pack<double, 4> x(0.0);
  x.set(1, -1.0);
  x.set(2, std::numeric_limits<double>::quiet_NaN());
  x.set(3, std::numeric_limits<double>::infinity());
  const Pack<double, 4> y = log(x);
  EXPECT_EQ(y[0], -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(y[1]));
  EXPECT_TRUE(std::isnan(y[2]));
  EXPECT_EQ(y[3], std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace supple::pack_test
