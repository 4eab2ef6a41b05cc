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
  double solver_tolerance = 1e-6;  ///< of conjugate gradients, where an engine has them
  // How the rig drives the flesh (flesh_drive.h)
  double most_acceleration = 0.0;  ///< of the rig, as flesh feels it [m/s²]; 0: no limit
  double flesh_frequency = 2.0;    ///< [Hz] that flesh sways with, for limit and exaggeration
  double gain = 1.0;               ///< of what drives the flesh: in small motion, of the displacements
  double exaggeration = 1.0;       ///< likewise, of slow and gentle motion more than of any other
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

}  // namespace supple
