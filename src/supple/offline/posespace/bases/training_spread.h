// SPDX-License-Identifier: Apache-2.0
// How far training moves the flesh: random coordinates as large as the character's own motion makes them.
//
//   q = S g,  g standard normal,  S = s K̃⁻¹ diag(f),   f_k = rms over the known motion of (Uᵀ M a)_k
//
// K̃⁻¹ f is the static answer of the coordinates to the inertia of the motion. Cubature trained on such q is exact where
// the flesh really goes, and not where it never comes to.
#pragma once

#include "supple/offline/posespace/cubature/train_cubature.h"

namespace supple {

/// S, for a basis U and its reduced stiffness K̃. No f_k counts as less than a tenth of the largest; without a known
/// motion all are the same. The factor s ≤ 1 keeps the largest sway of a vertex, in the root mean square, within a
/// two-hundredth of the character's height, since clips may jump.
MatX training_spread(const TrainingInput& input, const MatX& basis, const MatX& stiffness);

}  // namespace supple
