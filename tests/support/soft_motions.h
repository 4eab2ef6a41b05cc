// SPDX-License-Identifier: Apache-2.0
// Soft motion made by formulas, and the check that a file plays it.
#pragma once

#include "supple/export/posed_meshes.h"
#include "supple/io/gltf/read_character.h"
#include "supple/rig/character_rig.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>

namespace supple {

/// Displacements from a function of the frame's clip, its time, and the vertex.
class FormulaFrames final : public SoftFrames {
 public:
  using Formula = std::function<Vec3(Index clip, double time, std::size_t vertex)>;
  FormulaFrames(std::vector<SoftClip> clips, Formula formula)
      : clips_(std::move(clips)), formula_(std::move(formula)) {}

  Index frame_count() const override {
    Index count = 0;
    for (const SoftClip& clip : clips_) count += static_cast<Index>(clip.times.size());
    return count;
  }
  void frame(Index f, std::span<Vec3> displacement) override {
    ++asked;
    for (const SoftClip& clip : clips_) {
      if (f < static_cast<Index>(clip.times.size())) {
        for (std::size_t v = 0; v < displacement.size(); ++v)
          displacement[v] = formula_(clip.clip, clip.times[to_size(f)], v);
        return;
      }
      f -= static_cast<Index>(clip.times.size());
    }
  }
  int asked = 0;

 private:
  std::vector<SoftClip> clips_;
  Formula formula_;
};

inline SoftClip even_frames(const RawCharacter& character, Index clip, int count) {
  SoftClip result{clip, {}};
  const double duration = character.clips[to_size(clip)].duration;
  for (int k = 0; k < count; ++k) result.times.push_back(count == 1 ? 0.0 : duration * k / (count - 1));
  return result;
}

/// Rest positions of all meshes in the world.
inline std::vector<Vec3> rest_positions(const RawCharacter& character) {
  PosedMeshes meshes(character, {});
  std::vector<Vec3> rest(to_size(meshes.vertex_count()));
  meshes.positions(rest);
  return rest;
}

/// A smooth wobble in the world, slow against the clip: two waves through the body.
inline FormulaFrames::Formula world_wobble(const RawCharacter& character, double amplitude) {
  auto rest = std::make_shared<std::vector<Vec3>>(rest_positions(character));
  Vec3 low = Vec3::Constant(1e300), high = -low;
  for (const Vec3& x : *rest) low = low.cwiseMin(x), high = high.cwiseMax(x);
  const double size = std::max(1e-9, (high - low).maxCoeff());
  std::vector<double> durations;
  for (const Clip& clip : character.clips) durations.push_back(std::max(1e-3, clip.duration));
  return [=](Index clip, double time, std::size_t v) {
    const Vec3 x = ((*rest)[v] - low) / size;
    const double phase = 2 * std::numbers::pi * time / durations[to_size(clip)];
    return Vec3(amplitude * (std::sin(2 * x.y() + 1) * std::sin(phase) * Vec3(1, 0.3, 0) +
                             std::cos(3 * x.x() - x.z()) * (1 - std::cos(phase)) * Vec3(0, 0.2, 0.5)));
  };
}

/// Positions of the whole character at a time of a clip, by the rig.
inline std::vector<Vec3> rig_positions(const RawCharacter& character, const CharacterRig& rig, Index clip,
                                       double time) {
  CharacterPose pose = rig.neutral();
  rig.sample(character.clips[to_size(clip)], time, ClipWrap::hold, pose);
  std::vector<Vec3> positions = evaluate_all(*rig.rig(), pose.p);
  for (Vec3& x : positions) x = pose.placement * x;
  return positions;
}

/// The largest distance between a played character and the source with a displacement added.
inline double playback_error(const RawCharacter& source, Index clip, const RawCharacter& played, Index played_clip,
                             double time, const std::function<Vec3(std::size_t)>& displacement) {
  const CharacterRig a = CharacterRig::create(source).value(), b = CharacterRig::create(played).value();
  const std::vector<Vec3> x = rig_positions(source, a, clip, time), y = rig_positions(played, b, played_clip, time);
  if (x.size() != y.size()) {
    ADD_FAILURE() << "the played character has other vertices";
    return 1e300;
  }
  double largest = 0;
  for (std::size_t v = 0; v < x.size(); ++v) largest = std::max(largest, (x[v] + displacement(v) - y[v]).norm());
  return largest;
}

}  // namespace supple
