// SPDX-License-Identifier: Apache-2.0
#include "supple/mesh/edges.h"

#include "supple/mesh/normals.h"

#include <numbers>
#include <tuple>

namespace supple {

std::vector<EdgeUse> sorted_edge_uses(std::span<const Triangle> triangles) {
  std::vector<EdgeUse> uses;
  uses.reserve(3 * triangles.size());
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    for (std::size_t side = 0; side < 3; ++side) {
      const Index from = triangles[t][side];
      const Index to = triangles[t][(side + 1) % 3];
      if (from == to) continue;
      uses.push_back(
          {std::min(from, to), std::max(from, to), static_cast<Index>(t), static_cast<std::int8_t>(side), from < to});
    }
  }
  std::sort(uses.begin(), uses.end(), [](const EdgeUse& a, const EdgeUse& b) {
    return std::tie(a.low, a.high, a.triangle, a.side) < std::tie(b.low, b.high, b.triangle, b.side);
  });
  return uses;
}

std::vector<std::array<Index, 2>> feature_edges(const Surface& surface, double min_angle_degrees) {
  const double flattest = std::cos(min_angle_degrees * std::numbers::pi / 180);
  const std::vector<Vec3> normals = triangle_normals(surface);
  std::vector<std::array<Index, 2>> edges;
  for_each_edge(sorted_edge_uses(surface.triangles), [&](std::span<const EdgeUse> uses) {
    const bool smooth =
        uses.size() == 2 && normals[to_size(uses[0].triangle)].dot(normals[to_size(uses[1].triangle)]) > flattest;
    if (!smooth) edges.push_back({uses[0].low, uses[0].high});
  });
  return edges;
}

}  // namespace supple
