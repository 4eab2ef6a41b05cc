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
    world[j] = joint.parent < 0 ? local : world[to_size(joint.parent)] * local;
  }
}

std::vector<Affine> world_matrices(const Skeleton& skeleton, std::span<const Transform> pose) {
  std::vector<Affine> world(pose.size());
  world_matrices(skeleton, pose, world);
  return world;
}

Affine world_matrix(const Skeleton& skeleton, std::span<const Transform> pose, Index joint) {
  Affine world = Affine::Identity();
  for (Index j = joint; j >= 0; j = skeleton.joints[to_size(j)].parent) {
    const auto k = to_size(j);
    world = local_matrix(skeleton.joints[k], pose[k]) * world;
  }
  return world;
}

void rotate_in_world(const Skeleton& skeleton, std::span<Transform> pose, Index joint, const Quat& rotation) {
  const auto k = to_size(joint);
  const Quat parent = rotation_of(world_matrix(skeleton, pose, skeleton.joints[k].parent));
  pose[k].rotation = (parent.conjugate() * rotation * parent * pose[k].rotation).normalized();
}

Quat rotation_between(const Vec3& from, const Vec3& to) { return Quat::FromTwoVectors(from, to); }

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
  while (joint > ancestor) joint = skeleton.joints[to_size(joint)].parent;  // parents come first
  return joint == ancestor;
}

}  // namespace supple
