// SPDX-License-Identifier: Apache-2.0
// Does a triangle touch a box? By separating axes: two convex bodies are apart when their shadows on some axis are, and
// for a triangle and a box thirteen axes suffice: the box's three normals, the triangle's, and the nine products of
// their edges. Triangles without area are segments or points; their vanishing axes separate nothing, and the rest
// suffice.
#pragma once

#include "supple/base/types.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <array>

namespace supple {

/// Tests one triangle against many boxes. `slack` is the distance, along any axis, that still counts as touching.
class TriangleBoxTest {
 public:
  TriangleBoxTest(const std::array<Vec3, 3>& corners, double slack) {
    std::size_t n = 0;
    for (int a = 0; a < 3; ++a) set_axis(n++, Vec3::Unit(a), corners, slack);
    const std::array<Vec3, 3> edges = {corners[1] - corners[0], corners[2] - corners[1], corners[0] - corners[2]};
    set_axis(n++, edges[0].cross(edges[1]), corners, slack);
    for (const Vec3& edge : edges) {
      for (int a = 0; a < 3; ++a) set_axis(n++, edge.cross(Vec3::Unit(a)), corners, slack);
    }
  }

  bool touches(const Vec3& center, const Vec3& half_size) const {
    return std::all_of(axes_.begin(), axes_.end(), [&](const Axis& axis) {
      const double at = axis.direction.dot(center);
      const double reach = axis.size.dot(half_size);
      return at + reach >= axis.min && at - reach <= axis.max;
    });
  }

 private:
  struct Axis {
    Vec3 direction, size;  // size: absolute values of direction
    double min, max;       // the triangle's shadow, widened by the slack
  };

  void set_axis(std::size_t n, const Vec3& direction, const std::array<Vec3, 3>& corners, double slack) {
    Axis& axis = axes_[n];
    axis.direction = direction;
    axis.size = direction.cwiseAbs();
    const std::array<double, 3> at = {direction.dot(corners[0]), direction.dot(corners[1]), direction.dot(corners[2])};
    // Rounding in the products grows with the coordinates; the slack covers it for axes of any length.
    const double widening = slack * std::max(direction.norm(), 1e-9);
    axis.min = *std::min_element(at.begin(), at.end()) - widening;
    axis.max = *std::max_element(at.begin(), at.end()) + widening;
  }

  std::array<Axis, 13> axes_;
};

}  // namespace supple
