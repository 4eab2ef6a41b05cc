// SPDX-License-Identifier: Apache-2.0
// RawCharacter from a glTF document.
//
// Every node becomes a joint, parents before children; every node of the scene with a mesh becomes a CharacterMesh. The
// vertices that the file splits along seams are welded when position, skin weights and morph displacements are equal
// bit by bit; what lies on seams of colour gets the mean. What the file has wrong and we can put right is a warning:
// weights that don't sum to one, vertices without weights, keys out of order.
#pragma once

#include "supple/io/gltf/gltf_document.h"
#include "supple/rig/raw_character.h"

namespace supple {

struct ReadCharacterOptions {
  bool require_skin = true;  ///< refuse what has no skeleton to deform with
};

Result<RawCharacter> read_character(const GltfDocument& document, const ReadCharacterOptions& options = {});

/// Clips of another file for this skeleton, matched by the names of nodes. What finds no namesake is left out; a file
/// in which nothing does is an error.
Result<std::vector<Clip>> read_clips(const GltfDocument& document, const RawCharacter& onto,
                                     std::vector<std::string>& warnings);

}  // namespace supple
