// SPDX-License-Identifier: Apache-2.0
#include "supple/base/parallel.h"

#include <gtest/gtest.h>

#include <cmath>

namespace supple::parallel_test {
namespace {

double alternating_sum(int threads) {
  set_thread_count(threads);
  const double sum = parallel_sum(100'000, 1000, [](std::int64_t begin, std::int64_t end) {
    double part = 0;
    for (auto i = begin; i < end; ++i) part += std::sin(static_cast<double>(i)) / static_cast<double>(i + 1);
    return part;
  });
  set_thread_count(0);
  return sum;
}

TEST(Parallel, SumHasTheSameBitsForAnyThreadCount) {
  const double one = alternating_sum(1);
  for (const int threads : {2, 3, 8}) EXPECT_EQ(one, alternating_sum(threads));
}

TEST(Parallel, ForVisitsEveryIndexOnce) {
  std::vector<int> visits(12'345, 0);
  parallel_for(12'345, 100, [&](std::int64_t i) { ++visits[to_size(i)]; });
  for (const int count : visits) EXPECT_EQ(count, 1);
}

TEST(Parallel, EmptyLoopsDoNothing) {
  parallel_for(0, 10, [](std::int64_t) { FAIL(); });
  EXPECT_EQ(parallel_sum(0, 10, [](std::int64_t, std::int64_t) { return 1.0; }), 0.0);
}

}  // namespace
}  // namespace supple::parallel_test
