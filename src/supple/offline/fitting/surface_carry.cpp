// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/fitting/surface_carry.h"

#include "supple/base/assert.h"
#include "supple/base/parallel.h"
#include "supple/mesh/point_tree.h"
#include "supple/mesh/triangle_tree.h"

namespace supple {
namespace {

/// How many neighbours are looked at to find enough that are not hidden.
constexpr int candidates = 24;

/// Whether the skin lies between; the last hundredth of the way is the skin around the candidate itself.
bool hidden(const TriangleTree& tree, const Vec3& from, const Vec3& to, std::vector<double>& crossings) {
  tree.crossings(from, from + 0.99 * (to - from), crossings);
  return !crossings.empty();
}

}  // namespace

SurfaceCarry make_surface_carry(std::span<const Vec3> points, const Surface& surface) {
  SUPPLE_ASSERT(!surface.vertices.empty());
  const PointTree nearest(surface.vertices);
  const TriangleTree skin(surface);
  SurfaceCarry carry;
  carry.vertex.resize(points.size());
  carry.weight.resize(points.size());
  parallel_for(static_cast<std::int64_t>(points.size()), 64, [&](std::int64_t i) {
    const auto point = static_cast<std::size_t>(i);
    const std::vector<PointTree::Neighbour> near = nearest.nearest(points[point], candidates);
    std::vector<PointTree::Neighbour> chosen;
    std::vector<double> crossings;
    for (const PointTree::Neighbour& n : near) {
      if (chosen.size() == SurfaceCarry::neighbours) break;
      if (!hidden(skin, points[point], surface.vertices[static_cast<std::size_t>(n.point)], crossings))
        chosen.push_back(n);
    }
    if (chosen.empty())
      chosen.assign(near.begin(), near.begin() + std::min<std::ptrdiff_t>(SurfaceCarry::neighbours, std::ssize(near)));
    // A point on a surface vertex moves with that vertex alone.
    const double floor = 1e-9 * (chosen.front().distance + chosen.back().distance) + 1e-300;
    double sum = 0;
    for (int k = 0; k < SurfaceCarry::neighbours; ++k) {
      const auto slot = static_cast<std::size_t>(k);
      const bool exists = slot < chosen.size();
      carry.vertex[point][slot] = chosen[exists ? slot : 0].point;
      carry.weight[point][slot] = exists ? 1 / (chosen[slot].distance + floor) : 0;
      sum += carry.weight[point][slot];
    }
    for (double& w : carry.weight[point]) w /= sum;
  });
  return carry;
}

}  // namespace supple
