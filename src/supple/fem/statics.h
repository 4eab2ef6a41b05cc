// SPDX-License-Identifier: Apache-2.0
// Static equilibrium: the u that minimises energy(u) − f_extᵀ u, by Newton's method with a line search, the load
// applied in steps that are halved where Newton's method fails.
#pragma once

#include "supple/base/progress.h"
#include "supple/fem/linear_solver.h"

namespace supple {

struct StaticsSettings {
  int load_steps = 1;       ///< equal parts in which the load is applied at first
  int max_halvings = 6;     ///< how often a load step that fails may be cut in two
  int max_iterations = 60;  ///< Newton iterations per load step
  double tolerance = 1e-9;  ///< on |f_ext − f(u)| / |f_ext|; what rounding leaves is enough
  LinearSettings linear = {};
};

struct StaticsResult {
  VecX u;                              ///< [m]
  int newton_iterations = 0;           ///< over all load steps
  int load_steps = 0;                  ///< taken in the end
  double residual = 0.0;               ///< |f_ext − f(u)| / |f_ext|
  double energy = 0.0;                 ///< [J]
  double smallest_volume_ratio = 1.0;  ///< least det F; not positive: an element is inside out, the answer unphysical
};

/// Fails with a sentence that says why: the body can float away, a load step did not converge, an element collapsed.
Result<StaticsResult> solve_static(const ElasticBody& body, std::span<const Index> fixed, const VecX& external_force,
                                   const StaticsSettings& settings = {}, Progress& progress = Progress::silent());

}  // namespace supple
