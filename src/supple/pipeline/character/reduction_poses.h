// SPDX-License-Identifier: Apache-2.0
// Which poses of a character get a reduced model of their own (2016 paper, section 5): those of its recipe. Where it
// has none, poses of its clips are candidates (offline/posespace/bases/choose_poses.h).
#pragma once

#include "supple/offline/posespace/reduce_body.h"
#include "supple/pipeline/character/recipe_character.h"

namespace supple {

/// Poses in the rig's parameters: a corrected one with the weight of its morph target at one.
std::vector<double> pose_parameters(const CharacterRig& rig, const RecipePoseState& state);

/// Without the neutral pose, at most `most`. Poses that are the same to a degree are taken once.
std::vector<ReducePose> recipe_poses(const RecipeCharacter& prepared, const CharacterRig& rig, const RecipeBody& body,
                                     int most);

}  // namespace supple
