// SPDX-License-Identifier: Apache-2.0
// How a character's own clips shake its flesh: accelerations of the rest shape at moments of the clips,
//   a = (x(t + h) − 2 x(t) + x(t − h)) / h²,  x = W Φ(p),  h = 1/60 s
// of every vertex in the world, seen from its turned neighbourhood, so that they can be compared between poses.
#pragma once

#include "supple/mesh/volume_mesh.h"
#include "supple/rig/character_rig.h"

namespace supple {

/// [s] between the positions that an acceleration is found from: long enough to see past the corners of keys that are
/// joined by lines.
inline constexpr double acceleration_step = 1.0 / 60;

struct ClipMoment {
  const Clip* clip = nullptr;
  double time = 0;  ///< [s]
};

/// Moments of the character's clips, a few of each and about `most` in all.
std::vector<ClipMoment> typical_moments(const RawCharacter& character, std::size_t most);

/// Leaves out moments at which a clip puts the character elsewhere: that is no motion, and would outweigh all others.
std::vector<ClipMoment> without_cuts(std::vector<ClipMoment> moments, const CharacterRig& rig, double extent);

/// The acceleration of every vertex of the mesh at a moment [m/s²]; `rest` is Φ over the mesh.
VecX local_acceleration(const CharacterRig& rig, const Rig& rest, const TetMesh& mesh, const ClipMoment& moment);

/// Moments that tell how vigorous the clips are, without cuts, and the accelerations there, one moment per column.
struct ClipAccelerations {
  std::vector<ClipMoment> moments;
  MatX accelerations;
};
ClipAccelerations clip_accelerations(const RawCharacter& character, const CharacterRig& rig, const Rig& rest,
                                     const TetMesh& mesh);

}  // namespace supple
