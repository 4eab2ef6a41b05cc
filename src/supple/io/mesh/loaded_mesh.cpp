// SPDX-License-Identifier: Apache-2.0
#include "supple/io/mesh/loaded_mesh.h"

#include <fmt/format.h>

#include "supple/mesh/quality.h"

#include <utility>

namespace supple {
namespace {

const Vec3& at(const std::vector<Vec3>& vertices, Index i) { return vertices[to_size(i)]; }

double volume_of(const std::vector<Vec3>& x, const TetMesh::Element& e) {
  return tet_volume(at(x, e[0]), at(x, e[1]), at(x, e[2]), at(x, e[3]));
}

double volume_of(const std::vector<Vec3>& x, const HexMesh::Element& e) {
  std::array<Vec3, 8> corners;
  for (std::size_t k = 0; k < corners.size(); ++k) corners[k] = at(x, e[k]);
  return brick_volume(corners);
}

void turn_around(TetMesh::Element& e) { std::swap(e[2], e[3]); }
void turn_around(HexMesh::Element& e) { std::swap_ranges(e.begin(), e.begin() + 4, e.begin() + 4); }

// Below this share of the cube over its extent, an element's volume is rounding and no more.
constexpr double flat_share = 1e-14;

template <std::size_t Nodes>
double extent_of(const std::vector<Vec3>& x, const std::array<Index, Nodes>& e) {
  double extent = 0;
  for (const Index node : e) {
    const Vec3 edge = at(x, node) - at(x, e[0]);
    extent = std::max(extent, edge.cwiseAbs().maxCoeff());
  }
  return extent;
}

template <class Mesh>
Result<LoadedMesh> finish_volume(Mesh mesh, const std::string& name, std::string format,
                                 std::vector<std::string> warnings) {
  if (mesh.elements.empty()) {
    return input_error(fmt::format("{} holds {} vertices but no elements, so there is nothing to simulate.", name,
                                   mesh.vertices.size()));
  }
  orient_elements(mesh, warnings);
  return LoadedMesh{std::move(mesh), std::move(format), std::move(warnings)};
}

}  // namespace

template <int Nodes>
void orient_elements(VolumeMesh<Nodes>& mesh, std::vector<std::string>& warnings) {
  std::size_t turned = 0;
  std::size_t flat = 0;
  for (auto& element : mesh.elements) {
    const double volume = volume_of(mesh.vertices, element);
    const double extent = extent_of(mesh.vertices, element);
    // Written so that an overflow to infinity or NaN, from coordinates near the largest double, counts as flat.
    if (!(std::abs(volume) > flat_share * extent * extent * extent)) ++flat;
    if (volume < 0) {
      turn_around(element);
      ++turned;
    }
  }
  const std::size_t total = mesh.elements.size();
  if (turned > 0)
    warnings.push_back(fmt::format("Turned {} of {} elements around: their volume was negative.", turned, total));
  if (flat > 0) warnings.push_back(fmt::format("{} of {} elements have no volume.", flat, total));
}

template void orient_elements(TetMesh&, std::vector<std::string>&);
template void orient_elements(HexMesh&, std::vector<std::string>&);

Result<LoadedMesh> finish_mesh(TetMesh mesh, const std::string& name, std::string format,
                               std::vector<std::string> warnings) {
  return finish_volume(std::move(mesh), name, std::move(format), std::move(warnings));
}

Result<LoadedMesh> finish_mesh(HexMesh mesh, const std::string& name, std::string format,
                               std::vector<std::string> warnings) {
  return finish_volume(std::move(mesh), name, std::move(format), std::move(warnings));
}

Result<LoadedMesh> finish_mesh(Surface surface, const std::string& name, std::string format,
                               std::vector<std::string> warnings) {
  if (surface.triangles.empty()) {
    return input_error(fmt::format("{} holds {} vertices but no faces; export the mesh with its faces.", name,
                                   surface.vertices.size()));
  }
  finish_parts(surface);
  return LoadedMesh{std::move(surface), std::move(format), std::move(warnings)};
}

void append_polygon(Surface& surface, std::span<const Index> corners) {
  for (std::size_t k = 2; k < corners.size(); ++k)
    surface.triangles.push_back({corners[0], corners[k - 1], corners[k]});
}

void begin_part(Surface& surface, std::string_view name) {
  if (!surface.parts.empty() && surface.parts.back().name == name) return;
  const auto here = static_cast<Index>(surface.triangles.size());
  if (!surface.parts.empty() && surface.parts.back().first_triangle == here) surface.parts.pop_back();
  if (!surface.parts.empty() && surface.parts.back().name == name) return;
  surface.parts.push_back({std::string(name), here, 0});
}

void finish_parts(Surface& surface) {
  const auto total = static_cast<Index>(surface.triangles.size());
  auto& parts = surface.parts;
  if (!parts.empty() && parts.back().first_triangle == total) parts.pop_back();
  if (parts.empty()) return;
  if (parts.front().first_triangle > 0) parts.insert(parts.begin(), SurfacePart{"", 0, 0});
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const Index stop = k + 1 < parts.size() ? parts[k + 1].first_triangle : total;
    parts[k].triangle_count = stop - parts[k].first_triangle;
  }
}

std::vector<ElementSet> sets_from_labels(std::span<const std::int64_t> labels, std::string_view prefix) {
  std::vector<std::int64_t> distinct(labels.begin(), labels.end());
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  if (distinct.size() < 2) return {};
  std::vector<ElementSet> sets;
  for (const std::int64_t label : distinct) sets.push_back({fmt::format("{}{}", prefix, label), {}});
  for (std::size_t e = 0; e < labels.size(); ++e) {
    const auto which = std::lower_bound(distinct.begin(), distinct.end(), labels[e]) - distinct.begin();
    sets[to_size(which)].elements.push_back(static_cast<Index>(e));
  }
  return sets;
}

std::vector<Index> labels_from_sets(std::span<const ElementSet> sets, std::size_t element_count) {
  std::vector<Index> labels(element_count, 0);
  for (std::size_t k = 0; k < sets.size(); ++k) {
    for (const Index e : sets[k].elements) {
      Index& label = labels[to_size(e)];
      if (label == 0) label = static_cast<Index>(k + 1);
    }
  }
  return labels;
}

float colour_value(double value) { return value > 0 ? static_cast<float>(std::min(value, 65535.0)) : 0.0F; }

const VertexAttribute* find_colours(const Surface& surface) {
  for (const VertexAttribute& attribute : surface.attributes) {
    const bool fits = attribute.values.size() == surface.vertices.size() * to_size(attribute.components);
    if (attribute.name == colour_attribute && (attribute.components == 3 || attribute.components == 4) && fits)
      return &attribute;
  }
  return nullptr;
}

}  // namespace supple
