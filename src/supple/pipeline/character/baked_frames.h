// SPDX-License-Identifier: Apache-2.0
// BakedFrames: simulated clips as the displacements that writers ask for (soft_motion.h).
//
// Files are played by linear skinning. Where the character's rig is another one (dual quaternions, wires), what it does
// beyond linear skinning is part of the displacement.
#pragma once

#include "supple/export/soft_motion.h"
#include "supple/pipeline/character/simulate_clip.h"
#include "supple/pipeline/character/soft_character.h"

namespace supple {

class BakedFrames final : public SoftFrames {
 public:
  /// `times`: of each clip's frames. `units_per_metre` of the file. `linear`: the rig as glTF plays it, where the
  /// character's own is another.
  static Result<BakedFrames> create(const SoftCharacter& soft, std::vector<SimulatedClip> clips,
                                    std::vector<std::vector<double>> times, double units_per_metre,
                                    std::optional<CharacterRig> linear);

  Index frame_count() const override { return first_.back(); }
  void frame(Index f, std::span<Vec3> displacement) override;

 private:
  BakedFrames(const SoftCharacter& soft, PoseSpaceDynamics<float> dynamics)
      : soft_(&soft), pose_(soft.rig.neutral()), dynamics_(std::move(dynamics)) {}
  void add_difference_to_linear(const Clip& clip, double time, std::span<Vec3> displacement);

  const SoftCharacter* soft_;
  CharacterPose pose_;
  PoseSpaceDynamics<float> dynamics_;
  std::vector<SimulatedClip> clips_;
  std::vector<std::vector<double>> times_;
  std::vector<Index> first_;  ///< frame of each clip, and the count at the end
  double units_ = 1;
  std::optional<CharacterRig> linear_;
};

}  // namespace supple
