// SPDX-License-Identifier: Apache-2.0
#include "supple/mesh/normals.h"

#include "supple/mesh/disjoint_sets.h"
#include "supple/mesh/edges.h"

#include <Eigen/Geometry>

#include <numbers>

namespace supple {
namespace {

// normalized() would divide by zero for triangles without area.
Vec3 unit_or(const Vec3& v, const Vec3& fallback) {
  const double length = v.norm();
  return length > 0 && std::isfinite(length) ? Vec3(v / length) : fallback;
}

// Corner k of triangle t has the number 3 t + k. Corners at one vertex share a new vertex if smooth edges join them.
DisjointSets smooth_fans(const Surface& surface, double crease_degrees) {
  const double flattest = std::cos(crease_degrees * std::numbers::pi / 180) - 1e-12;
  const std::vector<Vec3> normals = triangle_normals(surface);
  DisjointSets corners(3 * surface.triangles.size());
  const auto corner_at = [&](Index triangle, Index vertex) {
    const Triangle& t = surface.triangles[to_size(triangle)];
    return 3 * triangle + static_cast<Index>(std::find(t.begin(), t.end(), vertex) - t.begin());
  };
  for_each_edge(sorted_edge_uses(surface.triangles), [&](std::span<const EdgeUse> uses) {
    if (uses.size() != 2) return;
    const auto a = uses[0].triangle, b = uses[1].triangle;
    if (normals[to_size(a)].dot(normals[to_size(b)]) < flattest) return;
    for (const Index vertex : {uses[0].low, uses[0].high}) corners.unite(corner_at(a, vertex), corner_at(b, vertex));
  });
  return corners;
}

void copy_attributes(const Surface& from, CreasedSurface& to) {
  for (const VertexAttribute& attribute : from.attributes) {
    VertexAttribute copy{attribute.name, attribute.components, {}};
    for (const Index source : to.source_vertex) {
      const auto first = attribute.values.begin() + static_cast<std::ptrdiff_t>(source) * attribute.components;
      copy.values.insert(copy.values.end(), first, first + attribute.components);
    }
    to.surface.attributes.push_back(std::move(copy));
  }
}

}  // namespace

Vec3 area_vector(const Triangle& triangle, std::span<const Vec3> positions) {
  const auto at = [&](std::size_t corner) -> const Vec3& { return positions[to_size(triangle[corner])]; };
  return 0.5 * (at(1) - at(0)).cross(at(2) - at(0));
}

std::vector<Vec3> triangle_normals(const Surface& surface) {
  std::vector<Vec3> normals;
  normals.reserve(surface.triangles.size());
  for (const Triangle& t : surface.triangles)
    normals.push_back(unit_or(area_vector(t, surface.vertices), Vec3(Vec3::Zero())));
  return normals;
}

std::vector<Vec3> vertex_normals(std::span<const Triangle> triangles, std::span<const Vec3> positions) {
  std::vector<Vec3> normals(positions.size(), Vec3(Vec3::Zero()));
  for (const Triangle& t : triangles) {
    const Vec3 area = area_vector(t, positions);
    for (const Index v : t) normals[to_size(v)] += area;
  }
  for (Vec3& normal : normals) normal = unit_or(normal, Vec3(Vec3::UnitZ()));
  return normals;
}

CreasedSurface split_at_creases(const Surface& surface, double crease_degrees) {
  DisjointSets fans = smooth_fans(surface, crease_degrees);
  CreasedSurface result;
  result.surface.parts = surface.parts;
  result.surface.triangles = surface.triangles;
  std::vector<Index> vertex_of_fan(3 * surface.triangles.size(), -1);
  for (std::size_t corner = 0; corner < vertex_of_fan.size(); ++corner) {
    Index& vertex = result.surface.triangles[corner / 3][corner % 3];
    Index& fan_vertex = vertex_of_fan[to_size(fans.find(static_cast<Index>(corner)))];
    if (fan_vertex < 0) {
      fan_vertex = static_cast<Index>(result.source_vertex.size());
      result.source_vertex.push_back(vertex);
      result.surface.vertices.push_back(surface.vertices[to_size(vertex)]);
    }
    vertex = fan_vertex;
  }
  copy_attributes(surface, result);
  return result;
}

}  // namespace supple
