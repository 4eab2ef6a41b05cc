// SPDX-License-Identifier: Apache-2.0
// Drawn motion is exaggerated most where there is least of it: the belly of somebody who strolls shall be seen to sway,
// and the hands that swing beside it shall not fly off. With an exaggeration e > 1 of what drives the flesh (DriveLimit
// in soft_step.h), it is multiplied by e, and limited where it would sway by √e times less:
//   a' = gain · e · a · s(z)/z,  z = √e y
// Gentle motion becomes e times as large, violent motion √e times. Below one, all motion becomes e times as large.
#pragma once

#include "supple/runtime/soft_step.h"

namespace supple {

/// z/y: what the violence of an exaggerated step is to be divided by.
inline double sooner_limited(double exaggeration) { return std::sqrt(std::max(1.0, exaggeration)); }

inline void exaggerate(SoftStepSettings& settings, double exaggeration) {
  settings.gain *= exaggeration;
  settings.most_acceleration /= sooner_limited(exaggeration);
}

}  // namespace supple
