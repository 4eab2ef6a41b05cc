// SPDX-License-Identifier: Apache-2.0
// Time that passes, for reports of what took how long. Never set back, unlike the time of day.
#pragma once

#include <chrono>

namespace supple {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace supple
