// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/contact/patch_integrals.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

// Gauss-Legendre with five points on [−1, 1].
constexpr std::array<double, 5> gauss_points = {-0.906179845938663993, -0.538469310105683091, 0.0, 0.538469310105683091,
                                                0.906179845938663993};
constexpr std::array<double, 5> gauss_weights = {0.236926885056189088, 0.478628670499366468, 0.568888888888888889,
                                                 0.478628670499366468, 0.236926885056189088};

/// What all edges of a triangle share.
struct Disc {
  double R, h, delta;
  double squared_radius;           ///< of the circle that the ball cuts out of the plane
  double far_power, far_pressure;  ///< G outside that circle

  Disc(double radius, double height)
      : R(radius), h(height), delta(radius - height), squared_radius(radius * radius - height * height) {
    const double d2 = delta * delta, d4 = d2 * d2;
    far_power = d4 * delta * (R / 5 - delta / 6);
    far_pressure = d4 / 4;
  }
};

struct EdgeIntegrals {
  double power = 0.0, pressure = 0.0;
  double fourth = 0.0;  ///< ∫ d⁴ dt
};

/// The part of an edge inside the circle: positions t from `begin` to `end`, counted from the foot's projection on it.
void add_inside(const Disc& disc, double e, double begin, double end, EdgeIntegrals& sum) {
  const double half = 0.5 * (end - begin), middle = 0.5 * (end + begin);
  const double b = disc.delta;
  for (std::size_t k = 0; k < gauss_points.size(); ++k) {
    const double t = middle + half * gauss_points[k], weight = half * gauss_weights[k];
    const double s = std::sqrt(disc.h * disc.h + e * e + t * t);
    const double a = std::max(0.0, disc.R - s);
    // (δⁿ − dⁿ)/(δ − d) = Σ δⁱ dⁿ⁻¹⁻ⁱ, by Horner's scheme with the powers of d kept
    const double a2 = a * a, b2 = b * b;
    const double three = (b + a) * (b2 + a2);                        // n = 4
    const double four = three * b + a2 * a2;                         // n = 5
    const double five = four * b + a2 * a2 * a;                      // n = 6
    const double angle = weight * e / std::max(s + disc.h, 1e-300);  // e dt/ρ² · (δ − d)
    sum.power += angle * (disc.R * four / 5 - five / 6);
    sum.pressure += angle * three / 4;
    sum.fourth += weight * a2 * a2;
  }
}

/// The angle from t = begin to t = end, seen from the foot at distance e.
double seen_angle(double e, double begin, double end) { return std::atan2(e * (end - begin), e * e + begin * end); }

EdgeIntegrals integrate_edge(const Disc& disc, double e, double begin, double end) {
  EdgeIntegrals sum;
  const double chord = disc.squared_radius - e * e;
  const double reach = chord > 0 ? std::sqrt(chord) : 0.0;
  const double inside_begin = std::clamp(begin, -reach, reach), inside_end = std::clamp(end, -reach, reach);
  if (inside_end > inside_begin) add_inside(disc, e, inside_begin, inside_end, sum);
  double outside = 0;
  if (!(inside_end > inside_begin)) {
    outside = seen_angle(e, begin, end);
  } else {
    if (begin < inside_begin) outside += seen_angle(e, begin, inside_begin);
    if (inside_end < end) outside += seen_angle(e, inside_end, end);
  }
  sum.power += outside * disc.far_power;
  sum.pressure += outside * disc.far_pressure;
  return sum;
}

}  // namespace

PatchIntegrals integrate_patch(const std::array<Vec3, 3>& triangle, const Vec3& center, double radius) {
  PatchIntegrals result;
  const Vec3 normal = (triangle[1] - triangle[0]).cross(triangle[2] - triangle[0]);
  const double length = normal.norm();
  if (!(length > 0)) return result;
  const Vec3 n = normal / length;
  const double height = n.dot(center - triangle[0]);
  if (std::abs(height) >= radius) return result;
  result.foot = center - height * n;
  const Disc disc(radius, std::abs(height));
  for (std::size_t k = 0; k < 3; ++k) {
    const Vec3 from = triangle[k] - result.foot, to = triangle[(k + 1) % 3] - result.foot;
    const Vec3 edge = to - from;
    const double edge_length = edge.norm();
    if (!(edge_length > 0)) continue;
    const Vec3 along = edge / edge_length;
    const Vec3 outward = along.cross(n);
    const EdgeIntegrals part = integrate_edge(disc, outward.dot(from), along.dot(from), along.dot(to));
    result.power += part.power;
    result.pressure += part.pressure;
    result.moment -= 0.25 * part.fourth * outward;
  }
  // Rounding may leave a little below nothing where a triangle is barely touched.
  if (!(result.power > 0 && result.pressure > 0)) return {};
  return result;
}

}  // namespace supple
