// SPDX-License-Identifier: Apache-2.0
// Changes to a glTF document: what baking adds to a character that came from a file.
//
//   position(t) = base + Σ_k weight_k(t) displacement_k
// Arrays are per primitive and per vertex of the file; CharacterMesh::welded_vertex leads there. glTF wants the targets
// of all primitives of a mesh, its default weights, and every channel that animates them to agree in number; these
// functions keep it so.
#pragma once

#include "supple/base/types.h"
#include "supple/io/gltf/gltf_document.h"
#include "supple/rig/clip.h"
#include "supple/rig/skeleton.h"

#include <optional>
#include <span>
#include <vector>

namespace supple {

/// For each primitive of the mesh one vector per vertex of the file; empty for a primitive that stays as it is.
struct NewMorphTarget {
  std::string name;
  std::vector<std::vector<Vec3>> displacements;
  std::vector<std::vector<Vec3>> normal_changes;  ///< likewise, or nothing at all
  std::size_t position_bytes = 2;                 ///< of a number, where small ones are wanted: 2 or 1
  bool normalized = true;                         ///< their range is one unit; otherwise the whole numbers themselves
};

/// How morph targets are stored. Small ones have only the vertices that move, positions of 16 or 8 bits and normals of
/// 8 (KHR_mesh_quantization, which the file then requires), as far as their lengths in the file's units allow. Plain
/// ones are floats; so are rounded ones, whose maker has rounded them for a file that is packed.
enum class MorphStorage { plain, rounded, small };

/// The mesh of a node for that node alone: a copy, where other nodes show the same. Gives its number.
Result<Index> own_mesh(GltfDocument& document, Index node);

/// Appends morph targets to a mesh; default weights and existing animations get zeros for them. Gives the number of the
/// first new one.
Result<Index> add_morph_targets(GltfDocument& document, Index mesh, const std::vector<NewMorphTarget>& targets,
                                MorphStorage storage = MorphStorage::plain);

/// A new animation without channels; glTF forbids leaving it so.
Index add_animation(GltfDocument& document, const std::string& name);

/// A new animation that moves the joints as a clip of another file does (read_clips); weights are left to
/// set_weight_channel. `file_node`: RawCharacter::file_node.
Result<Index> add_clip(GltfDocument& document, const Clip& clip, const Skeleton& skeleton,
                       std::span<const Index> file_node);

Index animation_count(const GltfDocument& document);

/// The normals of each primitive of a mesh as the file has them; nothing where it has none.
Result<std::vector<std::vector<Vec3>>> file_normals(const GltfDocument& document, Index mesh);

/// Animates the weights of all morph targets of a node's mesh: `values` has one per target for each key (cubic: three).
/// A channel that the animation has for them already is replaced.
Status set_weight_channel(GltfDocument& document, Index animation, Index node, const std::vector<double>& times,
                          const std::vector<double>& values, Interpolation interpolation = Interpolation::linear);
/// How many keys the animation has for the weights of a node's mesh; 0 where it doesn't move them.
Result<Index> weight_key_count(const GltfDocument& document, Index animation, Index node);

}  // namespace supple
