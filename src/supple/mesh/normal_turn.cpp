// SPDX-License-Identifier: Apache-2.0
#include "supple/mesh/normal_turn.h"

#include <Eigen/Geometry>

namespace supple {

VertexAreas vertex_areas(std::span<const Triangle> triangles, std::span<const Vec3> positions) {
  VertexAreas sums{std::vector<Vec3>(positions.size(), Vec3::Zero()), std::vector<double>(positions.size(), 0.0)};
  for (const Triangle& t : triangles) {
    const Vec3& x = positions[to_size(t[0])];
    const Vec3 a = 0.5 * (positions[to_size(t[1])] - x).cross(positions[to_size(t[2])] - x);
    const double area = a.norm();
    for (const Index v : t) {
      sums.vector[to_size(v)] += a;
      sums.area[to_size(v)] += area;
    }
  }
  return sums;
}

std::vector<Vec3> normal_turn_rates(std::span<const Triangle> triangles, std::span<const Vec3> positions,
                                    std::span<const Vec3> rates) {
  const VertexAreas areas = vertex_areas(triangles, positions);
  std::vector<Vec3> change(positions.size(), Vec3::Zero()), turn(positions.size(), Vec3::Zero());
  for (const Triangle& t : triangles) {
    const auto [i, j, k] = std::array{to_size(t[0]), to_size(t[1]), to_size(t[2])};
    const Vec3 e = positions[j] - positions[i], f = positions[k] - positions[i];
    const Vec3 a = 0.5 * e.cross(f);
    const Vec3 da = 0.5 * ((rates[j] - rates[i]).cross(f) + e.cross(rates[k] - rates[i]));
    const double area = a.norm();
    // area · (n × ṅ), with n = a / area and ṅ the part of ȧ / area across n
    const Vec3 own = area > 0 ? Vec3(a.cross(da) / area) : Vec3(Vec3::Zero());
    for (const std::size_t v : {i, j, k}) {
      change[v] += da;
      turn[v] += own;
    }
  }
  for (std::size_t v = 0; v < turn.size(); ++v) {
    const Vec3& a = areas.vector[v];
    if (areas.has_normal(v))
      turn[v] = a.cross(change[v]) / a.squaredNorm();
    else if (areas.area[v] > 0)
      turn[v] /= areas.area[v];
    if (!turn[v].allFinite()) turn[v].setZero();
  }
  return turn;
}

}  // namespace supple
