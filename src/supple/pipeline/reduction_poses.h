// SPDX-License-Identifier: Apache-2.0
// Which poses of a character get a reduced model of their own (2016 paper, section 5): those of its recipe, or, where
// it has none, poses of its clips that are far apart.
#pragma once

#include "supple/offline/posespace/reduce_body.h"
#include "supple/pipeline/recipe_character.h"

namespace supple {

/// Poses in the rig's parameters: a corrected one with the weight of its morph target at one.
std::vector<double> pose_parameters(const CharacterRig& rig, const RecipePoseState& state);

/// Without the neutral pose, at most `most`. Poses that are the same to a degree are taken once.
std::vector<ReducePose> recipe_poses(const RecipeCharacter& prepared, const CharacterRig& rig, const RecipeBody& body,
                                     int most);

/// From the given ones those that are farthest from the neutral pose and from each other, as long as they are more than
/// `apart` away [rad, in the layout's distance].
std::vector<ReducePose> distant_poses(const PoseLayout& layout, std::span<const std::vector<double>> poses, int most,
                                      double apart = 0.5);

}  // namespace supple
