// SPDX-License-Identifier: Apache-2.0
// Joints added to a document, to a skin that it has or to a new one, with the weights and the motion they bring: what
// helper bones and the parts of plants need.
#pragma once

#include "supple/base/types.h"
#include "supple/io/gltf/gltf_document.h"
#include "supple/rig/clip.h"
#include "supple/rig/skin.h"

#include <span>

namespace supple {

struct NewJoint {
  std::string name;
  Index parent_node = 0;
  Vec3 translation = Vec3::Zero();  ///< within the parent, at rest
  Affine inverse_bind = Affine::Identity();
};

/// Where new joints went: they are consecutive in the skin's list and among the nodes.
struct AddedJoints {
  Index first_joint = 0, first_node = 0;
};
Result<AddedJoints> add_skin_joints(GltfDocument& document, Index skin, std::span<const NewJoint> joints);

/// Replaces the joints and weights of a mesh, in sets of four. `weights` counts the joints of the skin; its vertices
/// are reached through `vertex` of each primitive (CharacterMesh::welded_vertex).
Status set_skin_weights(GltfDocument& document, Index mesh, const SkinWeights& weights,
                        std::span<const std::vector<Index>> vertex);

/// A node of its own, without rotation or scale: a joint to be. `parent`: a node, or −1 for the scene.
Result<Index> add_node(GltfDocument& document, const std::string& name, Index parent, const Vec3& translation);

/// Hangs the mesh of a node on another one, in a new node with this matrix; the old node stays, without a mesh. Gives
/// the number of the new one.
Result<Index> move_mesh(GltfDocument& document, Index node, Index parent, const Affine& local);

/// Gives the mesh of a node a skin of these nodes; set_skin_weights() says what hangs on which.
Status add_skin(GltfDocument& document, Index node, std::span<const Index> joints,
                std::span<const Affine> inverse_bind);

/// Adds channels to an animation; Channel::joint is the number of the node.
Status add_channels(GltfDocument& document, Index animation, std::span<const Channel> channels);

}  // namespace supple
