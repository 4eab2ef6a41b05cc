// SPDX-License-Identifier: Apache-2.0
// WindField: a steady wind, gusts, and turbulence that travels with it. A sum of waves, so that it is the same on every
// machine and can be asked for any place and time; with a period it repeats, so that baked motion loops.
//
//   w(x, t) = W (1 + g sin …) + turbulence |W| Σ_k d_k sin(2π (n_k t / T − k_k·x) + φ_k)
#pragma once

#include "supple/base/types.h"

#include <cmath>
#include <numbers>

namespace supple {

struct WindField {
  Vec3 velocity = Vec3::Zero();  ///< W [m/s]
  double gusts = 0.0;            ///< by how much of it the wind rises and falls
  double turbulence = 0.0;       ///< the speed of eddies as part of the wind's
  double eddy_size = 1.0;        ///< wavelength of the largest eddies [m]
  double period = 8.0;           ///< T, after which all repeats [s]
  double air_density = 1.2;      ///< [kg/m³]
  double drag = 1.2;             ///< of a face that the wind meets head on
  double skin_drag = 0.1;        ///< of one that it runs along

  bool blows() const { return velocity.squaredNorm() > 0; }

  /// The wind's velocity at a place and a time.
  Vec3 at(const Vec3& x, double time) const {
    constexpr double turn = 2 * std::numbers::pi;
    const double speed = velocity.norm(), phase = time / period;
    Vec3 wind = (1 + gusts * (0.6 * std::sin(turn * phase) + 0.4 * std::sin(turn * 3 * phase + 1))) * velocity;
    if (turbulence == 0 || speed == 0) return wind;
    const double cycles = speed * period / eddy_size;  // eddies that pass by in a period
    for (int k = 0; k < waves; ++k) {
      const double fine = 1 + 0.7 * k;
      const double passes = std::max(1.0, std::round(fine * cycles));
      const double angle = turn * (passes * phase - directions[k].dot(x) * fine / eddy_size) + 2.4 * k;
      wind += turbulence * speed / std::sqrt(fine) * std::sin(angle) * sways[k];
    }
    return wind;
  }

 private:
  static constexpr int waves = 5;
  // Fixed directions that look random: what travels, and where it pushes.
  inline static const Vec3 directions[waves] = {
      {0.80, 0.36, -0.48}, {-0.42, 0.64, 0.64}, {0.60, -0.48, 0.64}, {0.10, 0.70, -0.71}, {-0.77, -0.20, -0.60}};
  inline static const Vec3 sways[waves] = {
      {0.51, 0.10, 0.39}, {0.19, -0.55, 0.32}, {-0.43, 0.22, 0.50}, {0.62, 0.08, -0.25}, {-0.12, 0.47, 0.44}};
};

}  // namespace supple
