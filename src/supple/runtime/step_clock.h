// SPDX-License-Identifier: Apache-2.0
// StepClock: the same motion at any display rate. The simulation runs in fixed steps; what is shown lies between the
// last two states, at most one step behind the display's time.
//
//   const int steps = clock.advance(seconds_since_last_frame);
//   for (int k = 0; k < steps; ++k) { previous = current; step(current); }
//   show((1 - clock.fraction()) * previous + clock.fraction() * current);
#pragma once

#include <cmath>
#include <cstdint>

namespace supple {

class StepClock {
 public:
  explicit StepClock(double time_step, int max_steps_per_frame = 1000)
      : time_step_(time_step), max_steps_(max_steps_per_frame) {}

  /// How many steps to take so that the simulation has just passed the display's new time. After a long pause at most
  /// max_steps_per_frame are asked for, and the rest of the pause is forgotten.
  int advance(double seconds) {
    if (!(seconds > 0)) return 0;
    shown_ += seconds;
    // Step counts are compared, not sums of steps: rounding does not build up over hours.
    const auto wanted = static_cast<std::int64_t>(std::ceil(shown_ / time_step_ - 1e-9));
    std::int64_t steps = wanted - taken_;
    if (steps > max_steps_) {
      shown_ -= static_cast<double>(steps - max_steps_) * time_step_;
      steps = max_steps_;
    }
    taken_ += steps;
    return static_cast<int>(steps);
  }

  /// The other way: as many steps as fit into the display's time, so that none looks beyond what is known. What is
  /// shown is then the last state, carried on by ahead().
  int advance_within(double seconds) {
    if (!(seconds > 0)) return 0;
    shown_ += seconds;
    const auto wanted = static_cast<std::int64_t>(std::floor(shown_ / time_step_ + 1e-9));
    std::int64_t steps = wanted - taken_;
    if (steps > max_steps_) {
      shown_ -= static_cast<double>(steps - max_steps_) * time_step_;
      steps = max_steps_;
    }
    taken_ += steps;
    return static_cast<int>(steps);
  }
  /// How far the display's time is beyond the last step [s], at least zero.
  double ahead() const {
    const double ahead = shown_ - static_cast<double>(taken_) * time_step_;
    return ahead > 0 ? ahead : 0;
  }
  double time_step() const { return time_step_; }

  /// Tells where the display's time lies between the state before the last step (0) and after it (1).
  double fraction() const {
    const double fraction = shown_ / time_step_ - static_cast<double>(taken_ - 1);
    return fraction < 0 ? 0 : (fraction > 1 ? 1 : fraction);
  }

 private:
  double time_step_;
  std::int64_t max_steps_;
  double shown_ = 0.0;
  std::int64_t taken_ = 0;
};

}  // namespace supple
