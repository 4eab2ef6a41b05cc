// SPDX-License-Identifier: Apache-2.0
// Half precision numbers: every one of them, and what lies between.
#include "supple/math/simd/half.h"

#include <gtest/gtest.h>

namespace supple::half_test {
namespace {

TEST(Half, EveryNumberComesBack) {
  for (std::uint32_t bits = 0; bits < 0x10000u; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = from_half(half);
    if (std::isnan(value)) continue;
    EXPECT_EQ(to_half(value), half) << bits;
    HalfPack pack;
    pack.set(5, value);
    EXPECT_EQ(widened(pack)[5], value);
  }
}

// What machines without an instruction for it do.
TEST(Half, RoundingInSinglePrecisionIsTheSame) {
  for (std::uint32_t bits = 0; bits <= 0x7c00u; ++bits) {
    const float at = from_half(static_cast<std::uint16_t>(bits));
    const float next = bits < 0x7bffu ? from_half(static_cast<std::uint16_t>(bits + 1)) : 65536.0F;
    const float middle = 0.5F * (at + next);
    for (const float value : {at, middle, std::nextafter(middle, 0.0F), std::nextafter(middle, 1e6F), -middle}) {
      const float rounded = rounded_to_half(Pack<float, 8>(value))[3];
      EXPECT_EQ(rounded, from_half(to_half(value))) << value;
    }
  }
}

TEST(Half, OthersGoToTheNearest) {
  for (std::uint32_t bits = 0; bits < 0x7bffu; ++bits) {
    const float below = from_half(static_cast<std::uint16_t>(bits)),
                above = from_half(static_cast<std::uint16_t>(bits + 1));
    const float middle = 0.5F * (below + above);
    EXPECT_EQ(to_half(std::nextafter(middle, 0.0F)), bits);
    EXPECT_EQ(to_half(std::nextafter(middle, 1e6F)), bits + 1);
    EXPECT_EQ(to_half(middle), bits % 2 == 0 ? bits : bits + 1);  // ties to even
    EXPECT_EQ(to_half(-middle), 0x8000u | to_half(middle));
  }
  EXPECT_EQ(to_half(65519.0F), 0x7bffu);
  EXPECT_EQ(to_half(1e9F), 0x7c00u);
  EXPECT_EQ(to_half(-1e9F), 0xfc00u);
  EXPECT_TRUE(std::isnan(from_half(to_half(std::numeric_limits<float>::quiet_NaN()))));
}

}  // namespace
}  // namespace supple::half_test
