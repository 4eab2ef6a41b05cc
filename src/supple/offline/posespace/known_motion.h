// SPDX-License-Identifier: Apache-2.0
// What a character's clips tell the reduction: poses that it takes, accelerations and runs of them (KnownMotion in
// bases/pose_bases.h), and poses that may get a reduced model of their own.
#pragma once

#include "supple/offline/posespace/reduce_body.h"
#include "supple/rig/character_rig.h"

namespace supple {

/// `rest` is Φ over the mesh. `coordinates`: how many shall learn from the runs, at most. `vigour`: how fast made-up
/// motion is where there are no clips to tell, see vigour_of().
KnownMotion known_motion(const RawCharacter& character, const CharacterRig& rig, const Rig& rest, const TetMesh& mesh,
                         int coordinates, double vigour = 0);

/// The accelerations of vertices in known motion, root mean square [m/s²]; 0 where none is known.
double vigour_of(const KnownMotion& motion);

/// Poses of the clips, a few of each, named after their moments.
std::vector<ReducePose> clip_poses(const RawCharacter& character, const CharacterRig& rig);

}  // namespace supple
