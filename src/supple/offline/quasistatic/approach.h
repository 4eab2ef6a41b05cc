// SPDX-License-Identifier: Apache-2.0
// A pose in steps that contacts can follow: flesh that jumps through other flesh crumples, and searches don't end.
#pragma once

#include "supple/offline/quasistatic/quasistatic_solver.h"

#include <functional>

namespace supple {

struct ApproachSettings {
  int looks_at_once = 12;           ///< searches after which a pose is rather approached in smaller steps …
  double smallest_step = 1.0 / 16;  ///< … but not in smaller ones than this share of the way
};

/// Flesh that was solved for at one pose, on its way to another.
struct Approach {
  /// Solves at a share of the way, from what was kept last, with that many searches at most. `again`: a step of
  /// several.
  std::function<QuasistaticReport(double share, int most_looks, bool again)> solve;
  std::function<void()> keep;  ///< what was solved last is where the next step begins
};

/// At once; where searches don't settle, half as far at a time. The last solution is kept.
QuasistaticReport approach_pose(const QuasistaticSettings& solver, const Approach& approach,
                                const ApproachSettings& settings = {});

}  // namespace supple
