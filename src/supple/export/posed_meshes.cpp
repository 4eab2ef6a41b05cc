// SPDX-License-Identifier: Apache-2.0
#include "supple/export/posed_meshes.h"

#include "supple/base/assert.h"
#include "supple/base/parallel.h"
#include "supple/rig/motion/sample_clip.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace supple {
namespace {

std::vector<Index> all_or(std::span<const Index> chosen, std::size_t count) {
  if (!chosen.empty()) return {chosen.begin(), chosen.end()};
  std::vector<Index> all(count);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

Status check_clip(const RawCharacter& character, const SoftClip& clip) {
  if (clip.clip < 0 || clip.clip >= static_cast<Index>(character.clips.size()))
    return usage_error(fmt::format("{} has no clip {}; it has {}.", character.name, clip.clip, character.clips.size()));
  if (clip.written_every < 1)
    return usage_error(fmt::format("Of the frames of a clip every first, second or so is written, not every {}th.",
                                   clip.written_every));
  const auto bad = [](double a, double b) { return !(a < b); };
  const std::vector<double>& times = clip.times;
  if (times.empty() || !(times.front() >= 0) || !std::isfinite(times.back()) ||
      std::adjacent_find(times.begin(), times.end(), bad) != times.end())
    return usage_error(fmt::format("The frames of the clip '{}' of {} must have ascending times from zero.",
                                   character.clips[to_size(clip.clip)].name, character.name));
  return {};
}

}  // namespace

Status check_motion(const SoftMotion& motion) {
  if (motion.character == nullptr || motion.frames == nullptr)
    return usage_error("A soft motion needs a character and frames.");
  const RawCharacter& character = *motion.character;
  for (const Index mesh : motion.meshes)
    if (mesh < 0 || mesh >= static_cast<Index>(character.meshes.size()))
      return usage_error(fmt::format("{} has no mesh {}; it has {}.", character.name, mesh, character.meshes.size()));
  std::size_t frames = 0;
  std::vector<Index> seen;
  for (const SoftClip& clip : motion.clips) {
    SUPPLE_RETURN_IF_ERROR(check_clip(character, clip));
    if (std::find(seen.begin(), seen.end(), clip.clip) != seen.end())
      return usage_error(fmt::format("The clip {} of {} was baked twice; bake it once.", clip.clip, character.name));
    seen.push_back(clip.clip);
    frames += clip.times.size();
  }
  if (frames != to_size(motion.frames->frame_count()))
    return usage_error(fmt::format("The clips of {} have {} frames together, but {} were baked.", character.name,
                                   frames, motion.frames->frame_count()));
  return {};
}

PosedMeshes::PosedMeshes(const RawCharacter& character, std::span<const Index> meshes)
    : character_(character),
      meshes_(all_or(meshes, character.meshes.size())),
      world_(character.skeleton.joints.size()) {
  Index vertices = 0;
  for (std::size_t m = 0; m < meshes_.size(); ++m) {
    first_vertex_.push_back(vertices);
    vertices += static_cast<Index>(mesh(m).surface.vertices.size());
    morph_weights_.push_back(mesh(m).default_target_weights);
    morph_weights_.back().resize(mesh(m).targets.size(), 0.0);
  }
  first_vertex_.push_back(vertices);
  matrices_.resize(to_size(vertices));
  pose_at_rest();
}

const CharacterMesh& PosedMeshes::mesh(std::size_t m) const { return character_.meshes[to_size(meshes_[m])]; }

void PosedMeshes::read_weights(const Clip* clip, double time) {
  for (std::size_t m = 0; m < meshes_.size(); ++m) {
    const std::vector<double>& rest = mesh(m).default_target_weights;
    std::copy_n(rest.begin(), std::min(rest.size(), morph_weights_[m].size()), morph_weights_[m].begin());
    if (clip != nullptr) sample_weights(*clip, time, ClipWrap::hold, mesh(m).node, morph_weights_[m]);
  }
}

void PosedMeshes::pose_at_rest() {
  locals_ = rest_pose(character_.skeleton);
  read_weights(nullptr, 0);
  blend();
}

void PosedMeshes::pose(const Clip& clip, double time) {
  for (std::size_t j = 0; j < locals_.size(); ++j) locals_[j] = character_.skeleton.joints[j].rest;
  sample_clip(clip, time, ClipWrap::hold, locals_);
  read_weights(&clip, time);
  blend();
}

void PosedMeshes::blend() {
  world_matrices(character_.skeleton, locals_, world_);
  for (std::size_t m = 0; m < meshes_.size(); ++m) {
    const auto first = to_size(first_vertex_[m]);
    const std::size_t count = mesh(m).surface.vertices.size();
    if (mesh(m).skin < 0) {
      std::fill_n(matrices_.begin() + static_cast<std::ptrdiff_t>(first), count, world_[to_size(mesh(m).node)]);
      continue;
    }
    const Skin& skin = character_.skins[to_size(mesh(m).skin)];
    bones_.resize(skin.joints.size());
    for (std::size_t k = 0; k < bones_.size(); ++k) bones_[k] = world_[to_size(skin.joints[k])] * skin.inverse_bind[k];
    const SkinWeights& weights = mesh(m).weights;
    parallel_for(static_cast<std::int64_t>(count), 4096, [&](std::int64_t v) {
      auto& blended = matrices_[first + to_size(v)].matrix();
      blended.setZero();
      const auto at = to_size(v);
      for (auto e = to_size(weights.first[at]); e < to_size(weights.first[at + 1]); ++e)
        blended += weights.weight[e] * bones_[to_size(weights.joint[e])].matrix();
    });
  }
}

void PosedMeshes::positions(std::span<Vec3> out) const {
  SUPPLE_ASSERT(out.size() == matrices_.size());
  for (std::size_t m = 0; m < meshes_.size(); ++m) {
    const CharacterMesh& source = mesh(m);
    const auto first = to_size(first_vertex_[m]);
    for (std::size_t v = 0; v < source.surface.vertices.size(); ++v) {
      Vec3 x = source.surface.vertices[v];
      for (std::size_t t = 0; t < source.targets.size(); ++t)
        if (morph_weights_[m][t] != 0) x += morph_weights_[m][t] * source.targets[t].displacements[v];
      out[first + v] = matrices_[first + v] * x;
    }
  }
}

SoftPlayer::SoftPlayer(const SoftMotion& motion) : motion_(motion), meshes_(*motion.character, motion.meshes) {
  for (std::size_t c = 0; c < motion_.clips.size(); ++c) {
    first_frame_.push_back(frame_count());
    clip_of_.insert(clip_of_.end(), motion_.clips[c].times.size(), static_cast<Index>(c));
  }
  first_frame_.push_back(frame_count());
  displacement_.resize(to_size(meshes_.vertex_count()));
}

void SoftPlayer::pose(Index frame) {
  const Index c = clip_of(frame);
  const SoftClip& clip = motion_.clips[to_size(c)];
  meshes_.pose(motion_.character->clips[to_size(clip.clip)], clip.times[to_size(frame - first_frame(c))]);
}

std::span<const Vec3> SoftPlayer::play(Index frame) {
  pose(frame);
  motion_.frames->frame(frame, displacement_);
  return displacement_;
}

double character_height(PosedMeshes& meshes) {
  meshes.pose_at_rest();
  std::vector<Vec3> positions(to_size(meshes.vertex_count()));
  meshes.positions(positions);
  Vec3 low = Vec3::Zero(), high = Vec3::Zero();
  if (!positions.empty()) low = high = positions.front();
  for (const Vec3& x : positions) low = low.cwiseMin(x), high = high.cwiseMax(x);
  const Vec3 extent = high - low;
  return std::max(extent.y(), extent.maxCoeff() / 3);
}

}  // namespace supple
