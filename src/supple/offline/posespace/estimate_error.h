// SPDX-License-Identifier: Apache-2.0
// How far a reduced model is from the full simulation, told when it is built: both are run over motion that the model
// hasn't learnt from, with the same steps, and the skin is compared,
//   √(Σ |ū_reduced − ū_full|² / Σ |ū_full|²)
#pragma once

#include "supple/mesh/embedding.h"
#include "supple/offline/dynamics/motion_runs.h"

#include <optional>

namespace supple {

struct PoseSpaceModel;

/// None where there are no runs, where flesh doesn't move in them, or where either simulation breaks down.
std::optional<double> estimate_error(const TaughtBody& body, const Embedding& skin,
                                     const std::shared_ptr<const PoseSpaceModel>& model,
                                     std::span<const MotionRun> runs);

}  // namespace supple
