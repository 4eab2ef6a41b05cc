// SPDX-License-Identifier: Apache-2.0
// What a step of soft tissue takes and tells, whichever engine takes it: scheme, damping, forces from outside, and
// whether it went well.
#pragma once

#include "supple/base/types.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

namespace supple {

enum class SoftIntegrator { backward_euler, newmark };

struct SoftStepSettings {
  SoftIntegrator integrator = SoftIntegrator::newmark;
  double time_step = 1.0 / 240;    ///< [s], of a sub-step where a frame has several
  double mass_damping = 0.0;       ///< α [1/s]
  double stiffness_damping = 0.0;  ///< β [s]
  int iterations = 1;              ///< Newton iterations per step; more are taken where one goes too far
  double solver_tolerance = 1e-6;  ///< of conjugate gradients, where an engine has them
  double most_acceleration = 0.0;  ///< of the rig, as it drives flesh [m/s²], see DriveLimit; 0: no limit
  double flesh_frequency = 2.0;    ///< [Hz] that flesh sways with, for that limit
  double gain = 1.0;               ///< of what drives the flesh: in small motion, of the displacements
};

struct SoftStepReport {
  double residual = 0.0;      ///< |residual| before the last iteration, relative to the first; of the last sub-step
  bool recovered = false;     ///< a step broke down: the flesh was put at rest
  int solver_iterations = 0;  ///< of conjugate gradients, in all sub-steps
  double violence = 0.0;      ///< how far flesh would sway over how far it may, where there is a limit
};

/// A force on a vertex of the surface, in the world [N].
struct SurfaceForce {
  Index vertex = 0;
  Vec3 force = Vec3::Zero();
};

/// What pulls at a character's flesh besides its own motion.
struct SoftForces {
  Vec3 gravity = Vec3::Zero();  ///< [m/s²]. Rigs are drawn as gravity leaves them, so by default there is none.
  Vec3 wind = Vec3::Zero();     ///< velocity of the air [m/s]
  double drag = 0.0;            ///< share of the velocity against the air that is lost per second [1/s]
  std::span<const SurfaceForce> surface = {};
};

/// The acceleration of a rig's point as it drives flesh at the end of a step, from differences of its path. A
/// difference (x' − 2 x + x°)/h² belongs to the middle of its moments, one step ago; it is carried on as it has
/// changed, 2 a − a°. That happens always: what is carried on in one step and not in the next is a push that is lost or
/// felt twice. A motion starts as if its first velocity had been there before; the step that passes until there is a
/// difference is made up for.
struct DrivenAcceleration {
  Vec3 found = Vec3::Zero();  ///< a, by the last difference

  /// Takes the next difference, the first one of a motion or not.
  Vec3 follow(const Vec3& difference, bool first) {
    const Vec3 missed = first ? difference : Vec3(difference - found);
    found = difference;
    return difference + missed;
  }
};

/// How a mass on a spring with the flesh's own frequency would sway at a point of the rig.
struct Sway {
  Vec3 place = Vec3::Zero();     ///< x [m]
  Vec3 velocity = Vec3::Zero();  ///< [m/s]
};

/// What a violent moment of a rig does to flesh. A run's foot is stopped, a sword's blow and a cartoon's jump happen
/// with accelerations that no body survives; flesh that is soft enough to be seen in a walk would be torn off by them.
/// So what drives it is turned down, at that place and while it would sway too far, and nothing is stiffened for it.
/// How hard a push is for a moment says little of that: a footfall is over before soft flesh has moved, and keys of a
/// clip are corners in its path. A mass on a spring tells how far flesh would sway,
///   ẍ + 2 ζ ω ẋ + ω² x = a,  its amplitude A = √(x² + (ẋ/ω)²)
///   a' = gain · a · s(y)/y,  y = ω² A/limit,  s(y) = y up to 1/2, 1 − 1/(4y) beyond
/// which is smooth, leaves flesh that sways by less than half of what it may as it is, and turns a steady motion down
/// to where it sways by what it may. A push that lasts has y = |a|/limit.
struct DriveLimit {
  double limit = 0;  ///< [m/s²]; 0: none
  double gain = 1;
  double frequency = 0;  ///< ω/2π [Hz]
  double time_step = 0;  ///< h [s]
  double violence = 0;   ///< the largest y since it was set to zero

  /// Once a step, for every point with its own sway.
  Vec3 operator()(const Vec3& a, Sway& sway) {
    if (!(limit > 0)) return gain * a;
    constexpr double damping = 0.2;
    const double w = 2 * std::numbers::pi * frequency, wh = w * time_step;
    // Backward Euler: calm however long the step.
    sway.velocity = (sway.velocity + time_step * (a - w * w * sway.place)) / (1 + 2 * damping * wh + wh * wh);
    sway.place += time_step * sway.velocity;
    const double y = w * std::sqrt(w * w * sway.place.squaredNorm() + sway.velocity.squaredNorm()) / limit;
    violence = std::max(violence, y);
    return y <= 0.5 ? Vec3(gain * a) : Vec3(gain * (1 - 0.25 / y) / y * a);
  }
};

}  // namespace supple
