// SPDX-License-Identifier: Apache-2.0
// Meshes of a document in our terms: primitives joined, seams welded. For read_character.cpp.
#pragma once

#include "supple/io/gltf/gltf_content.h"
#include "supple/rig/raw_character.h"

namespace supple {

/// A triangle primitive with the vertices of the file.
struct PrimitiveData {
  std::string name;
  std::vector<Vec3> positions;
  SkinWeights weights;                           ///< sums are one, joints ascend
  std::vector<std::vector<Vec3>> displacements;  ///< per morph target
  std::vector<VertexAttribute> attributes;
  std::vector<Triangle> triangles;

  std::size_t vertex_count() const { return positions.size(); }
};

/// Counts of what had to be put right in a mesh's weights.
struct WeightFaults {
  std::size_t vertices = 0, not_one = 0, all_zero = 0, negative = 0;
};

/// Reads a primitive. Gives nothing for points and lines, and for primitives without positions.
std::optional<PrimitiveData> read_primitive(const GltfContent& content, const GltfJson& primitive,
                                            const std::string& where, WeightFaults& faults);

/// The mesh without its place in the scene: `node`, `skin` are left to the caller.
CharacterMesh read_mesh(const GltfContent& content, std::size_t mesh, std::vector<std::string>& warnings);

}  // namespace supple
