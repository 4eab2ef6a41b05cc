// SPDX-License-Identifier: Apache-2.0
// Pose-space corrections of a creature: what an artist would sculpt in its example poses.
#pragma once

#include "samples/creature.h"

namespace supple {

/// One shape per corrected pose, before skinning: the volume that linear skinning loses there (the difference to dual
/// quaternions, carried back through the skinning), the pose's bulges, and what keeps the skin from lying inside
/// itself.
std::vector<MorphTarget> correction_targets(const Creature& creature, const Surface& surface, const Skin& skin,
                                            const SkinWeights& weights);

/// Adds to each clip the weights that Eq. 2 of the 2016 paper gives the corrections, as keys on the mesh of `node`.
void add_correction_weights(const Creature& creature, Index node, std::vector<Clip>& clips);

}  // namespace supple
