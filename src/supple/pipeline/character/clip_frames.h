// SPDX-License-Identifier: Apache-2.0
// ClipFrames: simulated clips, of whichever engine, as the displacements that writers ask for (export/soft_motion.h).
//
// Files are played by linear skinning. Where the character's rig is another one (dual quaternions, wires), what it does
// beyond linear skinning is part of the displacement.
#pragma once

#include "supple/export/soft_motion.h"
#include "supple/pipeline/character/engine.h"

namespace supple {

/// A simulated clip and the frames of it that are wanted.
struct FramedClip {
  const Clip* clip = nullptr;  ///< of the source's character
  std::unique_ptr<ClipRun> run;
  std::vector<double> times;  ///< [s]
  double tone = 1;            ///< see TonedRun, as the one below
  double peak = 0;            ///< [m]
};

class ClipFrames final : public SoftFrames {
 public:
  /// `source` and the clips must outlive it. Displacements are in the file's units. Fails when the rig can't be played
  /// by linear skinning at all.
  static Result<ClipFrames> create(const CharacterSource& source, std::span<const FramedClip> clips);

  Index frame_count() const override { return first_.back(); }
  void frame(Index f, std::span<Vec3> displacement) override;

 private:
  ClipFrames(const CharacterSource& source, std::span<const FramedClip> clips);
  void add_difference_to_linear(const Clip& clip, double time, std::span<Vec3> displacement) const;

  const CharacterSource* source_;
  std::span<const FramedClip> clips_;
  std::vector<Index> first_ = {0};  ///< frame of each clip, and the count at the end
  std::optional<CharacterRig> linear_;
};

}  // namespace supple
