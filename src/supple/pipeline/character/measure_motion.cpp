// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/measure_motion.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace supple {
namespace {

/// The part that each vertex of the rig belongs to, and how many vertices of the file it stands for.
struct SkinParts {
  std::vector<std::string> names;
  std::vector<std::size_t> part;
  std::vector<double> copies;
};

std::string strongest_joint(const RawCharacter& character, const CharacterMesh& mesh, std::size_t v) {
  if (mesh.skin < 0 || mesh.weights.first.size() <= v + 1) return mesh.name;
  const Skin& skin = character.skins[to_size(mesh.skin)];
  double most = -1;
  Index joint = -1;
  for (Index k = mesh.weights.first[v]; k < mesh.weights.first[v + 1]; ++k) {
    if (mesh.weights.weight[to_size(k)] <= most) continue;
    most = mesh.weights.weight[to_size(k)];
    joint = skin.joints[to_size(mesh.weights.joint[to_size(k)])];
  }
  return joint < 0 ? mesh.name : character.skeleton.joints[to_size(joint)].name;
}

SkinParts parts_of(const RawCharacter& character) {
  SkinParts parts;
  std::map<std::string, std::size_t> known;
  for (const CharacterMesh& mesh : character.meshes) {
    const std::size_t first = parts.copies.size(), count = mesh.surface.vertices.size();
    parts.copies.resize(first + count, 0.0);
    for (const std::vector<Index>& primitive : mesh.welded_vertex)
      for (const Index v : primitive) parts.copies[first + to_size(v)] += 1;
    for (std::size_t v = 0; v < count; ++v) {
      const auto [place, is_new] = known.try_emplace(strongest_joint(character, mesh, v), parts.names.size());
      if (is_new) parts.names.push_back(place->first);
      parts.part.push_back(place->second);
    }
  }
  return parts;
}

}  // namespace

MotionMeasure measure_motion(const RawCharacter& character, const FramedClip& clip) {
  return measure_motion(character, clip.times,
                        [&](std::size_t f, std::span<Vec3> moved) { clip.run->in_world(clip.times[f], moved); });
}

MotionMeasure measure_motion(const RawCharacter& character, std::span<const double> times,
                             const std::function<void(std::size_t, std::span<Vec3>)>& displace) {
  const SkinParts skin = parts_of(character);
  MotionMeasure result;
  std::vector<Vec3> moved(skin.part.size());
  std::vector<double> squares(skin.names.size(), 0.0), counts = squares, peaks = squares;
  for (std::size_t f = 0; f < times.size(); ++f) {
    displace(f, moved);
    for (std::size_t v = 0; v < moved.size(); ++v) {
      const double length = moved[v].norm();
      const std::size_t part = skin.part[v];
      squares[part] += skin.copies[v] * length * length;
      counts[part] += skin.copies[v];
      peaks[part] = std::max(peaks[part], length);
      if (length <= result.peak) continue;
      result.peak = length;
      result.peak_time = times[f];
      result.peak_part = skin.names[part];
    }
  }
  double all_squares = 0, all = 0;
  for (std::size_t k = 0; k < squares.size(); ++k) {
    all_squares += squares[k];
    all += counts[k];
  }
  result.rms = std::sqrt(all_squares / std::max(1.0, all));
  for (std::size_t k = 0; k < squares.size(); ++k)
    if (counts[k] > 0)
      result.parts.push_back({skin.names[k], std::sqrt(squares[k] / counts[k]), peaks[k], counts[k] / all});
  std::stable_sort(result.parts.begin(), result.parts.end(),
                   [](const MovingPart& a, const MovingPart& b) { return a.rms > b.rms; });
  return result;
}

}  // namespace supple
