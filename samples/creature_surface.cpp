// SPDX-License-Identifier: Apache-2.0
#include "samples/creature_field.h"
#include "samples/shapes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace supple {
namespace {

// Balls are only roughly distances; this covers how much faster they change.
constexpr double field_steepness = 1.6;
constexpr int relaxing_rounds = 4;

struct Box {
  Vec3 low = Vec3::Constant(1e9), high = Vec3::Constant(-1e9);
};

Box bounds_of(const Creature& creature) {
  Box box;
  for (const Limb& limb : creature.limbs) {
    box.low = box.low.cwiseMin(limb.low);
    box.high = box.high.cwiseMax(limb.high);
  }
  if (creature.symmetric) box.low.x() = -box.high.x();
  return box;
}

// A layer of cells straddles x = 0, so that no square of the surface does: it is as symmetric as the field.
Surface surface_at(const Creature& creature, const Box& box, double cell) {
  Vec3 low = box.low - Vec3::Constant(2.5 * cell), high = box.high + Vec3::Constant(2.5 * cell);
  if (creature.symmetric) {
    low.x() = -cell * (std::ceil(high.x() / cell) + 0.5);
    high.x() = -low.x();
  }
  return implicit_surface([&](const Vec3& x) { return creature.value(x); }, low, high, cell, field_steepness);
}

// ---- finer triangles where it counts --------------------------------------------------------------------------------

bool in_focus(const Creature& creature, const Vec3& x) {
  return std::any_of(creature.focus.begin(), creature.focus.end(), [&](const Focus& focus) {
    const Vec3 at = focus.both_sides && creature.symmetric ? Vec3(std::abs(x.x()), x.y(), x.z()) : x;
    return (at - focus.center).norm() < focus.radius;
  });
}

using Edge = std::array<Index, 2>;

// The edges in focus, each with the number of the vertex that will split it.
std::map<Edge, Index> edges_to_split(const Creature& creature, const Surface& surface) {
  std::map<Edge, Index> result;
  if (creature.focus.empty()) return result;
  auto next = static_cast<Index>(surface.vertices.size());
  for (const Triangle& t : surface.triangles) {
    for (std::size_t k = 0; k < 3; ++k) {
      const Index a = t[k], b = t[(k + 1) % 3];
      if (a > b) continue;
      const Vec3 middle = (surface.vertices[to_size(a)] + surface.vertices[to_size(b)]) / 2;
      if (in_focus(creature, middle)) result[{a, b}] = next++;
    }
  }
  return result;
}

// Triangles are cut by their split edges, so neighbours always agree: into four, three or two.
void split_triangle(const Surface& surface, const Triangle& t, const std::map<Edge, Index>& middles,
                    std::vector<Triangle>& out) {
  std::array<Index, 3> m{};
  int count = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    const auto found = middles.find({std::min(t[k], t[(k + 1) % 3]), std::max(t[k], t[(k + 1) % 3])});
    m[k] = found == middles.end() ? -1 : found->second;
    count += m[k] >= 0 ? 1 : 0;
  }
  if (count == 0) {
    out.push_back(t);
    return;
  }
  if (count == 3) {
    out.insert(out.end(), {{t[0], m[0], m[2]}, {t[1], m[1], m[0]}, {t[2], m[2], m[1]}, {m[0], m[1], m[2]}});
    return;
  }
  std::size_t r = 0;  // one: that edge first; two: the whole edge last
  while (count == 1 ? m[r] < 0 : m[(r + 2) % 3] >= 0) ++r;
  const Index a = t[r], b = t[(r + 1) % 3], c = t[(r + 2) % 3], ab = m[r], bc = m[(r + 1) % 3];
  if (count == 1) {
    out.insert(out.end(), {{a, ab, c}, {ab, b, c}});
    return;
  }
  out.push_back({ab, b, bc});
  const auto p = [&](Index v) { return surface.vertices[to_size(v)]; };
  if (cut_from_first({p(a), p(ab), p(bc), p(c)}))
    out.insert(out.end(), {{a, ab, bc}, {a, bc, c}});
  else
    out.insert(out.end(), {{a, ab, c}, {ab, bc, c}});
}

void refine_focus(const Creature& creature, Surface& surface) {
  const std::map<Edge, Index> middles = edges_to_split(creature, surface);
  surface.vertices.resize(surface.vertices.size() + middles.size());
  for (const auto& [edge, middle] : middles)
    surface.vertices[to_size(middle)] = (surface.vertices[to_size(edge[0])] + surface.vertices[to_size(edge[1])]) / 2;
  std::vector<Triangle> triangles;
  for (const Triangle& t : surface.triangles) split_triangle(surface, t, middles, triangles);
  surface.triangles = std::move(triangles);
}

// ---- shape ----------------------------------------------------------------------------------------------------------

// Every edge has two triangles that pass it in opposite directions.
bool is_manifold(const Surface& surface) {
  std::vector<std::array<Index, 2>> edges;
  for (const Triangle& t : surface.triangles) {
    for (std::size_t k = 0; k < 3; ++k) edges.push_back({t[k], t[(k + 1) % 3]});
  }
  std::sort(edges.begin(), edges.end());
  if (std::adjacent_find(edges.begin(), edges.end()) != edges.end()) return false;
  return std::all_of(edges.begin(), edges.end(), [&](const std::array<Index, 2>& e) {
    return std::binary_search(edges.begin(), edges.end(), std::array<Index, 2>{e[1], e[0]});
  });
}

Vec3 onto_surface(const Creature& creature, const Vec3& start) {
  Vec3 x = start;
  for (int round = 0; round < 2; ++round) x -= 0.9 * creature.value(x) * creature.normal(x);
  return x;
}

// Vertices move to the middle of their neighbours, along the skin: even triangles, same shape. Those on the plane of
// symmetry, which may be a crease without a normal, stay there.
void relax(const Creature& creature, double cell, Surface& surface) {
  const std::size_t count = surface.vertices.size();
  const auto keep_symmetric = [&](Vec3& x) {
    if (creature.symmetric && std::abs(x.x()) < 0.06 * cell) x.x() = 0;
  };
  for (int round = 0; round < relaxing_rounds; ++round) {
    std::vector<Vec3> sum(count, Vec3::Zero());
    std::vector<int> neighbours(count, 0);
    for (const Triangle& t : surface.triangles) {
      for (std::size_t k = 0; k < 3; ++k) {
        sum[to_size(t[k])] += surface.vertices[to_size(t[(k + 1) % 3])];
        ++neighbours[to_size(t[k])];
      }
    }
    const bool last = round + 1 == relaxing_rounds;
    for (std::size_t v = 0; v < count; ++v) {
      if (round == 0) surface.vertices[v] = onto_surface(creature, surface.vertices[v]);
      const Vec3 normal = creature.normal(surface.vertices[v]);
      const Vec3 step = 0.5 * (sum[v] / neighbours[v] - surface.vertices[v]);
      surface.vertices[v] += step - normal * normal.dot(step);
      if (last) surface.vertices[v] = onto_surface(creature, surface.vertices[v]);
      keep_symmetric(surface.vertices[v]);
    }
  }
}

}  // namespace

Surface creature_surface(const Creature& creature, Index vertex_count) {
  const Box box = bounds_of(creature);
  const auto wanted = static_cast<double>(vertex_count);
  double cell = (box.high - box.low).norm() / 60;
  Surface surface = surface_at(creature, box, cell);
  const auto final_count = [&] {
    return static_cast<double>(surface.vertices.size() + edges_to_split(creature, surface).size());
  };
  for (int round = 0; round < 4; ++round) {
    cell *= std::sqrt(final_count() / wanted);
    surface = surface_at(creature, box, cell);
    if (std::abs(final_count() / wanted - 1) < 0.015) break;
  }
  // Two sheets in one cell share a vertex; another size of cells cuts them elsewhere.
  for (int attempt = 1; attempt <= 12 && !is_manifold(surface); ++attempt) {
    const double change = 0.0015 * (attempt % 2 == 0 ? attempt : -attempt);
    surface = surface_at(creature, box, cell * (1 + change));
  }
  refine_focus(creature, surface);
  relax(creature, cell, surface);
  return surface;
}

}  // namespace supple
