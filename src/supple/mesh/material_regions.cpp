// SPDX-License-Identifier: Apache-2.0
#include "supple/mesh/material_regions.h"

#include <fmt/format.h>
#include <Eigen/Geometry>

#include <algorithm>

namespace supple {
namespace {

template <int Nodes>
std::vector<Vec3> centers_of(const VolumeMesh<Nodes>& mesh) {
  std::vector<Vec3> centers;
  for (const auto& element : mesh.elements) {
    Vec3 sum = Vec3::Zero();
    for (const Index v : element) sum += mesh.vertices[to_size(v)];
    centers.emplace_back(sum / Nodes);
  }
  return centers;
}

// Does the edge, seen from above, pass to the right (+x) of the point? Its lower end belongs to it, its upper end
// doesn't, and both its triangles compute the same number: so a point beside a chain of edges is counted exactly once.
bool passes_right_of(const Vec3& a, const Vec3& b, const Vec3& point) {
  if ((a.y() <= point.y()) == (b.y() <= point.y())) return false;
  const Vec3& low = a.y() < b.y() ? a : b;
  const Vec3& high = a.y() < b.y() ? b : a;
  return point.x() < low.x() + (point.y() - low.y()) / (high.y() - low.y()) * (high.x() - low.x());
}

/// How often a ray upward from the point passes through the triangle: +1 or -1 by its orientation, or 0.
int crossing(const std::array<Vec3, 3>& t, const Vec3& point) {
  bool covered = false;
  for (std::size_t c = 0; c < 3; ++c) covered ^= passes_right_of(t[c], t[(c + 1) % 3], point);
  if (!covered) return 0;
  const Vec3 normal = (t[1] - t[0]).cross(t[2] - t[0]);
  if (normal.z() == 0) return 0;
  const double height =
      t[0].z() - (normal.x() * (point.x() - t[0].x()) + normal.y() * (point.y() - t[0].y())) / normal.z();
  if (height <= point.z()) return 0;
  return normal.z() > 0 ? 1 : -1;
}

/// Winding numbers of the points. They are sorted by y, so that a triangle looks only at those in its strip.
std::vector<int> winding_numbers(const Surface& surface, const std::vector<Vec3>& points) {
  std::vector<std::size_t> order(points.size());
  for (std::size_t p = 0; p < order.size(); ++p) order[p] = p;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return points[a].y() != points[b].y() ? points[a].y() < points[b].y() : a < b;
  });
  std::vector<int> winding(points.size(), 0);
  for (const Triangle& triangle : surface.triangles) {
    std::array<Vec3, 3> t;
    for (std::size_t c = 0; c < 3; ++c) t[c] = surface.vertices[to_size(triangle[c])];
    const Bounds box = bounds_of(t);
    auto at = std::lower_bound(order.begin(), order.end(), box.min.y(),
                               [&](std::size_t p, double y) { return points[p].y() < y; });
    for (; at != order.end() && points[*at].y() <= box.max.y(); ++at) {
      const Vec3& p = points[*at];
      if (p.x() >= box.min.x() && p.x() <= box.max.x() && p.z() < box.max.z()) winding[*at] += crossing(t, p);
    }
  }
  return winding;
}

/// Regions that say what element_material says, for a mesh that has none.
template <int Nodes>
void describe_by_regions(VolumeMesh<Nodes>& mesh) {
  if (mesh.materials.empty()) mesh.materials.push_back(default_material());
  mesh.element_material.resize(mesh.elements.size(), 0);
  if (!mesh.regions.empty()) return;
  for (std::size_t m = 0; m < mesh.materials.size(); ++m) {
    ElementSet set{mesh.materials[m].name, {}};
    for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
      if (mesh.element_material[e] == static_cast<Index>(m)) set.elements.push_back(static_cast<Index>(e));
    }
    if (set.elements.empty()) continue;
    mesh.regions.push_back({static_cast<Index>(mesh.sets.size()), static_cast<Index>(m)});
    mesh.sets.push_back(std::move(set));
  }
}

}  // namespace

template <int Nodes>
std::vector<Index> elements_in(const VolumeMesh<Nodes>& mesh, const Bounds& box) {
  std::vector<Index> chosen;
  const std::vector<Vec3> centers = centers_of(mesh);
  for (std::size_t e = 0; e < centers.size(); ++e) {
    if ((centers[e].array() >= box.min.array()).all() && (centers[e].array() <= box.max.array()).all())
      chosen.push_back(static_cast<Index>(e));
  }
  return chosen;
}

template <int Nodes>
std::vector<Index> elements_in(const VolumeMesh<Nodes>& mesh, const Surface& closed) {
  std::vector<Index> chosen;
  const std::vector<int> winding = winding_numbers(closed, centers_of(mesh));
  for (std::size_t e = 0; e < winding.size(); ++e) {
    if (winding[e] != 0) chosen.push_back(static_cast<Index>(e));
  }
  return chosen;
}

template <int Nodes>
Status assign_region(VolumeMesh<Nodes>& mesh, std::span<const Index> elements, const ElasticMaterial& material) {
  ElementSet set{material.name, {elements.begin(), elements.end()}};
  std::sort(set.elements.begin(), set.elements.end());
  set.elements.erase(std::unique(set.elements.begin(), set.elements.end()), set.elements.end());
  if (set.elements.empty())
    return input_error(fmt::format("The region of material '{}' holds no element; make it larger.", material.name));
  if (set.elements.front() < 0 || to_size(set.elements.back()) >= mesh.elements.size())
    return input_error(fmt::format("The region of material '{}' names elements from {} to {}, but the mesh has {}.",
                                   material.name, set.elements.front(), set.elements.back(), mesh.elements.size()));
  describe_by_regions(mesh);
  const auto number = static_cast<Index>(mesh.materials.size());
  for (const Index e : set.elements) mesh.element_material[to_size(e)] = number;
  mesh.regions.push_back({static_cast<Index>(mesh.sets.size()), number});
  mesh.materials.push_back(material);
  mesh.sets.push_back(std::move(set));
  return {};
}

template <int Nodes>
Status assign_region(VolumeMesh<Nodes>& mesh, const Bounds& box, const ElasticMaterial& material) {
  return assign_region(mesh, elements_in(mesh, box), material);
}

template <int Nodes>
Status assign_region(VolumeMesh<Nodes>& mesh, const Surface& closed, const ElasticMaterial& material) {
  return assign_region(mesh, elements_in(mesh, closed), material);
}

#define SUPPLE_REGIONS_OF(Mesh)                                                         \
  template std::vector<Index> elements_in(const Mesh&, const Bounds&);                  \
  template std::vector<Index> elements_in(const Mesh&, const Surface&);                 \
  template Status assign_region(Mesh&, std::span<const Index>, const ElasticMaterial&); \
  template Status assign_region(Mesh&, const Bounds&, const ElasticMaterial&);          \
  template Status assign_region(Mesh&, const Surface&, const ElasticMaterial&);
SUPPLE_REGIONS_OF(TetMesh)
SUPPLE_REGIONS_OF(HexMesh)
#undef SUPPLE_REGIONS_OF

}  // namespace supple
