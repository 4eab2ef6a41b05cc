// SPDX-License-Identifier: Apache-2.0
// Nodes, skins and clips of a document in our terms. For read_character.cpp.
#pragma once

#include "supple/io/gltf/gltf_content.h"
#include "supple/rig/raw_character.h"

namespace supple {

struct NodeOrder {
  std::vector<Index> node_of_joint;
  std::vector<Index> joint_of_node;
};

/// The order of the file, except that parents come first.
NodeOrder order_nodes(const std::vector<Index>& parents);
Skeleton read_skeleton(const GltfContent& content, const NodeOrder& order, const std::vector<Index>& parents,
                       std::vector<std::string>& warnings);
std::vector<Skin> read_skins(const GltfContent& content, const NodeOrder& order);

/// The nodes of the scene that viewers show first; all of them where there is no scene.
std::vector<bool> nodes_in_scene(const GltfContent& content, const std::vector<Index>& parents);

/// Which joint a node's channels move, or −1 to leave them out.
using JointOfNode = std::function<Index(std::size_t node)>;
/// A function that tells how many morph targets the meshes of a joint have.
using TargetsOfJoint = std::function<std::size_t(Index joint)>;
std::vector<Clip> read_animations(const GltfContent& content, const Skeleton& skeleton, const JointOfNode& joint_of,
                                  const TargetsOfJoint& targets_of, std::vector<std::string>& warnings);

}  // namespace supple
