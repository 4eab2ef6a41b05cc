// SPDX-License-Identifier: Apache-2.0
// Sine and cosine of four numbers at once. Compilers call the scalar functions one lane after the other, which took
// most of the time of a wire rig.
#pragma once

#include "supple/math/simd/lanes.h"

#include <array>
#include <bit>

namespace supple {

/// sin π x and cos π x, to 4e-16 for up to some thousand turns. Whole half turns are taken off, which is exact and
/// leaves |r| ≤ 1/2; polynomials that meet sin(π r) / r and cos(π r) in the Chebyshev nodes of r² do the rest, with
/// errors of 4e-16 and 4e-18.
inline void sine_cosine_of_half_turns(Pack<double, 4> x, Pack<double, 4>& sine, Pack<double, 4>& cosine) {
  using Bits = detail::VectorOf<double, 4>::Bits;
  const Pack4 rounder(6755399441055744.0);  // 1.5 · 2⁵²: adding it leaves no digits after the point
  const Pack4 shifted = x + rounder;
  const Pack4 r = x - (shifted - rounder), z = r * r;
  const auto polynomial = [&](const auto& coefficients) {
    Pack4 sum(coefficients.back());
    for (std::size_t k = coefficients.size() - 1; k-- > 0;) sum = sum * z + Pack4(coefficients[k]);
    return sum;
  };
  static constexpr std::array<double, 8> sines = {3.1415926535897927,    -5.1677127800497855,   2.5501640398618677,
                                                  -0.599264528825224,    0.08214587881631043,   -0.0073703643265304155,
                                                  0.0004659870158043378, -2.113362735205297e-05};
  static constexpr std::array<double, 9> cosines = {1.0,
                                                    -4.934802200544676,
                                                    4.058712126416497,
                                                    -1.335262768843447,
                                                    0.23533063012953284,
                                                    -0.025806888737002202,
                                                    0.0019295562724817132,
                                                    -0.00010456655338748738,
                                                    4.149564353942586e-06};
  const Bits odd = std::bit_cast<Bits>(shifted.v) << 63;  // an odd number of half turns: both change their sign
  const auto signed_by_turns = [&](Pack4 value) {
    return Pack4(std::bit_cast<Pack4::Vector>(std::bit_cast<Bits>(value.v) ^ odd));
  };
  sine = signed_by_turns(r * polynomial(sines));
  cosine = signed_by_turns(polynomial(cosines));
}

}  // namespace supple
