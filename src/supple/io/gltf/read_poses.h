// SPDX-License-Identifier: Apache-2.0
// Example poses from the extras of a file's meshes, as write_character.h writes them and any exporter can:
//   "poses": [{"name": "bent", "corrected": true, "rotations": {"elbow": [x, y, z, w]}}, …]
#pragma once

#include "supple/io/gltf/gltf_document.h"
#include "supple/rig/example_pose.h"
#include "supple/rig/raw_character.h"

namespace supple {

/// Poses of all meshes in the order of the file; none is no fault. Fails on a pose without name, one of a joint that
/// doesn't exist, and a rotation that is none.
Result<std::vector<ExamplePose>> read_poses(const GltfDocument& document, const RawCharacter& character);

}  // namespace supple
