// SPDX-License-Identifier: Apache-2.0
// Bases and cubature that a StageStore may know from an earlier build of the same body.
#pragma once

#include "supple/offline/posespace/pose_bases.h"
#include "supple/offline/posespace/train_cubature.h"

#include <functional>

namespace supple {

/// Columns of one region in one pose, and the frequencies of their linear modes [Hz].
struct RegionBasis {
  MatX basis;
  VecX frequencies;
};

/// PoseBasesInput::content; none where the rig can't be told by its data.
std::optional<ContentHash> content_of(const PoseBasesInput& input);

/// `number` of the pose; `region`: 0 where there is but one.
Result<RegionBasis> find_or_make_basis(const PoseBasesInput& input, const PoseBasis& pose, std::size_t number,
                                       std::size_t region, int size, const std::function<Result<RegionBasis>()>& make);

/// `content` of the bases' input. Fails when cancelled.
Result<PoseCubature> find_or_make_cubature(StageStore& store, const ContentHash& content, const TrainingInput& input,
                                           const TrainingSettings& settings, Progress& progress);

}  // namespace supple
