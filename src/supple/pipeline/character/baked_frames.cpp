// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/baked_frames.h"

#include <algorithm>

namespace supple {

Result<BakedFrames> BakedFrames::create(const SoftCharacter& soft, std::vector<SimulatedClip> clips,
                                        std::vector<std::vector<double>> times, double units_per_metre,
                                        std::optional<CharacterRig> linear) {
  Result<PoseSpaceDynamics<float>> dynamics = PoseSpaceDynamics<float>::create(soft.asset.model, {});
  SUPPLE_RETURN_IF_ERROR(dynamics);
  BakedFrames frames(soft, std::move(*dynamics));
  frames.first_ = {0};
  for (const std::vector<double>& clip : times)
    frames.first_.push_back(frames.first_.back() + static_cast<Index>(clip.size()));
  frames.clips_ = std::move(clips);
  frames.times_ = std::move(times);
  frames.units_ = units_per_metre;
  frames.linear_ = std::move(linear);
  return frames;
}

void BakedFrames::frame(Index f, std::span<Vec3> displacement) {
  const auto place = std::upper_bound(first_.begin(), first_.end(), f) - 1;
  const auto k = to_size(place - first_.begin());
  const double time = times_[k][to_size(f - *place)];
  const Clip& clip = soft_->character().clips[to_size(clips_[k].clip)];
  soft_->rig.sample(clip, time, ClipWrap::hold, pose_);
  const Eigen::VectorXf q = clips_[k].at(time).cast<float>();
  dynamics_.surface_displacements(pose_.placement, pose_.p, {q.data(), to_size(q.size())}, displacement);
  if (linear_) add_difference_to_linear(clip, time, displacement);
  if (units_ == 1) return;
  for (Vec3& u : displacement) u *= units_;
}

void BakedFrames::add_difference_to_linear(const Clip& clip, double time, std::span<Vec3> displacement) {
  const std::vector<Vec3> ours = evaluate_all(*soft_->rig.rig(), pose_.p);
  CharacterPose played = linear_->neutral();
  linear_->sample(clip, time, ClipWrap::hold, played);
  const std::vector<Vec3> theirs = evaluate_all(*linear_->rig(), played.p);
  for (std::size_t v = 0; v < displacement.size(); ++v)
    displacement[v] += pose_.placement * ours[v] - played.placement * theirs[v];
}

}  // namespace supple
