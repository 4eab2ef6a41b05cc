// SPDX-License-Identifier: Apache-2.0
// Sine and cosine of four numbers at once. Compilers call the scalar functions one lane after the other, which took
// most of the time of a wire rig.
#pragma once

#include "supple/math/pack.h"

#include <numbers>

namespace supple {

/// To 2e-16 for angles up to some thousand turns: the nearest multiple of π/2 is taken off, Taylor's series does the
/// rest (its first missing terms are (π/4)¹⁷/17! and (π/4)¹⁸/18!).
inline void sine_cosine(Pack<double, 4> x, Pack<double, 4>& sine, Pack<double, 4>& cosine) {
  using Four = Pack<double, 4>;
  const Four rounder(6755399441055744.0);  // 1.5 · 2⁵²: adding it leaves no digits after the point
  const auto rounded = [&](Four value) { return (value + rounder) - rounder; };
  const Four n = rounded(x * Four(2 / std::numbers::pi));
  // π/2 in three parts; products of the first two with n are exact.
  const Four r =
      ((x - n * Four(1.5707963267341256)) - n * Four(6.077100506303966e-11)) - n * Four(2.0222662487959506e-21);
  const Four z = r * r;
  const auto series = [&](const double(&reciprocals)[8]) {
    Four sum(reciprocals[7]);
    for (int k = 6; k >= 0; --k) sum = sum * z + Four(reciprocals[k]);
    return sum;
  };
  static constexpr double sines[8] = {1.0,          -1.0 / 6,        1.0 / 120,        -1.0 / 5040,
                                      1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000};
  static constexpr double cosines[8] = {-1.0 / 2,       1.0 / 24,        -1.0 / 720,         1.0 / 40320,
                                        -1.0 / 3628800, 1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000};
  const Four s = r * series(sines), c = Four(1.0) + z * series(cosines);
  const Four quarter = n - Four(4.0) * rounded(n * Four(0.25));  // −2 … 2 quarters of a turn
  const Four distance = abs(quarter);
  const auto swapped = (Four(0.5) < distance) & (distance < Four(1.5));
  const Four one = select(swapped, c, s), other = select(swapped, s, c);
  sine = select((distance > Four(1.5)), -one, select(quarter < Four(-0.5), -one, one));
  cosine = select((distance > Four(1.5)), -other, select(quarter > Four(0.5), -other, other));
}

}  // namespace supple
