// SPDX-License-Identifier: Apache-2.0
#include "supple/base/nearest_name.h"

#include <gtest/gtest.h>

#include <vector>

namespace supple::nearest_name_test {
namespace {

const std::vector<std::string_view> names = {"young", "poisson", "density", "dt"};

TEST(NearestName, ForgivesSwapsOmissionsAndAdditions) {
  EXPECT_EQ(nearest_name("yuong", names), "young");
  EXPECT_EQ(nearest_name("poison", names), "poisson");
  EXPECT_EQ(nearest_name("densitty", names), "density");
  EXPECT_EQ(nearest_name("young", names), "young");
}

TEST(NearestName, MakesNoWildGuess) {
  EXPECT_EQ(nearest_name("gravity", names), "");
  EXPECT_EQ(nearest_name("", names), "");
  EXPECT_EQ(nearest_name("young", {}), "");
}

}  // namespace
}  // namespace supple::nearest_name_test
