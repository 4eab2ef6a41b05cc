// SPDX-License-Identifier: Apache-2.0
// The pose-space engine (2016 paper): flesh in r coordinates around one or several poses, fast enough for games. What
// comes out of a build has been through the asset's file format, so that it moves exactly as the shipped file does, and
// as it does when the build is found in a cache.
#pragma once

#include "supple/pipeline/character/engine.h"
#include "supple/runtime/posespace/pose_space_dynamics.h"

namespace supple {

struct ReducedBody;

const CharacterEngine& posespace_engine();

/// The character whose body was reduced, as the shipped file would move it; its exaggeration is that of its rehearsal.
Result<std::unique_ptr<SoftCharacter>> soft_character(std::shared_ptr<const CharacterSource> source,
                                                      const ReducedBody& reduced);

/// One clip with a model of this engine: the state of the result is q. `flesh_frequency` [Hz] is what damping is
/// derived from.
Result<SimulatedClip> simulate_clip(const std::shared_ptr<const PoseSpaceModel>& model, double flesh_frequency,
                                    const CharacterRig& rig, const Clip& clip, const SimulateSettings& settings,
                                    double most_acceleration = 0);

}  // namespace supple
