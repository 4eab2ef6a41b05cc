// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/fitting/own_axes.h"

namespace supple {

Quat own_axes(const CharacterRig& rig) {
  if (rig.root() < 0) return Quat::Identity();
  return rigid_part(world_matrix(rig.skeleton(), rest_pose(rig.skeleton()), rig.root())).rotation.normalized();
}

Bounds bounds_along(const Quat& axes, std::span<const Vec3> points) {
  Bounds bounds;
  for (const Vec3& x : points) bounds.add(axes.conjugate() * x);
  return bounds;
}

double extent_along(const Quat& axes, std::span<const Vec3> points) {
  return bounds_along(axes, points).size().maxCoeff();
}

RigidTransform own_frame(const Quat& axes, std::span<const Vec3> points) {
  return {axes * bounds_along(axes, points).center(), axes};
}

}  // namespace supple
