// SPDX-License-Identifier: Apache-2.0
// Integrals of a ball's depth over the part of a triangle that lies inside it, by line integrals along its edges.
//
// With s = |x − c| the distance of a surface point from the ball's centre, the depth is d = max(0, R − s). Wanted are
//   power   W = ∫ d⁴ dA          pressure   P = ∫ d³/s dA          first moment   M = ∫ (x − o) d³/s dA
// over the triangle, o being the foot of c on its plane, at distance h. In the plane, with ρ = |x − o|, s² = h² + ρ²:
//
//   W and P are integrals of radial functions g(ρ), so ∫ g dA = Σ_edges ∮ G(ρ) dφ, G(ρ) = ∫₀^ρ g ρ dρ. Along an edge at
//   signed distance e from o, dφ = e dt/ρ². Since ρ dρ = s ds, with δ = R − h the depth at the foot,
//     d⁴:    G = R (δ⁵ − d⁵)/5 − (δ⁶ − d⁶)/6
//     d³/s:  G = (δ⁴ − d⁴)/4
//   Beyond the circle of the ball (d = 0) G is constant, G_far, and what remains is the angle the edge is seen under.
//   Near the foot G has the factor δ − d = s − h = ρ²/(s + h), which takes away the 1/ρ². Far from the foot G − G_far
//   is integrated instead, which has only powers of d: no large numbers cancel, however deep the plane cuts the ball.
//
//   M is a gradient, ∇(−d⁴/4) = (x − o) d³/s, so M = −¼ ∮ d⁴ ν dt with ν the outward normal of the edge.
//
// What two coplanar neighbours have on their common edge cancels: no matter how a face is cut into triangles, the sums
// are the same. The parts along the edges inside the ball are integrated by Gauss's rule with six points, exact for
// shallow contact, where d is a parabola along the edge and d⁴ of degree eight.
#pragma once

#include "supple/base/types.h"

#include <array>

namespace supple {

struct PatchIntegrals {
  double power = 0.0;          ///< W [m⁶]
  double pressure = 0.0;       ///< P [m⁴]
  Vec3 foot = Vec3::Zero();    ///< o [m]
  Vec3 moment = Vec3::Zero();  ///< M [m⁵]

  /// Gives the point of the triangle at which the pressure acts as a whole.
  Vec3 pressure_center() const { return foot + moment / pressure; }
};

/// Zero for triangles outside the ball and for those without area.
PatchIntegrals integrate_patch(const std::array<Vec3, 3>& triangle, const Vec3& center, double radius);

}  // namespace supple
