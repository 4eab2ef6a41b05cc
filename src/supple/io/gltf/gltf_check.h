// SPDX-License-Identifier: Apache-2.0
// The promises of a loaded document: every index names something, every accessor lies within the data, nodes form a
// forest, joints exist. Values (finite positions, sensible weights) are looked at when a character is read.
#pragma once

#include "supple/io/gltf/gltf_content.h"

namespace supple {

/// Joints of one skin: JOINTS_n attributes have at most 16 bits.
inline constexpr std::size_t most_joints = 65536;

void check_header(GltfContent& content);
void check_document(GltfContent& content);

/// The parent of each node, or −1; faults on cycles and on nodes with two parents.
std::vector<Index> node_parents(const GltfContent& content);

}  // namespace supple
