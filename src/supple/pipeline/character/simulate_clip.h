// SPDX-License-Identifier: Apache-2.0
// One clip of a character with soft tissue: the coordinates q over time, in fixed steps, whatever the rates of keys and
// of output. A clip starts as if it had moved on at its first speed before; with gravity or wind, it is held in its
// first pose until it has settled. Loops are run until they repeat themselves.
#pragma once

#include "supple/rig/motion/clip_motion.h"
#include "supple/runtime/posespace/pose_space_dynamics.h"

#include <optional>

namespace supple {

struct SimulateSettings {
  double time_step = 1.0 / 240;  ///< [s], or a little less, so that the range is a whole number of steps
  double damping_ratio = 0.2;
  PoseSpaceIntegrator integrator = PoseSpaceIntegrator::newmark;
  int iterations = 1;
  double from = 0;           ///< [s] of the clip
  std::optional<double> to;  ///< absent: its end
  double preroll = 2;        ///< [s]: motion before `from`, or time to settle
  bool loop = false;
  Vec3 gravity = Vec3::Zero();
  Vec3 wind = Vec3::Zero();
  double drag = 0;
};

struct SimulatedClip {
  Index clip = 0;
  double start = 0;  ///< [s] of the first column; at most a step before the range that was asked for
  double time_step = 0;
  MatX coordinates;  ///< q, one column per step
  bool loop = false;
  int rounds = 0;             ///< that a loop took to repeat itself
  double gap = 0;             ///< of a loop between its end and its start before it was closed, share of the height
  int recovered = 0;          ///< steps that broke down
  int cuts = 0;               ///< within the range
  double largest_energy = 0;  ///< elastic + kinetic [J]
  double seconds = 0;

  double end() const { return start + time_step * static_cast<double>(coordinates.cols() - 1); }
  /// q at any time within, by cubic interpolation; held beyond the ends, continued around in a loop.
  VecX at(double time) const;
};

/// α, β, h and the scheme for flesh that sways with `frequency` [Hz].
PoseSpaceSettings dynamics_settings(const SimulateSettings& settings, double frequency);

Result<SimulatedClip> simulate_clip(const std::shared_ptr<const PoseSpaceModel>& model, double flesh_frequency,
                                    const CharacterRig& rig, const Clip& clip, const SimulateSettings& settings);

}  // namespace supple
