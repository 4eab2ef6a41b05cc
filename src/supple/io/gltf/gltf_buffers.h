// SPDX-License-Identifier: Apache-2.0
// All buffers of a file become one.
#pragma once

#include "supple/io/gltf/gltf_content.h"

namespace supple {

/// Reads the buffers into `content.binary` and points all views there. `chunk` is the binary part of a GLB. Views
/// compressed by meshoptimizer are decoded on the way.
void merge_buffers(GltfContent& content, std::string_view chunk);

}  // namespace supple
