// SPDX-License-Identifier: Apache-2.0
// What `supple haptics` does: plays a ball's path against a deformable object, step by step at a haptic rate, and keeps
// the force on the hand and the time that every single step took.
#pragma once

#include "supple/base/progress.h"
#include "supple/pipeline/object/ball_path.h"
#include "supple/runtime/contact/touchable_object.h"

namespace supple {

struct HapticsSettings {
  SubspaceSettings dynamics = {.time_step = 1e-3, .mass_damping = 0.2, .stiffness_damping = 2e-3};
  BallContactSettings contact = {};
  bool real_time = false;  ///< each step waits for its time; otherwise as fast as possible
};

struct HapticsSample {
  double time = 0.0;          ///< of the end of the step [s]
  Vec3 hand = Vec3::Zero();   ///< where the path has the ball [m]
  BallContactReport contact;  ///< tool, force on the hand, …
  double latency_us = 0.0;    ///< wall clock from the step's begin (in real time: from its due time) to its force
  double processor_us = 0.0;  ///< processor time of this thread in the step: what other programs do does not count
};

struct HapticsRun {
  std::vector<HapticsSample> samples;
  double stiffness = 0.0;    ///< of the contact [N/m]
  int incomplete = 0;        ///< steps in which the contact left out triangles
  int recovered = 0;         ///< steps that broke down and were undone
  bool locked = false;       ///< real time: memory could be locked …
  bool prioritised = false;  ///< … and the thread put before others
};

/// The tree is that of the model's surface. Fails on settings out of range, on an object without a surface, and when
/// asked to stop.
Result<HapticsRun> run_haptics(const SubspaceModel& model, std::shared_ptr<const BoundedDeformationTree> tree,
                               const BallPath& path, const HapticsSettings& settings,
                               Progress& progress = Progress::silent());

struct LatencySummary {
  double mean = 0.0, p999 = 0.0, worst = 0.0;
  int above_millisecond = 0;
};
/// Sorts latencies [µs] and gives their percentiles.
LatencySummary summarize_latencies(std::vector<double> values);
LatencySummary wall_latency(const HapticsRun& run);
LatencySummary processor_latency(const HapticsRun& run);

/// Writes one line per step: time, hand, tool, force, contacts, depth and both latencies.
std::string encode_haptics_csv(const HapticsRun& run);

}  // namespace supple
