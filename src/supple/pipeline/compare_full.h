// SPDX-License-Identifier: Apache-2.0
// The reduced character against the truth: every vertex of the same mesh simulated over the same clip, with the same
// materials, bones, rest shape, damping and step (offline/posespace/full_pose_dynamics.h).
//
//   error       √(Σ |ū_reduced − ū_full|² / Σ |ū_full|²) over the vertices of the skin and the steps of the clip
//   projection  the same for the best that any coordinates could do: what the basis alone costs
#pragma once

#include "supple/pipeline/build_character.h"
#include "supple/pipeline/simulate_clip.h"

namespace supple {

struct CompareRow {
  int size = 0;   ///< r
  int poses = 1;  ///< m
  double error = 0, projection = 0;
  double elastic_error = 0, inertial_error = 0;  ///< of cubature, on unseen samples
  double step_seconds = 0;
};

struct CompareReport {
  std::string clip;
  int steps = 0;
  double peak = 0;  ///< of the full simulation, share of the height
  double full_step_seconds = 0;
  int full_recovered = 0;
  std::vector<CompareRow> rows;
};

struct CompareSettings {
  std::string clip;         ///< empty: the first
  std::vector<int> sizes;   ///< empty: the recipe's
  std::vector<int> poses;   ///< most poses with a reduced model, each for each size; empty: the recipe's
  double most_seconds = 2;  ///< of the clip
  SimulateSettings simulate;
};

Result<CompareReport> compare_full(const Recipe& recipe, const std::filesystem::path& folder,
                                   const CompareSettings& settings, Progress& progress = Progress::silent());

}  // namespace supple
