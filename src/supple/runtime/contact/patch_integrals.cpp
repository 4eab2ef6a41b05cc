// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/contact/patch_integrals.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

// Gauss-Legendre with six points on [−1, 1], mirrored.
constexpr std::array<double, 3> gauss_points = {0.238619186083196909, 0.661209386466264514, 0.932469514203152028};
constexpr std::array<double, 3> gauss_weights = {0.467913934572691047, 0.360761573048138608, 0.171324492379170345};

/// Edges beyond this share of the circle's squared radius count as far from the foot.
constexpr double far_share = 0.4;

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

/// G dφ at one point of the edge, by the factor δ − d that it has.
void add_near(const Disc& disc, double e, double s, double weight, EdgeIntegrals& sum) {
  const double a = std::max(0.0, disc.R - s), b = disc.delta;
  // (δⁿ − dⁿ)/(δ − d) = Σ δⁱ dⁿ⁻¹⁻ⁱ
  const double a2 = a * a, a4 = a2 * a2;
  const double three = (b + a) * (b * b + a2);  // n = 4
  const double four = three * b + a4;           // n = 5
  const double five = four * b + a4 * a;        // n = 6
  const double angle = weight * e / (s + disc.h);
  sum.power += angle * (disc.R * four / 5 - five / 6);
  sum.pressure += angle * three / 4;
  sum.fourth += weight * a4;
}

/// (G − G_far) dφ at one point of the edge.
void add_far(const Disc& disc, double e, double s, double weight, EdgeIntegrals& sum) {
  const double a = std::max(0.0, disc.R - s), a2 = a * a, a4 = a2 * a2;
  const double angle = weight * e / ((s - disc.h) * (s + disc.h));
  sum.power -= angle * a4 * a * (disc.R / 5 - a / 6);
  sum.pressure -= angle * a4 / 4;
  sum.fourth += weight * a4;
}

/// The angle from t = begin to t = end, seen from the foot at distance e.
double seen_angle(double e, double begin, double end) { return std::atan2(e * (end - begin), e * e + begin * end); }

/// Positions t along the edge count from the foot's projection on it. Neighbours make the same choices here, so that
/// what they add for their common edge cancels.
EdgeIntegrals integrate_edge(const Disc& disc, double e, double begin, double end) {
  EdgeIntegrals sum;
  const double chord = disc.squared_radius - e * e;
  const double reach = chord > 0 ? std::sqrt(chord) : 0.0;
  const double first = std::clamp(begin, -reach, reach), last = std::clamp(end, -reach, reach);
  double outside = 0;
  if (last > first) {
    const double nearest = std::clamp(0.0, first, last);
    const bool far = e * e + nearest * nearest > far_share * disc.squared_radius;
    const double half = 0.5 * (last - first), middle = 0.5 * (last + first);
    for (std::size_t k = 0; k < gauss_points.size(); ++k) {
      for (const double side : {-1.0, 1.0}) {
        const double t = middle + side * half * gauss_points[k];
        const double s = std::sqrt(disc.h * disc.h + e * e + t * t);
        (far ? add_far : add_near)(disc, e, s, half * gauss_weights[k], sum);
      }
    }
    if (far) {
      outside = seen_angle(e, begin, end);
    } else {
      if (begin < first) outside += seen_angle(e, begin, first);
      if (last < end) outside += seen_angle(e, last, end);
    }
  } else {
    outside = seen_angle(e, begin, end);
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
