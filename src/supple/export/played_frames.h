// SPDX-License-Identifier: Apache-2.0
// PlayedFrames: the soft motion that a player of the written file shows, after targets were left out, numbers were
// rounded, keys were thinned or bones were fitted. Reports tell lengths of these displacements, not of those that were
// simulated.
//
//   u(v, f) = x(v, f) of the written character − x(v, f) of its source
#pragma once

#include "supple/export/posed_meshes.h"

#include <memory>

namespace supple {

class PlayedFrames final : public SoftFrames {
 public:
  /// `motion`: what was written; its character must outlive this. `written`: the same character as its new file has it,
  /// and `clips` its clip for each of the motion's. Fails where meshes, vertices or clips aren't there.
  static Result<PlayedFrames> create(const SoftMotion& motion, std::shared_ptr<const RawCharacter> written,
                                     std::vector<Index> clips);

  Index frame_count() const override { return source_->frame_count(); }
  void frame(Index f, std::span<Vec3> displacement) override;

 private:
  PlayedFrames(const SoftMotion& motion, std::shared_ptr<const RawCharacter> written, std::vector<Index> meshes,
               std::vector<std::size_t> vertex, std::vector<Index> clips);

  std::shared_ptr<const RawCharacter> written_;
  std::unique_ptr<SoftPlayer> source_;
  std::unique_ptr<PosedMeshes> played_;
  std::vector<std::size_t> vertex_;  ///< of the written character, for each of the source's
  std::vector<Index> clips_;         ///< of the written character, for each of the motion's
  std::vector<Vec3> rigid_, soft_;
};

}  // namespace supple
