// SPDX-License-Identifier: Apache-2.0
// The surface of a character at rest, for everything that wants a mesh and no skeleton.
#pragma once

#include "supple/io/gltf/gltf_document.h"
#include "supple/io/mesh/loaded_mesh.h"
#include "supple/rig/raw_character.h"

namespace supple {

/// All meshes, skinned and morphed as the file leaves them, in the world. Parts are "mesh/material".
Result<Surface> rest_surface(const RawCharacter& character);

/// Reads the surface at rest out of a glTF file; this is what load_mesh gives for one.
Result<LoadedMesh> parse_gltf_surface(std::string_view bytes, const std::string& name, ResourceReader read);

}  // namespace supple
