// SPDX-License-Identifier: Apache-2.0
#include "supple/mesh/topology.h"

#include "supple/base/hash_mix.h"
#include "supple/mesh/disjoint_sets.h"
#include "supple/mesh/edges.h"

#include <span>
#include <unordered_map>

namespace supple {
namespace {

template <class Cell>
std::vector<char> referenced(const std::vector<Cell>& cells, std::size_t vertices) {
  std::vector<char> used(vertices, 0);
  for (const Cell& cell : cells) {
    for (const Index v : cell) used[to_size(v)] = 1;
  }
  return used;
}

template <class Cell>
std::vector<Index> unreferenced(const std::vector<Cell>& cells, std::size_t vertices) {
  const std::vector<char> used = referenced(cells, vertices);
  std::vector<Index> unused;
  for (std::size_t v = 0; v < vertices; ++v) {
    if (!used[v]) unused.push_back(static_cast<Index>(v));
  }
  return unused;
}

template <class Cell>
Components components(const std::vector<Cell>& cells, std::size_t vertices) {
  DisjointSets sets(vertices);
  for (const Cell& cell : cells) {
    for (const Index v : cell) sets.unite(cell[0], v);
  }
  Components result;
  result.label.reserve(cells.size());
  std::vector<Index> label_of_root(vertices, -1);
  for (const Cell& cell : cells) {
    Index& label = label_of_root[to_size(sets.find(cell[0]))];
    if (label < 0) label = result.count++;
    result.label.push_back(label);
  }
  return result;
}

using VertexTriple = std::array<Index, 3>;

// The triangles that are worth counting edges of: three different vertices, and not seen before.
std::vector<Triangle> distinct_triangles(const Surface& surface, SurfaceTopology& census) {
  std::vector<Triangle> kept;
  kept.reserve(surface.triangles.size());
  std::unordered_map<VertexTriple, char, ArrayHash> seen;
  seen.reserve(surface.triangles.size());
  for (const Triangle& t : surface.triangles) {
    VertexTriple key = t;
    std::sort(key.begin(), key.end());
    if (key[0] == key[1] || key[1] == key[2]) {
      ++census.degenerate_triangles;
    } else if (!seen.emplace(key, char{1}).second) {
      ++census.duplicate_triangles;
    } else {
      kept.push_back(t);
    }
  }
  return kept;
}

void count_edges(std::span<const EdgeUse> uses, SurfaceTopology& census) {
  for_each_edge(uses, [&](std::span<const EdgeUse> edge) {
    ++census.edges;
    if (edge.size() == 1) ++census.boundary_edges;
    if (edge.size() > 2) ++census.nonmanifold_edges;
    if (edge.size() == 2 && edge[0].forward == edge[1].forward) ++census.inconsistent_edges;
  });
}

Index count_holes(std::span<const EdgeUse> uses, std::size_t vertices) {
  DisjointSets rims(vertices);
  std::vector<char> on_rim(vertices, 0);
  for_each_edge(uses, [&](std::span<const EdgeUse> edge) {
    if (edge.size() != 1) return;
    rims.unite(edge[0].low, edge[0].high);
    on_rim[to_size(edge[0].low)] = on_rim[to_size(edge[0].high)] = 1;
  });
  Index holes = 0;
  for (std::size_t v = 0; v < vertices; ++v) holes += on_rim[v] && rims.find(static_cast<Index>(v)) == Index(v);
  return holes;
}

// Corner k of triangle t has the number 3 t + k. Shared edges unite the corners at both their ends; a vertex whose
// corners stay in several sets is a pinch.
Index count_nonmanifold_vertices(std::span<const Triangle> triangles, std::span<const EdgeUse> uses,
                                 std::size_t vertices) {
  DisjointSets corners(3 * triangles.size());
  const auto corner_at = [&](const EdgeUse& use, Index vertex) {
    const Triangle& t = triangles[to_size(use.triangle)];
    return 3 * use.triangle + (t[to_size(use.side)] == vertex ? use.side : (use.side + 1) % 3);
  };
  for_each_edge(uses, [&](std::span<const EdgeUse> edge) {
    for (const EdgeUse& use : edge.subspan(1)) {
      for (const Index vertex : {use.low, use.high}) corners.unite(corner_at(edge[0], vertex), corner_at(use, vertex));
    }
  });
  std::vector<Index> fans(vertices, 0);
  Index pinches = 0;
  for (std::size_t corner = 0; corner < 3 * triangles.size(); ++corner) {
    if (corners.find(static_cast<Index>(corner)) != static_cast<Index>(corner)) continue;
    if (++fans[to_size(triangles[corner / 3][corner % 3])] == 2) ++pinches;
  }
  return pinches;
}

}  // namespace

Components connected_components(const TetMesh& mesh) { return components(mesh.elements, mesh.vertices.size()); }
Components connected_components(const HexMesh& mesh) { return components(mesh.elements, mesh.vertices.size()); }
Components connected_components(const Surface& s) { return components(s.triangles, s.vertices.size()); }

std::vector<Index> unreferenced_vertices(const TetMesh& mesh) {
  return unreferenced(mesh.elements, mesh.vertices.size());
}
std::vector<Index> unreferenced_vertices(const HexMesh& mesh) {
  return unreferenced(mesh.elements, mesh.vertices.size());
}
std::vector<Index> unreferenced_vertices(const Surface& s) { return unreferenced(s.triangles, s.vertices.size()); }

SurfaceTopology surface_topology(const Surface& surface) {
  SurfaceTopology census;
  const std::vector<Triangle> triangles = distinct_triangles(surface, census);
  const std::size_t vertices = surface.vertices.size();
  const std::vector<EdgeUse> uses = sorted_edge_uses(triangles);
  const std::vector<char> used = referenced(triangles, vertices);
  census.triangles = static_cast<Index>(surface.triangles.size());
  census.vertices = static_cast<Index>(std::count(used.begin(), used.end(), char{1}));
  census.unreferenced_vertices = static_cast<Index>(unreferenced_vertices(surface).size());
  census.components = components(triangles, vertices).count;
  count_edges(uses, census);
  census.holes = count_holes(uses, vertices);
  census.nonmanifold_vertices = count_nonmanifold_vertices(triangles, uses, vertices);
  census.euler_characteristic = census.vertices - census.edges + static_cast<Index>(triangles.size());
  return census;
}

WeldedSurface weld(const Surface& surface) {
  WeldedSurface result;
  std::unordered_map<std::array<double, 3>, Index, ArrayHash> place;
  place.reserve(surface.vertices.size());
  std::vector<Index> first;  // for each welded vertex, the input vertex it stands for
  for (std::size_t v = 0; v < surface.vertices.size(); ++v) {
    const Vec3& p = surface.vertices[v];
    const auto [entry, fresh] = place.try_emplace({p[0], p[1], p[2]}, static_cast<Index>(first.size()));
    if (fresh) {
      first.push_back(static_cast<Index>(v));
      result.surface.vertices.push_back(p);
    }
    result.welded_vertex.push_back(entry->second);
  }
  result.surface.parts = surface.parts;
  result.surface.triangles = surface.triangles;
  for (Triangle& t : result.surface.triangles) {
    for (Index& v : t) v = result.welded_vertex[to_size(v)];
  }
  for (const VertexAttribute& attribute : surface.attributes) {
    VertexAttribute kept{attribute.name, attribute.components, {}};
    for (const Index v : first) {
      const auto begin = attribute.values.begin() + static_cast<std::ptrdiff_t>(v) * attribute.components;
      kept.values.insert(kept.values.end(), begin, begin + attribute.components);
    }
    result.surface.attributes.push_back(std::move(kept));
  }
  return result;
}

}  // namespace supple
