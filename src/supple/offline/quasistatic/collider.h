// SPDX-License-Identifier: Apache-2.0
// Things that flesh may not enter, as level sets (2014 paper, section 3): how far a point is outside, and which way is
// out, in closed form or by the triangles of a closed mesh.
#pragma once

#include "supple/base/types.h"

#include <limits>
#include <memory>
#include <string>

namespace supple {

class MeshDistance;

struct Collider {
  enum class Shape { plane, sphere, box, capsule, mesh };
  Shape shape = Shape::plane;
  Vec3 at = Vec3::Zero();       ///< a point of the plane, a centre, or one end of a capsule [m]
  Vec3 to = Vec3::Zero();       ///< the other end of a capsule [m]
  Vec3 normal = Vec3::UnitY();  ///< of a plane: out
  Vec3 size = Vec3::Ones();     ///< edges of a box along the axes [m]
  double radius = 1;            ///< of a sphere or capsule [m]
  std::string mesh = {};        ///< file of a mesh, whose origin is put at `at`
  double scale = 1;             ///< metres per unit of that file
  double friction = 0;          ///< Coulomb's coefficient
  std::string joint = {};       ///< that carries it from where it is while the skeleton rests; empty: it stands still
  std::shared_ptr<const MeshDistance> level = {};  ///< of a mesh that was read
  bool operator==(const Collider&) const = default;

  /// How far x is outside [m], negative inside; `out` becomes the unit vector that leads away from the collider. Of a
  /// mesh that has been read: what is outside by more than `reach` may be as far as infinity.
  double distance(const Vec3& x, Vec3& out, double reach = std::numeric_limits<double>::infinity()) const;
};

}  // namespace supple
