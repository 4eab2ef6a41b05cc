// SPDX-License-Identifier: Apache-2.0
// A RawCharacter as a new glTF document: what characters made by code are saved with. One that came from a file is
// better edited (gltf_editor.h), which keeps what isn't ours.
//
// Each joint becomes the node of the same number, each mesh one primitive with smooth normals, skin weights in sets of
// four, the attribute COLOR_0 (linear) as its colours, and its morph targets with their names. Example poses go into
// the extras of the first mesh:
//   "poses": [{"name": "bent", "corrected": true, "rotations": {"elbow": [x, y, z, w]}}, …]
#pragma once

#include "supple/io/gltf/glb.h"
#include "supple/io/gltf/gltf_document.h"
#include "supple/rig/example_pose.h"
#include "supple/rig/raw_character.h"

#include <span>

namespace supple {

/// What a character's file holds besides the character.
struct CharacterLook {
  std::vector<GlbMaterial> materials;  ///< of each mesh; the last serves for those that follow
  std::vector<ExamplePose> poses;
};

/// Error where sizes don't fit together or numbers aren't finite.
Result<GltfDocument> character_document(const RawCharacter& character, const CharacterLook& look = {});

/// Writes the character into a file, .glb or .gltf.
Status write_character(const std::filesystem::path& path, const RawCharacter& character,
                       const CharacterLook& look = {});

}  // namespace supple
