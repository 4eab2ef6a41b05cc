// SPDX-License-Identifier: Apache-2.0
// Corrections of artists: a morph target with the pose that it was sculpted for ([[correction]] of a recipe, or a name
// that says it, corrective_names.h). Each becomes an example pose of the model with its target at weight one, and a
// follower of the joints that it names (rig/pose_morphs.h), whoever moves them.
#pragma once

#include "supple/pipeline/character/character_source.h"

namespace supple {

/// The corrections that the names of the character's morph targets tell, without those of `poses`, which the file
/// itself corrects. `remarks`: what was found, and what was left open.
std::vector<RecipeCorrection> recognise_corrections(const RawCharacter& character, std::span<const ExamplePose> poses,
                                                    std::vector<std::string>& remarks);

/// Adds the poses of the corrections to those of the recipe, which is given those that names tell where it says
/// nothing. Remarks go to the character's warnings.
Status add_corrections(std::span<const ExamplePose> in_file, Recipe& recipe, RawCharacter& character,
                       std::vector<RecipePoseState>& poses);

/// Gives the source's clips the weights of corrected poses that they don't move themselves. The first `own_clips` come
/// with the character: they know its own corrected poses, but no [[correction]].
Status play_corrections(CharacterSource& source, std::size_t own_clips);

/// Angles about x, then y, then z that make the rotation, R = Rz Ry Rx [degrees].
Vec3 euler_degrees(const Quat& rotation);

/// Poses of the recipe's corrections, in their order. Fails, with the line, on targets, joints and clips that don't
/// exist, on poses that are the rest pose, and on a target that already belongs to one of `poses`.
Result<std::vector<RecipePoseState>> correction_poses(const Recipe& recipe, const RawCharacter& character,
                                                      std::span<const RecipePoseState> poses);

}  // namespace supple
