// SPDX-License-Identifier: Apache-2.0
// One clip of a character with soft tissue, whatever engine moves the flesh: its state over time, in fixed steps,
// whatever the rates of keys and of output. A clip starts as if it had moved on at its first speed before; with gravity
// or wind, it is held in its first pose until it has settled. Loops are run until they repeat themselves, or as many
// rounds as the engine can afford; the gap that is left fades out over the round.
//
// An engine hands in a FleshStepper: what it does in one step, and the numbers that say where its flesh is.
#pragma once

#include "supple/base/progress.h"
#include "supple/base/stage_store.h"
#include "supple/rig/motion/clip_motion.h"
#include "supple/runtime/soft_step.h"

#include <optional>

namespace supple {

struct SimulateSettings {
  double time_step = 1.0 / 240;  ///< [s], or a little less, so that the range is a whole number of steps
  double damping_ratio = 0.2;
  double gain = 1;          ///< of what drives the flesh
  double exaggeration = 1;  ///< likewise, of slow and gentle motion more than of any other (runtime/flesh_drive.h)
  bool limit = true;        ///< violent moments, to what the engine's model says that flesh can bear
  SoftIntegrator integrator = SoftIntegrator::newmark;
  int iterations = 1;
  double from = 0;           ///< [s] of the clip
  std::optional<double> to;  ///< absent: its end
  double preroll = 2;        ///< [s]: motion before `from`, or time to settle
  bool loop = false;
  /// How far flesh goes, about, is all that is asked: who steps slowly may take longer steps and solve them loosely.
  bool rough = false;
  Vec3 gravity = Vec3::Zero();
  Vec3 wind = Vec3::Zero();
  double drag = 0;
  /// Where parts of clips that can be solved apart from each other are found and kept (CharacterEngine::parts_of).
  StageStore* parts = &StageStore::none();
};

struct SimulatedClip {
  double start = 0;  ///< [s] of the first column; at most a step before the range that was asked for
  double time_step = 0;
  MatX coordinates;  ///< the flesh's state, one column per step
  bool loop = false;
  int rounds = 0;             ///< that a loop took to repeat itself
  double gap = 0;             ///< of a loop between its end and its start before it was closed [m]
  int recovered = 0;          ///< steps that broke down
  double violent = 0;         ///< [s] of the range in which the rig's acceleration was beyond what flesh can bear
  double violence = 0;        ///< the largest acceleration as a multiple of that
  double restraint = 1;       ///< what drives the flesh was multiplied with this, because it flew apart otherwise
  int cuts = 0;               ///< within the range
  double largest_energy = 0;  ///< elastic + kinetic [J]
  double seconds = 0;

  double end() const { return start + time_step * static_cast<double>(coordinates.cols() - 1); }
  /// The state at any time within, by cubic interpolation; held beyond the ends, continued around in a loop.
  VecX at(double time) const;
};

/// What an engine does in every step of a clip.
class FleshStepper {
 public:
  virtual ~FleshStepper() = default;

  virtual Index state_size() const = 0;
  /// Called before the first step; again where a clip starts anew. What drives the flesh is multiplied with `gain`.
  virtual Status begin(double time_step, double gain) = 0;
  /// The character is at that placement and in that pose one time step later. The report's `recovered` says that the
  /// flesh was put at rest because the step broke down; an engine that must not go on from there fails instead.
  virtual Status step(const CharacterPose& pose, const SoftForces& forces, SoftStepReport& report) = 0;
  /// The next step starts the motion anew, the flesh keeps its state.
  virtual void cut() = 0;
  /// Where the flesh is: `state_size` numbers that can be interpolated.
  virtual VecX state() const = 0;
  virtual double energy() = 0;  ///< elastic + kinetic [J]
  /// The farthest that a change of the state moves a vertex of the skin [m].
  virtual double visible(const VecX& difference) const = 0;
  /// A loop has closed where its gap is this share of the character's extent; what is left fades out over a round.
  virtual double closed_gap() const { return 1e-5; }
  /// After so many rounds a loop is closed, however large the gap.
  virtual int most_rounds() const { return 40; }
};

/// α, β, h, the scheme and the limit for flesh that sways with `frequency` [Hz] and can bear `most_acceleration`
/// [m/s²].
SoftStepSettings dynamics_settings(const SimulateSettings& settings, double frequency, double most_acceleration = 0);

/// `extent`: the character's largest [m], that cuts are told by and gaps of loops are compared with. Fails on a range
/// that the clip doesn't have, when the stepper does, and when it is cancelled.
Result<SimulatedClip> simulate_clip(FleshStepper& flesh, const CharacterRig& rig, const Clip& clip, double extent,
                                    const SimulateSettings& settings, Progress& progress = Progress::silent());

}  // namespace supple
