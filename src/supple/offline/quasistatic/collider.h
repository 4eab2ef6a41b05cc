// SPDX-License-Identifier: Apache-2.0
// Things that flesh may not enter, as level sets (2014 paper, section 3): how far a point is outside, and which way is
// out, both in closed form.
#pragma once

#include "supple/base/types.h"

namespace supple {

struct Collider {
  enum class Shape { plane, sphere, box, capsule };
  Shape shape = Shape::plane;
  Vec3 at = Vec3::Zero();       ///< a point of the plane, a centre, or one end of a capsule [m]
  Vec3 to = Vec3::Zero();       ///< the other end of a capsule [m]
  Vec3 normal = Vec3::UnitY();  ///< of a plane: out
  Vec3 size = Vec3::Ones();     ///< edges of a box along the axes [m]
  double radius = 1;            ///< of a sphere or capsule [m]
  bool operator==(const Collider&) const = default;

  /// How far x is outside [m], negative inside; `out` becomes the unit vector that leads away from the collider.
  double distance(const Vec3& x, Vec3& out) const;
};

}  // namespace supple
