// SPDX-License-Identifier: Apache-2.0
// A character with morph targets added and animated in all of its clips, as baking does it: what players of glTF must
// add to morph targets, skins and clips that are there already. The shapes are smooth waves; nothing physical.
#pragma once

#include "supple/io/gltf/gltf_editor.h"
#include "supple/io/gltf/read_character.h"
#include "supple/mesh/bounds.h"
#include "supple/rig/motion/sample_clip.h"

#include <cmath>
#include <numbers>

namespace supple::test {

inline constexpr std::size_t wobble_targets = 3;

/// Waves along the three axes, `amplitude` of the largest extent high.
inline NewMorphTarget wave(const CharacterMesh& mesh, std::size_t target, double amplitude) {
  const Bounds bounds = bounds_of(mesh.surface.vertices);
  const double extent = bounds.size().maxCoeff();
  NewMorphTarget wave;
  wave.name = "wobble" + std::to_string(target);
  for (const std::vector<Index>& vertices : mesh.welded_vertex) {
    std::vector<Vec3> moved;
    for (const Index v : vertices) {
      const Vec3 x = (mesh.surface.vertices[to_size(v)] - bounds.min) / extent;
      const double phase = 2 * std::numbers::pi * x[static_cast<Eigen::Index>(target)];
      moved.emplace_back(amplitude * extent * Vec3(std::sin(phase), std::cos(2 * phase), std::sin(3 * phase + 1)));
    }
    wave.displacements.push_back(std::move(moved));
  }
  return wave;
}

/// Weights of all targets at 30 keys a second: what the clip had, then the new ones.
inline Status animate(GltfDocument& document, Index animation, const Clip& clip, const CharacterMesh& mesh, Index node,
                      const std::vector<double>& old_default) {
  const int keys = static_cast<int>(std::ceil(30 * clip.duration)) + 1;  // one for a pose held
  std::vector<double> times, values;
  for (int k = 0; k < keys; ++k) {
    times.push_back(clip.duration * k / std::max(1, keys - 1));
    std::vector<double> old = old_default;
    sample_weights(clip, times.back(), ClipWrap::hold, mesh.node, old);
    values.insert(values.end(), old.begin(), old.end());
    for (std::size_t t = 0; t < wobble_targets; ++t)
      values.push_back(0.5 +
                       0.5 * std::sin(5.0 * times.back() * (1.0 + static_cast<double>(t)) + static_cast<double>(t)));
  }
  return set_weight_channel(document, animation, node, times, values);
}

/// Changes the document; `character` was read from it.
inline Status add_wobble(GltfDocument& document, const RawCharacter& character, double amplitude = 0.01) {
  for (const CharacterMesh& mesh : character.meshes) {
    if (mesh.skin < 0) continue;
    const Index node = character.file_node[to_size(mesh.node)];
    const Result<Index> own = own_mesh(document, node);
    SUPPLE_RETURN_IF_ERROR(own);
    std::vector<NewMorphTarget> targets;
    for (std::size_t t = 0; t < wobble_targets; ++t) targets.push_back(wave(mesh, t, amplitude));
    const Result<Index> added = add_morph_targets(document, *own, targets);
    SUPPLE_RETURN_IF_ERROR(added);
    for (std::size_t c = 0; c < character.clips.size(); ++c)
      SUPPLE_RETURN_IF_ERROR(
          animate(document, static_cast<Index>(c), character.clips[c], mesh, node, mesh.default_target_weights));
  }
  return {};
}

/// The same from file to file.
inline Status write_wobble(const std::filesystem::path& from, const std::filesystem::path& to) {
  Result<GltfDocument> document = load_gltf(from);
  SUPPLE_RETURN_IF_ERROR(document);
  const Result<RawCharacter> character = read_character(*document);
  SUPPLE_RETURN_IF_ERROR(character);
  SUPPLE_RETURN_IF_ERROR(add_wobble(*document, *character));
  return save_gltf(*document, to);
}

}  // namespace supple::test
