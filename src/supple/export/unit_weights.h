// SPDX-License-Identifier: Apache-2.0
// Weights of morph targets brought into [0, 1], for players and editors that cut them off outside it (Blender does).
//
//   Σ_k w_k T_k = Σ_k ŵ_k (hi_k − lo_k) T_k + 1 · Σ_k lo_k T_k,   ŵ_k = (w_k − lo_k) / (hi_k − lo_k)
//
// lo and hi are the least and the largest weight of all clips, or zero. The last sum is one more target, whose weight
// is 1 at every key; clips that weren't baked leave it at 0, like all others.
#pragma once

#include "supple/export/compress_motion.h"

namespace supple {

/// Adds a target unless all weights are positive already.
void bring_into_unit_range(MeshTargets& targets);

}  // namespace supple
