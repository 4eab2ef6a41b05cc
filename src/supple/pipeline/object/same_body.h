// SPDX-License-Identifier: Apache-2.0
// Whether a model is that of a scene. A scene describes a body; `simulate --asset` runs a model in its place, which
// should have been built from that scene. One that was built before the scene was changed, or from another, would move
// as if the scene said something else.
#pragma once

#include "supple/base/result.h"
#include "supple/pipeline/object/scene_file.h"

#include <filesystem>

namespace supple {

/// Fails with a sentence that names what differs: the mesh's extent, volume or number of elements, the materials and
/// the fixed vertices that the scene gives, or its domains. What the scene doesn't say, such as materials that `build`
/// was told, isn't looked at; nor is a scene whose mesh is a model itself or isn't there.
Status check_same_body(const Scene& scene, const std::filesystem::path& model);

}  // namespace supple
