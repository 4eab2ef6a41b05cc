// SPDX-License-Identifier: Apache-2.0
// Example poses without collisions for the pose-space engine: the flesh of the quasistatic engine is solved in each,
// with contact, and how far it is from the skin that the file's own skinning makes becomes a morph target, a corrective
// shape of that pose. What pose-space deformation then interpolates (2016 paper, Eq. 1 and 2) has its creases resolved.
//
//   d(v) = B(v)⁻¹ (x(v) − B(v) rest(v))      B: the skinning matrix of the vertex in the pose (export/posed_meshes.h)
#pragma once

#include "supple/pipeline/character/engine.h"

namespace supple {

struct ResolvedPose {
  std::string name;                 ///< of the pose
  std::string target;               ///< of the morph target
  std::vector<Vec3> displacements;  ///< of the rig's vertices, before skinning [m]
  double largest = 0;               ///< that a vertex is moved by in the pose [m]
  double penetration = 0;           ///< that is left [m]
  bool converged = false;
};

/// The source's poses that nobody has corrected, without the rest pose. Fails where there is none, and on rigs that
/// don't skin linearly.
Result<std::vector<ResolvedPose>> resolve_poses(const SoftCharacter& flesh, Progress& progress = Progress::silent());

/// The character's file with the morph targets, and the recipe with their corrections in place of the poses; `output`
/// is how the recipe, beside it, names the file.
struct ResolvedCharacter {
  GltfDocument document;
  Recipe recipe;
};
Result<ResolvedCharacter> with_resolved_poses(const CharacterSource& source, std::span<const ResolvedPose> poses,
                                              const std::filesystem::path& output);

}  // namespace supple
