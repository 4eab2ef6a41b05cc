// SPDX-License-Identifier: Apache-2.0
// The sine of an angle in turns, sin 2π t, for a number or for lanes.
//
// t is brought to −¼ … ¼ by whole and half turns, which is exact; there the Taylor series of 2π t is within 3e-16 after
// ten terms.
#pragma once

#include "supple/math/simd/pack.h"

#include <numbers>

namespace supple {

template <class T>
T sine_of_turns(T t) {
  const T magic(6755399441055744.0);  // 1.5 · 2⁵²: adding it rounds to whole numbers
  const T half(0.5), quarter(0.25);
  t = t - ((t + magic) - magic);
  t = select(t > quarter, half - t, select(t < -quarter, -half - t, t));
  const T x = T(2 * std::numbers::pi) * t, xx = x * x;
  T series(1.0);
  for (int k = 9; k > 0; --k) series = T(1.0) - xx * series * T(1.0 / (2 * k * (2 * k + 1)));
  return x * series;
}

}  // namespace supple
