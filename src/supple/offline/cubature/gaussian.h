// SPDX-License-Identifier: Apache-2.0
// Random numbers that samples are drawn with, the same on every machine.
#pragma once

#include "supple/base/types.h"

#include <cmath>
#include <numbers>
#include <random>

namespace supple {

/// Gaussian numbers; the library's own distribution differs between implementations.
class Gaussian {
 public:
  explicit Gaussian(std::mt19937_64& random) : random_(random) {}
  double operator()() {
    const double u = uniform(), v = uniform();
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
  }
  /// Within (0, 1].
  double uniform() { return (static_cast<double>(random_() >> 11) + 1) * 0x1p-53; }
  Vec3 in_ball() {
    for (;;) {
      const Vec3 x{2 * uniform() - 1, 2 * uniform() - 1, 2 * uniform() - 1};  // braces: in this order, always
      if (x.squaredNorm() <= 1) return x;
    }
  }

 private:
  std::mt19937_64& random_;
};

}  // namespace supple
