// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/clip_frames.h"

#include <algorithm>

namespace supple {

ClipFrames::ClipFrames(const CharacterSource& source, std::span<const FramedClip> clips)
    : source_(&source), clips_(clips) {
  for (const FramedClip& clip : clips) first_.push_back(first_.back() + static_cast<Index>(clip.times.size()));
}

Result<ClipFrames> ClipFrames::create(const CharacterSource& source, std::span<const FramedClip> clips) {
  ClipFrames frames(source, clips);
  const bool plays_otherwise = source.recipe.dual_quaternions || !source.recipe.wires.empty();
  if (plays_otherwise) {
    Result<CharacterRig> played = CharacterRig::create(source.character);
    SUPPLE_RETURN_IF_ERROR(played);
    frames.linear_ = std::move(*played);
  }
  return frames;
}

void ClipFrames::frame(Index f, std::span<Vec3> displacement) {
  const auto place = std::upper_bound(first_.begin(), first_.end(), f) - 1;
  const FramedClip& framed = clips_[to_size(place - first_.begin())];
  const double time = framed.times[to_size(f - *place)];
  framed.run->in_world(time, displacement);
  if (linear_) add_difference_to_linear(*framed.clip, time, displacement);
  const double units_per_metre = 1 / source_->recipe.scale;
  if (units_per_metre == 1) return;
  for (Vec3& u : displacement) u *= units_per_metre;
}

void ClipFrames::add_difference_to_linear(const Clip& clip, double time, std::span<Vec3> displacement) const {
  CharacterPose own = source_->rig.neutral(), played = linear_->neutral();
  source_->rig.sample(clip, time, ClipWrap::hold, own);
  linear_->sample(clip, time, ClipWrap::hold, played);
  const std::vector<Vec3> ours = evaluate_all(*source_->rig.rig(), own.p);
  const std::vector<Vec3> theirs = evaluate_all(*linear_->rig(), played.p);
  for (std::size_t v = 0; v < displacement.size(); ++v)
    displacement[v] += own.placement * ours[v] - played.placement * theirs[v];
}

}  // namespace supple
