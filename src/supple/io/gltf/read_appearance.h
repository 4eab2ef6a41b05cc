// SPDX-License-Identifier: Apache-2.0
// How a character of a glTF file looks, for those who draw it: triangles, normals, texture coordinates and colours of
// the file's own vertices, which lie split along the seams that RawCharacter welds, and the base colours of materials.
//
//   colour = factor · texture(texcoord) · vertex colour        (glTF 2.0, section 3.9.2), all in linear light
// Roughness, metal, normal maps and extensions of materials are left to programs that draw for a living.
#pragma once

#include "supple/io/gltf/gltf_document.h"
#include "supple/io/image/color.h"
#include "supple/rig/raw_character.h"

#include <optional>

namespace supple {

struct MaterialAppearance {
  Color factor = Color::Ones();      ///< linear
  std::optional<std::size_t> image;  ///< of Appearance::images
  double alpha_cutoff = 0;           ///< what is more transparent than this is not drawn
};

/// Arrays are per vertex of the file, or empty where it has none.
struct PrimitiveAppearance {
  std::vector<Triangle> triangles;
  std::vector<Vec3> normals;  ///< before skinning and morphing
  std::vector<Eigen::Vector2f> texcoords;
  std::vector<Color> colors;  ///< linear
  MaterialAppearance material;
};

struct Appearance {
  /// For each mesh of the character and each primitive of the file; empty for points and lines. A file vertex is found
  /// in the rig by CharacterMesh::welded_vertex.
  std::vector<std::vector<PrimitiveAppearance>> meshes;
  std::vector<std::string> images;  ///< PNG or JPEG files; empty where one can't be read
};

/// `character` was read from the same document.
Result<Appearance> read_appearance(const GltfDocument& document, const RawCharacter& character);

}  // namespace supple
