// SPDX-License-Identifier: Apache-2.0
// Rayleigh damping from how fast flesh sways and how soon it stops: α M + β K gives a motion of frequency ω the
// damping ratio ζ(ω) = (α/ω + β ω)/2.
#pragma once

#include <numbers>

namespace supple {

struct RayleighDamping {
  double mass = 0.0;       ///< α [1/s]
  double stiffness = 0.0;  ///< β [s]
};

/// The damping that has the ratio ζ at the frequencies f and 4 f [Hz], and nearly that between them.
inline RayleighDamping rayleigh_damping(double frequency, double ratio) {
  const double low = 2 * std::numbers::pi * frequency;
  const double high = 4 * low;
  return {2 * ratio * low * high / (low + high), 2 * ratio / (low + high)};
}

}  // namespace supple
