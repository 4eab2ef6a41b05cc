// SPDX-License-Identifier: Apache-2.0
// How a baked file is known again. Soft motion on top of soft motion is no motion that anybody simulated, so a file
// that has some already is recognised: by a note in its glTF `asset.extras`, or, where another program has written the
// file since, by the names of its soft morph targets and helper bones.
#pragma once

#include "supple/io/gltf/gltf_document.h"
#include "supple/rig/raw_character.h"

namespace supple {

void mark_as_baked(GltfDocument& document);
bool is_baked(const GltfDocument& document);
/// Stills the soft morph targets and helper bones of a baked character: what is left is the one that was baked. False
/// where there are none.
bool leave_out_soft_motion(RawCharacter& character);
/// Whether soft motion is in helper bones. They have taken the place of joints in the skin's weights, so that the
/// character that was baked can't be had from such a file.
bool has_helper_bones(const RawCharacter& character);
/// Looks into a .glb or .gltf file; false for anything that can't be read as one.
bool is_baked_file(const std::filesystem::path& path);

}  // namespace supple
