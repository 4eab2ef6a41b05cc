// SPDX-License-Identifier: Apache-2.0
// Example poses without collisions for the pose-space engine: the flesh of the quasistatic engine is solved in each,
// with contact, and how far it is from the skin that the file's own skinning makes becomes a morph target, a corrective
// shape of that pose. What pose-space deformation then interpolates (2016 paper, Eq. 1 and 2) has its creases resolved.
//
//   D(v) = B(v)⁻¹ x(v) − rest(v) − own(v)     B: the skinning matrix of the vertex in the pose (export/posed_meshes.h)
//
// own: what the character's own shapes show there already. Poses by their joints are interpolated with others of the
// same joints. Moments of clips reach half of their way to rest; shapes of moments that reach each other are solved for
// together, so that they add up to D at each (resolve_contacts.h).
#pragma once

#include "supple/pipeline/character/engine.h"

namespace supple {

struct ResolvedPose {
  std::string name;                 ///< of the pose
  std::string target;               ///< of the morph target
  std::vector<Vec3> displacements;  ///< of the rig's vertices, before skinning [m]
  double reach = 0;                 ///< of a moment of a clip [rad]
  double largest = 0;               ///< that a vertex is moved by in the pose [m]
  double penetration = 0;           ///< that is left [m]
  bool converged = false;
};

/// Whether the source has poses that nobody has corrected, besides the rest pose.
bool has_open_poses(const CharacterSource& source);
/// These poses. Fails where there is none, where moments are too near to each other to be told apart, and on rigs that
/// don't skin linearly.
Result<std::vector<ResolvedPose>> resolve_poses(const SoftCharacter& flesh, Progress& progress = Progress::silent());

/// A morph target for all meshes of a rig.
struct RigTarget {
  std::string name;
  std::span<const Vec3> displacements;  ///< of the rig's vertices, before skinning [m]
};
/// The source's file with more morph targets.
Result<GltfDocument> with_targets(const CharacterSource& source, std::span<const RigTarget> targets);

/// A recipe whose paths start from `folder` for a character that is written to `output`, to stand beside it.
Recipe recipe_beside(const std::filesystem::path& folder, const std::filesystem::path& output, Recipe recipe);

/// The character's file with the morph targets, and the recipe with their corrections in place of the poses; `output`
/// is how the recipe, beside it, names the file.
struct ResolvedCharacter {
  GltfDocument document;
  Recipe recipe;
};
Result<ResolvedCharacter> with_resolved_poses(const CharacterSource& source, std::span<const ResolvedPose> poses,
                                              const std::filesystem::path& output);

}  // namespace supple
