// SPDX-License-Identifier: Apache-2.0
// Clips written as animations of a document. For the sources of this folder.
#pragma once

#include "supple/io/gltf/gltf_content.h"
#include "supple/rig/clip.h"

#include <span>

namespace supple {

/// Gives the word that glTF has for it, such as "LINEAR".
const char* interpolation_name(Interpolation interpolation);

/// Appends the clip's channels to an animation. `node_of_joint`: the nodes of the joints; empty where they have the
/// same numbers.
void append_channels(GltfContent& content, GltfJson& animation, std::span<const Channel> channels,
                     std::span<const Index> node_of_joint);

}  // namespace supple
