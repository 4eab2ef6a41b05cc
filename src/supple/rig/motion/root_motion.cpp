// SPDX-License-Identifier: Apache-2.0
#include "supple/rig/motion/root_motion.h"

#include <algorithm>

namespace supple {

Index common_ancestor(const Skeleton& skeleton, std::span<const Index> joints) {
  if (joints.empty()) return -1;
  Index common = joints[0];
  for (const Index joint : joints) {
    while (common >= 0 && !is_ancestor(skeleton, common, joint)) common = skeleton.joints[to_size(common)].parent;
  }
  return common;
}

RigidTransform rigid_part(const Affine& matrix) { return {matrix.translation(), rotation_of(matrix)}; }

RootSplitter::RootSplitter(const Skeleton& skeleton, Index root)
    : skeleton_(skeleton), root_(root), rest_world_(world_matrices(skeleton, rest_pose(skeleton))) {
  if (root_ < 0) return;
  rest_root_inverse_ = rigid_part(rest_world_[to_size(root)]).inverse();
  const auto joint = [&](Index j) -> const Joint& { return skeleton_.joints[to_size(j)]; };
  for (Index j = joint(root).parent; j >= 0; j = joint(j).parent) above_.push_back(j);
  for (Index j = 0; j < skeleton_.size(); ++j) {
    if (is_ancestor(skeleton_, j, root) || joint(j).matrix) continue;
    if (joint(j).parent < 0 || (joint(j).parent != root && is_ancestor(skeleton_, joint(j).parent, root)))
      beside_.push_back(j);
  }
}

RigidTransform RootSplitter::split(std::span<Transform> pose) const {
  if (root_ < 0) return {};
  const RigidTransform placement = rigid_part(world_matrix(skeleton_, pose, root_)) * rest_root_inverse_;
  const RigidTransform back = placement.inverse();
  Affine unplaced = Affine::Identity();
  unplaced.linear() = back.rotation.toRotationMatrix();
  unplaced.translation() = back.translation;
  for (const Index j : beside_) {
    const auto k = to_size(j);
    const Index parent = skeleton_.joints[k].parent;
    Affine world = unplaced * world_matrix(skeleton_, pose, j);
    if (parent >= 0) world = rest_world_[to_size(parent)].inverse() * world;
    pose[k] = decompose(world);
  }
  for (const Index j : above_) pose[to_size(j)] = skeleton_.joints[to_size(j)].rest;
  const Transform& rest = skeleton_.joints[to_size(root_)].rest;
  Transform& local = pose[to_size(root_)];
  local.translation = rest.translation;
  local.rotation = rest.rotation;
  return placement;
}

}  // namespace supple
