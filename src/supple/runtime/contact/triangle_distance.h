// SPDX-License-Identifier: Apache-2.0
// The nearest point of a triangle. If the foot of the perpendicular on its plane lies inside, it is the foot, else it
// lies on one of the edges. Triangles without area are as good as their edges.
#pragma once

#include "supple/base/types.h"

#include <Eigen/Geometry>

#include <algorithm>

namespace supple {

inline Vec3 nearest_on_segment(const Vec3& point, const Vec3& a, const Vec3& b) {
  const Vec3 edge = b - a;
  const double squared = edge.squaredNorm();
  return squared > 0 ? Vec3(a + std::clamp((point - a).dot(edge) / squared, 0.0, 1.0) * edge) : a;
}

inline Vec3 nearest_on_triangle(const Vec3& point, const Vec3& a, const Vec3& b, const Vec3& c) {
  const Vec3 normal = (b - a).cross(c - a);
  const double squared = normal.squaredNorm();
  if (squared > 0) {
    const bool inside = normal.dot((b - a).cross(point - a)) >= 0 && normal.dot((c - b).cross(point - b)) >= 0 &&
                        normal.dot((a - c).cross(point - c)) >= 0;
    if (inside) return point - normal * (normal.dot(point - a) / squared);
  }
  Vec3 nearest = nearest_on_segment(point, a, b);
  for (const Vec3& other : {nearest_on_segment(point, b, c), nearest_on_segment(point, c, a)}) {
    if ((other - point).squaredNorm() < (nearest - point).squaredNorm()) nearest = other;
  }
  return nearest;
}

}  // namespace supple
