// SPDX-License-Identifier: Apache-2.0
// Pose: where the joints of a skeleton are at one moment, as local transforms, one per joint.
//
//   world(joint) = world(parent) · T R S   (skeleton.h)
#pragma once

#include "supple/rig/skeleton.h"

#include <span>
#include <string_view>

namespace supple {

using Pose = std::vector<Transform>;

/// A rotation and a translation: a place in the world, without any stretch.
struct RigidTransform {
  Vec3 translation = Vec3::Zero();
  Quat rotation = Quat::Identity();

  Vec3 operator*(const Vec3& x) const { return rotation * x + translation; }
  RigidTransform operator*(const RigidTransform& b) const { return {*this * b.translation, rotation * b.rotation}; }
  RigidTransform inverse() const { return {rotation.conjugate() * -translation, rotation.conjugate()}; }
};

Pose rest_pose(const Skeleton& skeleton);

/// The joint's own matrix in a pose; joints with a sheared matrix keep it.
Affine local_matrix(const Joint& joint, const Transform& local);

/// World matrices of all joints. `world` has one entry per joint.
void world_matrices(const Skeleton& skeleton, std::span<const Transform> pose, std::span<Affine> world);
std::vector<Affine> world_matrices(const Skeleton& skeleton, std::span<const Transform> pose);

/// Computes the world matrix of one joint.
Affine world_matrix(const Skeleton& skeleton, std::span<const Transform> pose, Index joint);

/// Turns a joint, and what hangs on it, about its own place by a rotation given in the world.
void rotate_in_world(const Skeleton& skeleton, std::span<Transform> pose, Index joint, const Quat& rotation);

/// The least rotation that turns one direction into another; some half turn where they are opposite. (A function of our
/// own because what Eigen does for opposite directions takes a compiler three seconds in every file.)
Quat rotation_between(const Vec3& from, const Vec3& to);

/// The rotation nearest to the matrix's linear part (its columns orthonormalised in order; a mirror is undone).
Quat rotation_of(const Affine& matrix);

/// Translation, rotation and the lengths of the columns: exact for matrices without shear.
Transform decompose(const Affine& matrix);

/// Gives the first joint of that name, or −1.
Index find_joint(const Skeleton& skeleton, std::string_view name);

/// Tells whether `ancestor` is `joint` itself or above it in the hierarchy.
bool is_ancestor(const Skeleton& skeleton, Index ancestor, Index joint);

}  // namespace supple
