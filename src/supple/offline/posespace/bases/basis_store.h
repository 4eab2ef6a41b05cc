// SPDX-License-Identifier: Apache-2.0
// Bases and cubature that a StageStore may know from an earlier build of the same body.
#pragma once

#include "supple/offline/posespace/bases/pose_bases.h"
#include "supple/offline/posespace/cubature/train_cubature.h"

#include <functional>

namespace supple {

/// Columns of one patch in one pose, and the frequencies of their linear modes [Hz].
struct PatchBasis {
  MatX basis;
  VecX frequencies;
};

/// PoseBasesInput::content; none where the rig can't be told by its data.
std::optional<ContentHash> content_of(const PoseBasesInput& input);

/// `number` of the pose; `patch`: 0 where there is but one.
Result<PatchBasis> find_or_make_basis(const PoseBasesInput& input, const PoseBasis& pose, std::size_t number,
                                      std::size_t patch, int size, const std::function<Result<PatchBasis>()>& make);

/// `content` of the bases' input. Fails when cancelled.
Result<PoseCubature> find_or_make_cubature(StageStore& store, const ContentHash& content, const TrainingInput& input,
                                           const TrainingSettings& settings, Progress& progress);

}  // namespace supple
