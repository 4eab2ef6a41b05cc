// SPDX-License-Identifier: Apache-2.0
// Soft motion: what a bake computes and what the writers of files take. For every frame of every baked clip, how far
// the soft tissue carries each vertex away from the place where the skeleton alone would put it.
//
//   x(v, f) = B(v, f) (rest(v) + morphs(v, f)) + u(v, f)
//
// B is the blended matrix of linear skinning as glTF players compute it, u the displacement in the world. Vertices are
// the welded ones of the rig, mesh after mesh (CharacterRig::first_vertex). A whole motion need not fit into memory:
// writers ask for frames one at a time, some of them more than once.
#pragma once

#include "supple/base/types.h"

#include <span>
#include <vector>

namespace supple {

struct RawCharacter;

/// A clip that was baked.
struct SoftClip {
  Index clip = 0;             ///< of RawCharacter::clips
  std::vector<double> times;  ///< of its frames [s], ascending, in the time of the clip
  /// Files get every so many-th frame, from the first, and the last. Those between show what players make of the gaps:
  /// with 2, the error that compress_motion.h states holds half-way between frames, too.
  Index written_every = 1;

  bool is_written(std::size_t frame) const { return frame % to_size(written_every) == 0 || frame + 1 == times.size(); }
  std::vector<double> written_times() const {
    std::vector<double> written;
    for (std::size_t f = 0; f < times.size(); ++f)
      if (is_written(f)) written.push_back(times[f]);
    return written;
  }
};

/// The displacements of all frames: those of the first clip, then those of the second …
class SoftFrames {
 public:
  virtual ~SoftFrames() = default;
  virtual Index frame_count() const = 0;
  /// Overwrites `displacement`, one per vertex [m, world]. Any frame, in any order, any number of times.
  virtual void frame(Index f, std::span<Vec3> displacement) = 0;
};

struct SoftMotion {
  const RawCharacter* character = nullptr;
  std::vector<Index> meshes;  ///< of the character, as the rig has them; empty: all
  std::vector<SoftClip> clips;
  SoftFrames* frames = nullptr;
};

}  // namespace supple
