// SPDX-License-Identifier: Apache-2.0
// WindField: a steady wind, gusts, and turbulence that travels with it. A sum of waves, so that it is the same on every
// machine and can be asked for any place and time; with a period it repeats, so that baked motion loops.
//
//   w(x, t) = W (1 + g sin …) + turbulence |W| Σ_k d_k sin(2π (n_k t / T − k_k·x) + φ_k)
#pragma once

#include "supple/base/types.h"
#include "supple/math/simd/sine.h"

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

  /// The wind's velocity at a place and a time; WindMoment for many places.
  Vec3 at(const Vec3& x, double time) const;
};

/// A wind at one time, for a place or for several in lanes: what doesn't depend on the place is computed once.
class WindMoment {
 public:
  WindMoment() = default;
  WindMoment(const WindField& field, double time) {
    constexpr double turn = 2 * std::numbers::pi;
    const double speed = field.velocity.norm(), phase = time / field.period;
    steady_ =
        (1 + field.gusts * (0.6 * std::sin(turn * phase) + 0.4 * std::sin(turn * 3 * phase + 1))) * field.velocity;
    if (field.turbulence == 0 || speed == 0) return;
    eddies_ = waves;
    const double cycles = speed * field.period / field.eddy_size;  // eddies that pass by in a period
    for (int k = 0; k < waves; ++k) {
      const double fine = 1 + 0.7 * k;
      const double passes = std::max(1.0, std::round(fine * cycles));
      turns_[k] = passes * phase + 2.4 * k / turn;
      travel_[k] = fine / field.eddy_size * directions[k];
      sway_[k] = field.turbulence * speed / std::sqrt(fine) * sways[k];
    }
  }

  /// The velocity where `x`, `y`, `z` are, into `wind`.
  template <class T>
  void at(const T& x, const T& y, const T& z, T (&wind)[3]) const {
    for (int i = 0; i < 3; ++i) wind[i] = T(steady_[i]);
    for (int k = 0; k < eddies_; ++k) {
      const T turns = T(turns_[k]) - (T(travel_[k][0]) * x + T(travel_[k][1]) * y + T(travel_[k][2]) * z);
      const T sine = sine_of_turns(turns);
      for (int i = 0; i < 3; ++i) wind[i] += T(sway_[k][i]) * sine;
    }
  }

 private:
  static constexpr int waves = 5;
  // Fixed directions that look random: what travels, and where it pushes.
  inline static const Vec3 directions[waves] = {
      {0.80, 0.36, -0.48}, {-0.42, 0.64, 0.64}, {0.60, -0.48, 0.64}, {0.10, 0.70, -0.71}, {-0.77, -0.20, -0.60}};
  inline static const Vec3 sways[waves] = {
      {0.51, 0.10, 0.39}, {0.19, -0.55, 0.32}, {-0.43, 0.22, 0.50}, {0.62, 0.08, -0.25}, {-0.12, 0.47, 0.44}};

  Vec3 steady_ = Vec3::Zero();
  int eddies_ = 0;
  double turns_[waves] = {};
  Vec3 travel_[waves], sway_[waves];
};

inline Vec3 WindField::at(const Vec3& x, double time) const {
  double wind[3];
  WindMoment(*this, time).at(x[0], x[1], x[2], wind);
  return {wind[0], wind[1], wind[2]};
}

}  // namespace supple
