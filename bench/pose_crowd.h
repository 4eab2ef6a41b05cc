// SPDX-License-Identifier: Apache-2.0
// How far a character scales: many of one asset on two threads, and one of 50,000 tetrahedra, as other programs for
// rig-driven reduced dynamics are measured.
#pragma once

#include "bench/pose_creatures.h"
#include "supple/runtime/posespace/pose_space_dynamics.h"

namespace supple::bench {

/// A hundred of them, each somewhere else in the clip, one step per picture of a 90 Hz display.
void add_crowd(Report& report, const Options& options, const BuiltCharacter& built, const Clip& clip,
               const PoseSpaceSettings& settings);

/// The mascot with r = 120. Built when it is made, which must happen before this process uses more than one thread.
/// Peer: Fast Complementary Dynamics, one thread, 42,000 to 81,000 tetrahedra; the middle of the times measured.
class LargeCharacter {
 public:
  explicit LargeCharacter(const Options& options);
  void measure(Report& report);

 private:
  Status add_rows(Report& report);

  CreatureFolder folder_;
  Recipe recipe_;
  BuildCost cost_;
  Status status_;
};

}  // namespace supple::bench
