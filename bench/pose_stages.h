// SPDX-License-Identifier: Apache-2.0
// Table 2 of the 2016 paper: what each stage of a step costs, how much arithmetic and memory it needs at least, and
// which share that is of what this machine can do. A stage's share is the larger of
//   flops / (time · GFLOP/s of a matrix product)      bytes / (time · GB/s of reading its data again and again)
// Both count what the inner loops ask for, padding included; elements' own nonlinear arithmetic is estimated from the
// source. A stage that reads its data several times has more bytes than data. Which cache the data lies in, and how
// fast that is at best, depends on the data's size (`footprint`), so the ceiling is measured over a buffer of that
// size. Stages run alone, so their inputs are warmer in the caches than within a step: their sum is not its time.
#pragma once

#include "bench/report.h"
#include "supple/rig/character_rig.h"
#include "supple/runtime/posespace/pose_space_dynamics.h"

namespace supple::bench {

struct Stage {
  std::string name;
  double us = 0, flops = 0;
  double bytes = 0;                     ///< read and written in all
  double footprint = 0;                 ///< bytes of the data that this happens to, each counted once
  std::optional<double> paper_ms = {};  ///< of the gorilla, eight threads
};

/// On the state that `dynamics` is in; `solver_iterations`: the mean of its steps.
std::vector<Stage> measure_stages(PoseSpaceDynamics<float>& dynamics, const CharacterPose& pose,
                                  double solver_iterations);
void add_stages(Report& report, const std::string& row, const std::vector<Stage>& stages, bool published);

}  // namespace supple::bench
