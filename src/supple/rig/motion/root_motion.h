// SPDX-License-Identifier: Apache-2.0
// Root motion: where a character stands in the world, taken out of its pose. A pose then means the same wherever the
// character walks, and two poses compare without their places.
//
//   world(joint) = placement · world'(joint),   placement = rigid(world(root)) · rigid(world_rest(root))⁻¹
//
// where ' is the pose without its root motion: root joint and everything above it at rest.
#pragma once

#include "supple/rig/pose.h"
#include "supple/rig/skin.h"

namespace supple {

/// The joint that carries everything the skins move: the lowest common ancestor of the given joints. -1 if there is
/// none.
Index common_ancestor(const Skeleton& skeleton, std::span<const Index> joints);

/// Gives the rotation and the translation of a matrix, without its stretch.
RigidTransform rigid_part(const Affine& matrix);

/// Takes the root's motion out of `pose` and returns it. Joints that hang above or beside the root stay where they are
/// in the world: their local transforms are changed instead. Allocates nothing.
class RootSplitter {
 public:
  RootSplitter(const Skeleton& skeleton, Index root);

  Index root() const { return root_; }
  RigidTransform split(std::span<Transform> pose) const;

 private:
  Skeleton skeleton_;
  Index root_;
  RigidTransform rest_root_inverse_;
  std::vector<Affine> rest_world_;
  std::vector<Index> above_;   ///< root's ancestors
  std::vector<Index> beside_;  ///< joints that hang on them, or on nothing, and don't carry the root
};

}  // namespace supple
