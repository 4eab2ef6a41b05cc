// SPDX-License-Identifier: Apache-2.0
#include "scenes/creature_field.h"
#include "scenes/shapes.h"

#include <algorithm>
#include <array>
#include <cmath>

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
  const auto include = [&](const Vec3& center, double radius) {
    box.low = box.low.cwiseMin(center - Vec3::Constant(radius));
    box.high = box.high.cwiseMax(center + Vec3::Constant(radius));
  };
  for (const Limb& limb : creature.limbs) {
    for (const Part& part : limb.parts) {
      const bool rod = part.shape == Part::Shape::rod;
      include(part.a, rod ? part.radius_a : part.radii.maxCoeff());
      if (rod) include(part.b, part.radius_b);
    }
  }
  if (creature.symmetric) box.low.x() = -box.high.x();
  return box;
}

// The grid has a plane at x = 0, so that the surface is as symmetric as the field.
Surface surface_at(const Creature& creature, const Box& box, double cell) {
  Vec3 low = box.low - Vec3::Constant(2.5 * cell), high = box.high + Vec3::Constant(2.5 * cell);
  if (creature.symmetric) {
    low.x() = -cell * std::ceil(high.x() / cell);
    high.x() = -low.x();
  }
  return implicit_surface([&](const Vec3& x) { return creature.value(x); }, low, high, cell, field_steepness);
}

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

// Vertices move to the middle of their neighbours, along the skin: even triangles, same shape. On the plane of symmetry
// they stay there.
void relax(const Creature& creature, Surface& surface) {
  const std::size_t count = surface.vertices.size();
  for (int round = 0; round < relaxing_rounds; ++round) {
    std::vector<Vec3> sum(count, Vec3::Zero());
    std::vector<int> neighbours(count, 0);
    for (const Triangle& t : surface.triangles) {
      for (std::size_t k = 0; k < 3; ++k) {
        sum[static_cast<std::size_t>(t[k])] += surface.vertices[static_cast<std::size_t>(t[(k + 1) % 3])];
        ++neighbours[static_cast<std::size_t>(t[k])];
      }
    }
    const bool last = round + 1 == relaxing_rounds;
    for (std::size_t v = 0; v < count; ++v) {
      const Vec3 normal = creature.normal(surface.vertices[v]);
      const Vec3 step = 0.5 * (sum[v] / neighbours[v] - surface.vertices[v]);
      surface.vertices[v] += step - normal * normal.dot(step);
      if (last) surface.vertices[v] = onto_surface(creature, surface.vertices[v]);
    }
  }
}

}  // namespace

Surface creature_surface(const Creature& creature, Index vertex_count) {
  const Box box = bounds_of(creature);
  const auto wanted = static_cast<double>(vertex_count);
  double cell = (box.high - box.low).norm() / 60;
  Surface surface = surface_at(creature, box, cell);
  for (int round = 0; round < 4; ++round) {
    cell *= std::sqrt(static_cast<double>(surface.vertices.size()) / wanted);
    surface = surface_at(creature, box, cell);
    if (std::abs(static_cast<double>(surface.vertices.size()) / wanted - 1) < 0.015) break;
  }
  // Two sheets in one cell share a vertex; another size of cells cuts them elsewhere.
  for (int attempt = 1; attempt <= 12 && !is_manifold(surface); ++attempt) {
    const double change = 0.0015 * (attempt % 2 == 0 ? attempt : -attempt);
    surface = surface_at(creature, box, cell * (1 + change));
  }
  relax(creature, surface);
  return surface;
}

}  // namespace supple
