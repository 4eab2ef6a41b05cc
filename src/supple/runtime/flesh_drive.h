// SPDX-License-Identifier: Apache-2.0
// FleshDrive: what the motion of a rig becomes before it drives the flesh on it.
//
// A vertex of the rest shape moves through the world with the acceleration a, and flesh lags behind by −a. Two things
// are done to it, of which neither touches forces of displaced flesh (Coriolis and centrifugal ones, elasticity): those
// follow from where the flesh is, and whatever multiplied them would feed on itself.
//
// Exaggeration. Drawn motion is exaggerated where the eye can follow: the belly of somebody who strolls shall be seen
// to sway, while keys, which are corners in a path, and footfalls, which are over before flesh has moved, gain nothing
// from being e times as hard. So only the slow part b of a is enlarged, as a low pass above the flesh's own ω tells it:
//   b̈ + √2 ω_b ḃ + ω_b² b = ω_b² a,   ω_b = 2 ω       a ← a + (e − 1) b,   e > 1
// Below one, all motion becomes e times as large.
//
// Limit. A run's foot is stopped, a sword's blow and a cartoon's jump happen with accelerations that no body survives;
// flesh that is soft enough to be seen in a walk would be torn off by them. So what drives it is turned down, at that
// place and while it would sway too far, and nothing is stiffened for it. A mass on a spring tells how far that is,
//   ẍ + 2 ζ ω ẋ + ω² x = a,  its amplitude A = √(x² + (ẋ/ω)²)
//   a' = gain · a · s(z)/z,  z = √max(1, e) ω² A/limit,  s(z) = z up to 1/2, 1 − 1/(4z) beyond
// which is smooth, leaves flesh that sways by less than half of what it may as it is, and turns a steady motion down
// to where it sways by what it may. Gentle motion becomes e times as large, violent motion √e times. A push that lasts
// has z = √e |a|/limit.
#pragma once

#include "supple/runtime/soft_step.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace supple {

/// The acceleration of a point at the end of a step, from differences of its path. A difference (x' − 2 x + x°)/h²
/// belongs to the middle of its moments, one step ago; it is carried on as it has changed, 2 a − a°. That happens
/// always: what is carried on in one step and not in the next is a push that is lost or felt twice. A motion starts as
/// if its first velocity had been there before; the step that passes until there is a difference is made up for.
struct DrivenAcceleration {
  Vec3 found = Vec3::Zero();  ///< a, by the last difference

  /// Takes the next difference, the first one of a motion or not.
  Vec3 follow(const Vec3& difference, bool first) {
    const Vec3 missed = first ? difference : Vec3(difference - found);
    found = difference;
    return difference + missed;
  }
};

/// A mass on a spring: ẍ + 2 ζ ω ẋ + ω² x = a, by trapezoids, so that it is as true as the flesh's own steps.
struct SpringMass {
  Vec3 place = Vec3::Zero();     ///< x
  Vec3 velocity = Vec3::Zero();  ///< ẋ

  /// `push`: the mean of a over the step; `turn`: ω h.
  void step(const Vec3& push, double omega, double damping, double h) {
    const double friction = damping * omega * h, spring = 0.25 * omega * omega * h * h;
    const Vec3 before = velocity;
    velocity = ((1 - friction - spring) * velocity + h * (push - omega * omega * place)) / (1 + friction + spring);
    place += 0.5 * h * (before + velocity);
  }
};

/// What the drive remembers of a point of the rig.
struct DrivenPoint {
  Vec3 push = Vec3::Zero();  ///< a of the last step
  SpringMass sway;           ///< of a mass with the flesh's own frequency [m, m/s]
  SpringMass slow;           ///< b [m/s², m/s³]
};

struct FleshDrive {
  double limit = 0;  ///< [m/s²]; 0: none
  double gain = 1;
  double exaggeration = 1;  ///< e
  double frequency = 0;     ///< ω/2π [Hz]
  double time_step = 0;     ///< h [s]
  double violence = 0;      ///< the largest ω² A/limit since it was set to zero

  FleshDrive() = default;
  explicit FleshDrive(const SoftStepSettings& settings)
      : limit(settings.most_acceleration),
        gain(settings.gain),
        exaggeration(settings.exaggeration),
        frequency(settings.flesh_frequency),
        time_step(settings.time_step) {}

  /// Gives a' once a step, for every point with its own memory; `first`: nothing is known of what was before.
  Vec3 operator()(const Vec3& a, DrivenPoint& point, bool first) {
    if (first) point = {.push = a, .sway = {}, .slow = {}};
    const double omega = 2 * std::numbers::pi * frequency;
    const Vec3 mean = 0.5 * (point.push + a);
    point.push = a;
    return gain * turned_down(mean, omega, point.sway) * exaggerated(a, mean, omega, point.slow);
  }

 private:
  Vec3 exaggerated(const Vec3& a, const Vec3& mean, double omega, SpringMass& slow) const {
    constexpr double pass = 2, damping = 0.5 * std::numbers::sqrt2;
    if (exaggeration <= 1) return exaggeration * a;
    slow.step(pass * pass * omega * omega * mean, pass * omega, damping, time_step);
    return a + (exaggeration - 1) * slow.place;
  }
  /// s(z)/z
  double turned_down(const Vec3& mean, double omega, SpringMass& sway) {
    constexpr double damping = 0.2;
    if (!(limit > 0)) return 1;
    sway.step(mean, omega, damping, time_step);
    const double y = omega * std::sqrt(omega * omega * sway.place.squaredNorm() + sway.velocity.squaredNorm()) / limit;
    violence = std::max(violence, y);
    const double z = std::sqrt(std::max(1.0, exaggeration)) * y;
    return z <= 0.5 ? 1 : (1 - 0.25 / z) / z;
  }
};

}  // namespace supple
