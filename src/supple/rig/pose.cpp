// SPDX-License-Identifier: Apache-2.0
#include "supple/rig/pose.h"

#include "supple/base/assert.h"

namespace supple {

Pose rest_pose(const Skeleton& skeleton) {
  Pose pose(skeleton.joints.size());
  for (std::size_t j = 0; j < pose.size(); ++j) pose[j] = skeleton.joints[j].rest;
  return pose;
}

Affine local_matrix(const Joint& joint, const Transform& local) {
  return joint.matrix ? *joint.matrix : local.matrix();
}

void world_matrices(const Skeleton& skeleton, std::span<const Transform> pose, std::span<Affine> world) {
  SUPPLE_ASSERT(pose.size() == skeleton.joints.size() && world.size() == pose.size());
  for (std::size_t j = 0; j < pose.size(); ++j) {
    const Joint& joint = skeleton.joints[j];
    const Affine local = local_matrix(joint, pose[j]);
    world[j] = joint.parent < 0 ? local : world[static_cast<std::size_t>(joint.parent)] * local;
  }
}

std::vector<Affine> world_matrices(const Skeleton& skeleton, std::span<const Transform> pose) {
  std::vector<Affine> world(pose.size());
  world_matrices(skeleton, pose, world);
  return world;
}

Quat rotation_of(const Affine& matrix) {
  Mat3 axes = matrix.linear();
  if (axes.determinant() < 0) axes = -axes;
  const Vec3 x = axes.col(0).stableNormalized();
  Vec3 z = x.cross(axes.col(1)).stableNormalized();
  if (x.squaredNorm() < 0.5 || z.squaredNorm() < 0.5) return Quat::Identity();  // flattened: no rotation to be found
  axes << x, z.cross(x), z;
  return Quat(axes).normalized();
}

Transform decompose(const Affine& matrix) {
  Transform result;
  result.translation = matrix.translation();
  result.rotation = rotation_of(matrix);
  const double sign = matrix.linear().determinant() < 0 ? -1.0 : 1.0;
  result.scale = sign * matrix.linear().colwise().norm().transpose();
  return result;
}

Index find_joint(const Skeleton& skeleton, std::string_view name) {
  for (std::size_t j = 0; j < skeleton.joints.size(); ++j) {
    if (skeleton.joints[j].name == name) return static_cast<Index>(j);
  }
  return -1;
}

bool is_ancestor(const Skeleton& skeleton, Index ancestor, Index joint) {
  while (joint > ancestor) joint = skeleton.joints[static_cast<std::size_t>(joint)].parent;  // parents come first
  return joint == ancestor;
}

}  // namespace supple
