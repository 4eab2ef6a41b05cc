// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/quasistatic/approach.h"

#include <algorithm>

namespace supple {

QuasistaticReport approach_pose(const QuasistaticSettings& solver, const Approach& approach,
                                const ApproachSettings& settings) {
  const auto settled = [&](const QuasistaticReport& report) {
    return report.converged && report.contact_error < solver.contact_tolerance;
  };
  const int most_looks = solver.most_looks;
  QuasistaticReport report = approach.solve(1, settings.looks_at_once, false);
  double done = 0, step = 0.5;
  if (settled(report)) {
    approach.keep();
    return report;
  }
  while (done < 1) {
    const double next = std::min(1.0, done + step);
    const bool last = step <= settings.smallest_step;
    report = approach.solve(next, last ? most_looks : settings.looks_at_once, true);
    if (!settled(report) && !last) {
      step /= 2;
      continue;
    }
    approach.keep();
    done = next;
  }
  return report;
}

}  // namespace supple
