// SPDX-License-Identifier: Apache-2.0
// Primitives compressed by Draco (KHR_draco_mesh_compression), decoded by Google's library.
#pragma once

#include "supple/io/gltf/gltf_content.h"

namespace supple {

/// Decodes every compressed primitive into ordinary accessors and drops the extension.
void decode_draco_primitives(GltfContent& content);

}  // namespace supple
