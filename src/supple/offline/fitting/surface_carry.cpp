// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/fitting/surface_carry.h"

#include "supple/base/assert.h"
#include "supple/base/parallel.h"
#include "supple/mesh/own_order.h"
#include "supple/mesh/point_tree.h"
#include "supple/mesh/triangle_tree.h"
#include "supple/mesh/winding_number.h"
#include "supple/offline/fitting/surrounding_weights.h"

#include <Eigen/Geometry>
#include <Eigen/LU>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

namespace supple {
namespace {

/// How many neighbours are looked at to find enough that are not hidden.
constexpr int candidates = 24;
constexpr int ray_count = 42;
constexpr double rounding = 1e-9;  // of twice the skin's size

/// Directions spread evenly over the sphere, along a spiral of golden angles around the third of the axes. It begins at
/// an odd angle, so that no ray runs in a plane of the axes, as edges of skins do.
std::vector<Vec3> ray_directions(const Quat& axes) {
  std::vector<Vec3> directions;
  for (int k = 0; k < ray_count; ++k) {
    const double z = 1 - (2 * k + 1.0) / ray_count;
    const double angle = (k + 0.37) * std::numbers::pi * (3 - std::sqrt(5.0));
    const double radius = std::sqrt(1 - z * z);
    directions.push_back(axes * Vec3(radius * std::cos(angle), radius * std::sin(angle), z));
  }
  return directions;
}

/// Weights on four vertices of the surface.
struct Carrier {
  std::array<Index, SurfaceCarry::neighbours> vertex{};
  std::array<double, SurfaceCarry::neighbours> weight{};
};

class CarrierFinder {
 public:
  CarrierFinder(const Surface& surface, const Quat& axes)
      : surface_(surface),
        points_(surface.vertices),
        tree_(surface),
        winding_(tree_),
        directions_(ray_directions(axes)),
        reach_(2 * bounds_of(surface.vertices).diagonal()) {}

  Carrier find(const Vec3& x) const {
    const std::vector<PointTree::Neighbour> near = visible_neighbours(x);
    // Between two limbs rays meet skin on all sides too, but of both. On the skin rounding would say what is inside.
    const bool inside = tree_.first_nearest(x).distance > rounding * reach_ && std::abs(winding_(x)) >= 0.5;
    if (!inside)
      if (const auto carrier = behind_nearest_triangle(x)) return *carrier;
    if (const auto carrier = surrounded(x, near)) return *carrier;
    if (inside)
      if (const auto carrier = behind_nearest_triangle(x)) return *carrier;
    return shepard(near);
  }

 private:
  const Vec3& at(Index vertex) const { return surface_.vertices[to_size(vertex)]; }

  /// Whether the skin lies between; the last hundredth of the way is the skin around the candidate itself.
  bool hidden(const Vec3& from, const Vec3& to) const {
    std::vector<double> crossings;
    tree_.crossings(from, from + 0.99 * (to - from), crossings);
    return !crossings.empty();
  }

  /// The nearest four that nothing hides, and what is as near as the fourth; of equals the first comes first.
  std::vector<PointTree::Neighbour> visible_neighbours(const Vec3& x) const {
    std::vector<PointTree::Neighbour> near = points_.nearest(x, candidates);
    const auto steps = [&](const PointTree::Neighbour& n) { return std::floor(n.distance / (rounding * reach_)); };
    std::sort(near.begin(), near.end(), [&](const PointTree::Neighbour& a, const PointTree::Neighbour& b) {
      return steps(a) != steps(b) ? steps(a) < steps(b) : a.point < b.point;
    });
    std::vector<PointTree::Neighbour> chosen;
    for (const PointTree::Neighbour& n : near) {
      if (std::ssize(chosen) >= SurfaceCarry::neighbours && steps(n) > steps(chosen.back())) break;
      if (!hidden(x, at(n.point))) chosen.push_back(n);
    }
    if (chosen.empty())
      chosen.assign(near.begin(), near.begin() + std::min<std::ptrdiff_t>(SurfaceCarry::neighbours, std::ssize(near)));
    return chosen;
  }

  struct Hit {
    Vec3 point;
    Triangle corners;
  };

  /// Where a ray first meets the skin.
  std::optional<Hit> first_hit(const Vec3& from, const Vec3& direction) const {
    std::vector<double> crossings;
    const Vec3 to = from + reach_ * direction;
    tree_.crossings(from, to, crossings);
    if (crossings.empty()) return std::nullopt;
    const Vec3 hit = from + crossings.front() * (to - from);
    const TriangleTree::Nearest triangle = tree_.first_nearest(hit);
    return Hit{hit, surface_.triangles[to_size(triangle.triangle)]};
  }

  Index nearest_corner(const Hit& hit) const {
    std::array<Index, 3> corners = hit.corners;
    std::sort(corners.begin(), corners.end());  // the first of equals
    Index nearest = corners[0];
    for (const Index v : corners)
      if ((at(v) - hit.point).norm() < (at(nearest) - hit.point).norm() - rounding * reach_) nearest = v;
    return nearest;
  }

  std::optional<Carrier> surrounded(const Vec3& x, const std::vector<PointTree::Neighbour>& near) const {
    std::vector<Index> around;
    for (const PointTree::Neighbour& n : near) around.push_back(n.point);
    // With all three corners of a triangle its hit is among them: where rays end in all directions, x is surrounded.
    for (const Vec3& direction : directions_)
      if (const auto hit = first_hit(x, direction))
        around.insert(around.end(), hit->corners.begin(), hit->corners.end());
    std::sort(around.begin(), around.end());
    around.erase(std::unique(around.begin(), around.end()), around.end());
    std::vector<Vec3> positions;
    for (const Index v : around) positions.push_back(at(v));
    const auto weights = surrounding_weights(x, positions, around);
    if (!weights) return std::nullopt;
    Carrier result;
    for (std::size_t k = 0; k < SurfaceCarry::neighbours; ++k) {
      result.vertex[k] = around[to_size(weights->point[k])];
      result.weight[k] = weights->weight[k];
    }
    return result;
  }

  std::optional<Carrier> behind_nearest_triangle(const Vec3& x) const {
    const TriangleTree::Nearest nearest = tree_.first_nearest(x);
    if (nearest.triangle < 0) return std::nullopt;
    const Triangle& t = surface_.triangles[to_size(nearest.triangle)];
    const Vec3 normal = (at(t[1]) - at(t[0])).cross(at(t[2]) - at(t[0])).normalized();
    const Vec3 away = x - nearest.point;
    const Vec3 inward = away.norm() > rounding * reach_ && std::abs(away.normalized().dot(normal)) > 0.5
                            ? Vec3(-away.normalized())
                            : Vec3(-normal);
    const auto hit = first_hit(nearest.point + 1e-6 * reach_ * inward, inward);
    if (!hit) return std::nullopt;
    const Index opposite = nearest_corner(*hit);
    Mat3 edges;
    edges << at(t[1]) - at(t[0]), at(t[2]) - at(t[0]), at(opposite) - at(t[0]);
    const Vec3 w = edges.inverse() * (x - at(t[0]));
    Carrier result{{t[0], t[1], t[2], opposite}, {1 - w.sum(), w[0], w[1], w[2]}};
    // A thin or distant triangle continued far would magnify what it does.
    const bool tame = w.allFinite() && std::all_of(result.weight.begin(), result.weight.end(),
                                                   [](double value) { return std::abs(value) < 2; });
    return tame ? std::optional(result) : std::nullopt;
  }

  static Carrier shepard(const std::vector<PointTree::Neighbour>& near) {
    // A point on a surface vertex moves with that vertex alone.
    const double farthest = near[std::min(near.size(), to_size(SurfaceCarry::neighbours)) - 1].distance;
    const double floor = 1e-9 * (near.front().distance + farthest) + 1e-300;
    Carrier result;
    double sum = 0;
    for (std::size_t k = 0; k < SurfaceCarry::neighbours; ++k) {
      const bool exists = k < near.size();
      result.vertex[k] = near[exists ? k : 0].point;
      result.weight[k] = exists ? 1 / (near[k].distance + floor) : 0;
      sum += result.weight[k];
    }
    for (double& w : result.weight) w /= sum;
    return result;
  }

  const Surface& surface_;
  PointTree points_;
  TriangleTree tree_;
  WindingNumber winding_;
  std::vector<Vec3> directions_;
  double reach_;
};

}  // namespace

SurfaceCarry make_surface_carry(std::span<const Vec3> points, const Surface& surface, const Quat& axes) {
  SUPPLE_ASSERT(!surface.vertices.empty());
  // Where carriers are equally good, as about a plane of symmetry, the first is taken.
  const OrderedSurface ordered = in_own_order(surface, axes);
  const CarrierFinder finder(ordered.surface, axes);
  SurfaceCarry carry;
  carry.vertex.resize(points.size());
  carry.weight.resize(points.size());
  parallel_for(static_cast<std::int64_t>(points.size()), 16, [&](std::int64_t i) {
    const Carrier carrier = finder.find(points[to_size(i)]);
    for (std::size_t k = 0; k < SurfaceCarry::neighbours; ++k)
      carry.vertex[to_size(i)][k] = ordered.source[to_size(carrier.vertex[k])];
    carry.weight[to_size(i)] = carrier.weight;
  });
  return carry;
}

}  // namespace supple
