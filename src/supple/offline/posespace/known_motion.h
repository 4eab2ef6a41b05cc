// SPDX-License-Identifier: Apache-2.0
// What a character's clips tell the reduction: poses that it takes, accelerations and runs of them (KnownMotion in
// bases/pose_bases.h), and poses that may get a reduced model of their own.
#pragma once

#include "supple/offline/posespace/reduce_body.h"
#include "supple/rig/character_rig.h"

namespace supple {

/// What shall learn from the motion, and what is known of it besides the clips.
struct MotionToLearn {
  int coordinates = 45;                         ///< that learn from it, at most
  std::vector<std::vector<double>> poses = {};  ///< that the character takes, whatever its clips are
  double vigour = 0;                            ///< how fast made-up motion is where no clips tell, see vigour_of()
};

/// `rest` is Φ over the mesh.
KnownMotion known_motion(const RawCharacter& character, const CharacterRig& rig, const Rig& rest, const TetMesh& mesh,
                         const MotionToLearn& learnt);

/// A clip from a moment on for so many long steps, taken in `finer` ones, or up to its end or its next cut; `extent`:
/// the character's [m].
MotionRun run_of_clip(const CharacterRig& rig, const Clip& clip, double start, int steps, double extent, int finer);

/// The accelerations of vertices in known motion, root mean square [m/s²]; 0 where none is known.
double vigour_of(const KnownMotion& motion);

/// Poses of the clips, a few of each, named after their moments.
std::vector<ReducePose> clip_poses(const RawCharacter& character, const CharacterRig& rig);

}  // namespace supple
