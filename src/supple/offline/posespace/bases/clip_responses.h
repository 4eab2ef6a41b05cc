// SPDX-License-Identifier: Apache-2.0
// How far training moves the flesh.
#pragma once

#include "supple/offline/posespace/cubature/train_cubature.h"

namespace supple {

/// q = spread · g, g a vector of standard normal numbers: static answers of the coordinates to the inertia of the known
/// motion, no force below a tenth of the largest. Without a known motion all get the same force. Flesh is taken to sway
/// by no more than a two-hundredth of the height: clips jump.
MatX typical_spread(const TrainingInput& input, const MatX& basis, const MatX& stiffness);

}  // namespace supple
