// SPDX-License-Identifier: Apache-2.0
#include "samples/creature_field.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace supple {
namespace {

constexpr std::size_t most_influences = 4;

Vec3 mirrored(const Vec3& x) { return x.cwiseProduct(Vec3(-1, 1, 1)); }

struct SkinPart {
  const Part* part;
  Index joint, twin;
};

// The parts that add to the skin.
std::vector<SkinPart> skin_parts(const Creature& creature) {
  std::vector<SkinPart> result;
  for (const Limb& limb : creature.limbs) {
    for (const Part& part : limb.parts)
      if (!part.carve) result.push_back({&part, part.joint, creature.symmetric ? creature.twin(part.joint) : -1});
  }
  return result;
}

// Calls visit(part, joint, value) for each part, on both sides.
template <class Visit>
void for_each_part(const std::vector<SkinPart>& parts, const Vec3& x, Visit&& visit) {
  for (const SkinPart& p : parts) {
    if (p.twin == p.joint) {
      visit(*p.part, p.joint, part_value(*p.part, Vec3(std::abs(x.x()), x.y(), x.z())));
      continue;
    }
    visit(*p.part, p.joint, part_value(*p.part, x));
    if (p.twin >= 0) visit(*p.part, p.twin, part_value(*p.part, mirrored(x)));
  }
}

// One row per vertex: how much each joint has. Near a part its joint's share is large; the width of the change from
// one part to the next goes with their thickness.
MatX raw_weights(const Creature& creature, const Surface& surface) {
  const auto joints = static_cast<Index>(creature.joints.size());
  const std::vector<SkinPart> parts = skin_parts(creature);
  MatX weights = MatX::Zero(static_cast<Index>(surface.vertices.size()), joints);
  for (std::size_t v = 0; v < surface.vertices.size(); ++v) {
    double nearest = 1e9;
    const Vec3& x = surface.vertices[v];
    for_each_part(parts, x, [&](const Part& part, Index, double value) {
      if (part.skins) nearest = std::min(nearest, value);
    });
    VecX share = VecX::Zero(joints);
    for_each_part(parts, x, [&](const Part& part, Index joint, double value) {
      if (!part.skins) return;
      const double width = creature.weight_reach * std::min(part_thickness(part), 0.25);
      share[joint] = std::max(share[joint], std::exp(-(value - nearest) / (0.35 * width)));
    });
    weights.row(static_cast<Index>(v)) = (share / share.sum()).transpose();
  }
  return weights;
}

void smooth_over_edges(const Surface& surface, int rounds, MatX& weights) {
  VecX degree = VecX::Zero(weights.rows());
  for (const Triangle& t : surface.triangles)
    for (const Index v : t) degree[v] += 1;
  for (int round = 0; round < rounds; ++round) {
    MatX sum = MatX::Zero(weights.rows(), weights.cols());
    for (const Triangle& t : surface.triangles)
      for (std::size_t k = 0; k < 3; ++k) sum.row(t[k]) += weights.row(t[(k + 1) % 3]);
    weights = 0.5 * weights + 0.5 * (degree.cwiseInverse().asDiagonal() * sum);
  }
}

SkinWeights largest_weights(const MatX& weights) {
  SkinWeights result;
  result.first.push_back(0);
  for (Index v = 0; v < weights.rows(); ++v) {
    std::vector<Index> order;
    for (Index j = 0; j < weights.cols(); ++j)
      if (weights(v, j) > 0.004) order.push_back(j);
    std::sort(order.begin(), order.end(), [&](Index a, Index b) { return weights(v, a) > weights(v, b); });
    order.resize(std::min(order.size(), most_influences));
    std::sort(order.begin(), order.end());
    double sum = 0;
    for (const Index j : order) sum += weights(v, j);
    for (const Index j : order) {
      result.joint.push_back(j);
      result.weight.push_back(weights(v, j) / sum);
    }
    result.first.push_back(static_cast<Index>(result.joint.size()));
  }
  return result;
}

// Hat functions along the line through the links' centres, which are at equal distances.
MatX chain_weights(const Creature& creature, const Surface& surface) {
  MatX weights = MatX::Zero(static_cast<Index>(surface.vertices.size()), static_cast<Index>(creature.joints.size()));
  const std::size_t last = creature.chain.size() - 1;
  const Vec3 start = creature.chain.front().center, along = creature.chain.back().center - start;
  for (std::size_t v = 0; v < surface.vertices.size(); ++v) {
    const double place = (surface.vertices[v] - start).dot(along) / along.squaredNorm() * static_cast<double>(last);
    const double clamped = std::clamp(place, 0.0, static_cast<double>(last));
    const std::size_t k = std::min(to_size(clamped), last - 1);
    const double t = clamped - static_cast<double>(k);
    weights(static_cast<Index>(v), creature.chain[k].joint) += 1 - t;
    weights(static_cast<Index>(v), creature.chain[k + 1].joint) += t;
  }
  return weights;
}

// ---- colours --------------------------------------------------------------------------------------------------------

double smooth_step(double low, double high, double x) {
  const double t = std::clamp((x - low) / (high - low), 0.0, 1.0);
  return t * t * (3 - 2 * t);
}

Color part_color(const std::vector<SkinPart>& parts, const Vec3& x) {
  double nearest = 1e9;
  for_each_part(parts, x, [&](const Part&, Index, double value) { nearest = std::min(nearest, value); });
  Color sum = Color::Zero();
  float total = 0;
  for_each_part(parts, x, [&](const Part& part, Index, double value) {
    const auto weight = static_cast<float>(std::exp(-(value - nearest) / (0.5 * part.blend + 1e-4)));
    sum += weight * to_linear(part.color);
    total += weight;
  });
  return sum / total;
}

void apply_spots(const Creature& creature, const Vec3& x, Color& color) {
  for (const PaintSpot& spot : creature.spots) {
    const Vec3 at = spot.both_sides ? Vec3(std::abs(x.x()), x.y(), x.z()) : x;
    const double s = (at - spot.center).cwiseQuotient(spot.radii).norm();
    const auto inside = static_cast<float>(1 - smooth_step(1 - spot.softness, 1, s));
    color += inside * (to_linear(spot.color) - color);
  }
}

// How open the place is to the sky: 1 on a ridge, less in a fold.
double openness(const Creature& creature, const Vec3& x, double size) {
  const Vec3 normal = creature.normal(x);
  double sum = 0;
  constexpr std::array<double, 3> steps = {0.012, 0.035, 0.08};
  for (const double step : steps) sum += std::clamp(creature.value(x + step * size * normal) / (step * size), 0.0, 1.0);
  return sum / static_cast<double>(steps.size());
}

double ripple(const Vec3& x, double frequency) {
  const Vec3 p = frequency * Vec3(std::abs(x.x()), x.y(), x.z());
  return std::sin(p.x() + 1.7 * std::sin(p.y())) * std::sin(p.y() + 1.3 * std::sin(p.z())) *
         std::sin(p.z() + 1.1 * std::sin(p.x()));
}

}  // namespace

SkinWeights creature_weights(const Creature& creature, const Surface& surface) {
  if (!creature.chain.empty()) return largest_weights(chain_weights(creature, surface));
  MatX weights = raw_weights(creature, surface);
  smooth_over_edges(surface, creature.weight_smoothing, weights);
  return largest_weights(weights);
}

void paint_creature(const Creature& creature, Surface& surface) {
  Vec3 low = surface.vertices.front(), high = low;
  for (const Vec3& x : surface.vertices) {
    low = low.cwiseMin(x);
    high = high.cwiseMax(x);
  }
  const double size = (high - low).norm();
  const std::vector<SkinPart> parts = skin_parts(creature);
  VertexAttribute colors{"COLOR_0", 3, {}};
  for (const Vec3& x : surface.vertices) {
    Color color = part_color(parts, x);
    apply_spots(creature, x, color);
    const double shade = 0.5 + 0.5 * openness(creature, x, size);
    const double mottle = 1 + creature.mottle * (ripple(x, 25 / size) + 0.6 * ripple(x, 71 / size));
    color *= static_cast<float>(std::min(shade * mottle, 1.1));
    for (const float c : color) colors.values.push_back(std::clamp(c, 0.0f, 1.0f));
  }
  surface.attributes.push_back(std::move(colors));
}

}  // namespace supple
