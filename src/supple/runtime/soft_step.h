// SPDX-License-Identifier: Apache-2.0
// What a step of soft tissue takes and tells, whichever engine takes it: scheme, damping, forces from outside, and
// whether it went well.
#pragma once

#include "supple/base/types.h"

#include <span>

namespace supple {

enum class SoftIntegrator { backward_euler, newmark };

struct SoftStepSettings {
  SoftIntegrator integrator = SoftIntegrator::newmark;
  double time_step = 1.0 / 240;    ///< [s], of a sub-step where a frame has several
  double mass_damping = 0.0;       ///< α [1/s]
  double stiffness_damping = 0.0;  ///< β [s]
  int iterations = 1;              ///< Newton iterations per step; more are taken where one goes too far
};

struct SoftStepReport {
  double residual = 0.0;      ///< |residual| before the last iteration, relative to the first; of the last sub-step
  bool recovered = false;     ///< a step broke down: the flesh was put at rest
  int solver_iterations = 0;  ///< of conjugate gradients, in all sub-steps
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

}  // namespace supple
