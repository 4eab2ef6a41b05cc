// SPDX-License-Identifier: Apache-2.0
// Table 2 of the 2016 paper: what each stage of a step costs, how much arithmetic and memory it needs at least, and
// which share that is of what this machine can do. A stage's share is the larger of
//   flops / (time · GFLOP/s of a matrix product)      bytes / (time · GB/s of reading as many bytes again and again)
// Both count what the inner loops ask for, padding included; elements' own nonlinear arithmetic is estimated from the
// source. Stages run alone, so their inputs are warmer in the caches than within a step: their sum is not its time.
#pragma once

#include "bench/report.h"
#include "supple/rig/character_rig.h"
#include "supple/runtime/posespace/pose_space_dynamics.h"

namespace supple::bench {

struct Stage {
  std::string name;
  double us = 0, flops = 0, bytes = 0;
  std::optional<double> paper_ms = {};  ///< of the gorilla, eight threads
};

/// On the state that `dynamics` is in; `solver_iterations`: the mean of its steps.
std::vector<Stage> measure_stages(PoseSpaceDynamics<float>& dynamics, const CharacterPose& pose,
                                  double solver_iterations);
void add_stages(Report& report, const std::string& row, const std::vector<Stage>& stages, bool published);

}  // namespace supple::bench
