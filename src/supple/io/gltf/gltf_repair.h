// SPDX-License-Identifier: Apache-2.0
// Faults that files often have and that cost nothing to put right, so that what we write is correct where what we read
// was not: skins that name a root which isn't one, weights that don't sum to one, wrong or missing ranges of positions
// and of times.
#pragma once

#include "supple/io/gltf/gltf_content.h"

namespace supple {

/// The document has been checked. Each kind of repair is a warning.
void repair_document(GltfContent& content);

}  // namespace supple
