// SPDX-License-Identifier: Apache-2.0
// The heart: an implicit surface (ventricles, atria, great vessels and coronary arteries, melted together), its vessels
// cut open. Seen from the front; the body's right is at negative x. Modelled in units of a fiftieth of a metre.
#include "samples/shapes.h"
#include "samples/subspace_sample_parts.h"
#include "supple/mesh/edges.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

constexpr double metres = 0.0203;  // per unit
constexpr double cell_size = 0.114;

/// A tube along a path, whose radius goes from `first` to `last`. Its end is cut open if `open`.
struct Tube {
  std::vector<Vec3> path;
  double first, last;
  bool open = true;
};

/// The plane that cuts a vessel open.
struct Cut {
  Vec3 at, direction;
  double radius;
};

double ellipsoid_distance(const Vec3& p, const Vec3& center, const Vec3& radii) {
  const Vec3 q = (p - center).cwiseQuotient(radii);
  return q.norm() * (q.norm() - 1) / std::max(q.cwiseQuotient(radii).norm(), 1e-9);
}

double tube_distance(const Vec3& p, const Tube& tube) {
  double distance = 1e9;
  const auto count = static_cast<double>(tube.path.size() - 1);
  for (std::size_t i = 0; i + 1 < tube.path.size(); ++i) {
    const auto radius = [&](double at) { return tube.first + at / count * (tube.last - tube.first); };
    const double at = static_cast<double>(i);
    distance = std::min(distance, tapered_distance(p, tube.path[i], tube.path[i + 1], radius(at), radius(at + 1)));
  }
  return distance;
}

/// Corners cut twice, for round bends.
std::vector<Vec3> rounded(std::vector<Vec3> path) {
  for (int round = 0; round < 2; ++round) {
    std::vector<Vec3> finer = {path.front()};
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
      finer.emplace_back(0.75 * path[i] + 0.25 * path[i + 1]);
      finer.emplace_back(0.25 * path[i] + 0.75 * path[i + 1]);
    }
    finer.push_back(path.back());
    path = std::move(finer);
  }
  return path;
}

std::vector<Tube> great_vessels() {
  std::vector<Tube> vessels = {
      // aorta: up, over and down the back; then the three arteries off its arch
      {{{0.0, 0.9, 0.1}, {-0.35, 2.5, 0.35}, {-0.2, 3.7, 0.1}, {0.8, 4.1, -0.5}, {1.6, 3.5, -1.2}, {1.55, 2.9, -1.9}},
       0.66,
       0.5},
      {{{0.0, 3.3, 0.1}, {-0.1, 4.4, 0.15}, {-0.2, 5.2, 0.15}}, 0.26, 0.21},
      {{{0.45, 3.6, -0.25}, {0.5, 5.25, -0.25}}, 0.2, 0.18},
      {{{0.95, 3.5, -0.6}, {1.15, 4.4, -0.6}, {1.3, 5.1, -0.6}}, 0.22, 0.19},
      // pulmonary trunk and its two branches
      {{{-0.45, 0.8, 1.3}, {0.1, 1.9, 1.25}, {0.75, 2.7, 0.55}, {1.4, 2.85, 0.1}, {2.55, 3.05, -0.1}}, 0.66, 0.36},
      {{{0.7, 2.65, 0.1}, {-0.3, 2.7, -0.75}, {-1.4, 2.65, -0.8}, {-2.5, 2.75, -0.7}}, 0.4, 0.33},
      // venae cavae
      {{{-1.55, 1.6, 0.0}, {-1.45, 3.0, 0.05}, {-1.35, 4.3, 0.0}}, 0.46, 0.42},
      {{{-1.6, 1.2, -0.4}, {-1.55, -0.2, -0.95}, {-1.6, -1.5, -1.05}}, 0.46, 0.44},
      // pulmonary veins
      {{{0.9, 1.8, -1.0}, {2.7, 2.1, -1.25}}, 0.3, 0.26},
      {{{0.9, 1.5, -1.0}, {2.7, 1.35, -1.35}}, 0.3, 0.26},
      {{{0.0, 1.7, -1.2}, {-2.6, 1.95, -1.4}}, 0.3, 0.26},
      {{{0.0, 1.4, -1.2}, {-2.6, 1.2, -1.45}}, 0.3, 0.26},
  };
  for (Tube& vessel : vessels) vessel.path = rounded(vessel.path);
  return vessels;
}

double muscle(const Vec3& p) {
  const double left = melted(ellipsoid_distance(p, Vec3(0.55, -0.3, -0.05), Vec3(1.5, 2.1, 1.5)),
                             tapered_distance(p, Vec3(0.75, -1.0, 0.1), Vec3(1.05, -2.6, 0.4), 1.15, 0.5), 0.9);
  const double right = tapered_distance(p, Vec3(-0.7, 0.25, 0.5), Vec3(0.4, -1.75, 0.7), 1.3, 0.75);
  const double right_atrium = ellipsoid_distance(p, Vec3(-1.5, 1.3, 0.05), Vec3(0.9, 1.1, 1.0));
  const double right_auricle = ellipsoid_distance(p, Vec3(-1.0, 1.75, 0.85), Vec3(0.75, 0.5, 0.45));
  const double left_atrium = ellipsoid_distance(p, Vec3(0.55, 1.6, -0.95), Vec3(1.3, 0.85, 0.85));
  const double left_auricle = ellipsoid_distance(p, Vec3(1.45, 1.75, 0.0), Vec3(0.55, 0.4, 0.75));
  const double ventricles = melted(left, right, 0.35);
  const double atria = melted(melted(right_atrium, right_auricle, 0.3), melted(left_atrium, left_auricle, 0.3), 0.4);
  return melted(ventricles, atria, 0.3);
}

/// Coronary arteries: drawn on the front and laid onto the muscle from there.
std::vector<Tube> coronaries() {
  const std::vector<std::vector<std::array<double, 2>>> drawn = {
      {{0.75, 1.45}, {0.62, 0.7}, {0.72, 0.0}, {0.82, -0.8}, {1.0, -1.6}, {1.15, -2.5}},
      {{0.62, 0.7}, {1.2, 0.2}, {1.5, -0.5}, {1.55, -1.2}},
      {{0.72, 0.0}, {1.1, -0.5}, {1.3, -1.2}, {1.35, -1.8}},
      {{-0.35, 1.5}, {-0.9, 1.05}, {-1.35, 0.45}, {-1.5, -0.3}, {-1.15, -0.9}, {-0.5, -1.6}},
      {{-1.0, 0.9}, {-0.6, 0.3}, {-0.2, -0.5}, {0.1, -1.2}},
  };
  std::vector<Tube> tubes;
  for (const auto& line : drawn) {
    Tube tube{{}, 0.14, 0.07, false};
    for (const auto& [x, y] : line) tube.path.emplace_back(x, y, 0);
    tube.path = rounded(tube.path);
    for (Vec3& p : tube.path) {
      p.z() = 4;
      for (int step = 0; step < 60; ++step) p.z() -= 0.8 * muscle(p);
    }
    tubes.push_back(std::move(tube));
  }
  return tubes;
}

std::vector<Cut> cuts_of(const std::vector<Tube>& vessels) {
  std::vector<Cut> cuts;
  for (const Tube& vessel : vessels) {
    const Vec3& end = vessel.path.back();
    if (vessel.open) cuts.push_back({end, (end - vessel.path[vessel.path.size() - 2]).normalized(), vessel.last});
  }
  return cuts;
}

bool beyond(const Cut& cut, const Vec3& p, double reach) {
  const double along = (p - cut.at).dot(cut.direction);
  const double across = ((p - cut.at) - along * cut.direction).norm();
  return along > -reach && along < 1.5 * cut.radius && across < 1.25 * cut.radius + reach;
}

/// Takes off the round caps of the vessels and trims the rims flat.
void cut_open(Surface& surface, const std::vector<Cut>& cuts) {
  const auto at = [&](Index v) -> Vec3& { return surface.vertices[to_size(v)]; };
  for (const Cut& cut : cuts) {
    std::erase_if(surface.triangles,
                  [&](const Triangle& t) { return beyond(cut, (at(t[0]) + at(t[1]) + at(t[2])) / 3, 0); });
  }
  const std::vector<EdgeUse> uses = sorted_edge_uses(surface.triangles);
  std::vector<Index> rim;
  for_each_edge(uses, [&](std::span<const EdgeUse> edge) {
    if (edge.size() == 1) rim.insert(rim.end(), {edge[0].low, edge[0].high});
  });
  std::sort(rim.begin(), rim.end());
  rim.erase(std::unique(rim.begin(), rim.end()), rim.end());
  for (const Index v : rim) {
    for (const Cut& cut : cuts) {
      if (beyond(cut, at(v), cell_size)) at(v) -= (at(v) - cut.at).dot(cut.direction) * cut.direction;
    }
  }
  drop_unused_vertices(surface);
}

}  // namespace

SubspaceSample make_heart() {
  const std::vector<Tube> vessels = great_vessels(), arteries = coronaries();
  const auto value = [&](const Vec3& p) {
    double distance = muscle(p);
    for (const Tube& vessel : vessels) distance = melted(distance, tube_distance(p, vessel), 0.25);
    for (const Tube& artery : arteries) distance = melted(distance, tube_distance(p, artery), 0.08);
    return distance;
  };
  Surface surface = implicit_surface(value, Vec3(-3.2, -3.6, -2.8), Vec3(3.3, 5.7, 2.6), cell_size);
  const std::vector<Cut> cuts = cuts_of(vessels);
  cut_open(surface, cuts);
  for (Vec3& p : surface.vertices) p *= metres;
  SampleBody body;
  body.resolution = 80;
  body.fill_interior = false;
  body.material = {.name = "muscle", .young = 5e4, .poisson = 0.4, .density = 1060};
  body.fixed = [cuts](const Vec3& p) {
    return std::any_of(cuts.begin(), cuts.end(), [&](const Cut& cut) { return beyond(cut, p / metres, 0.12); });
  };
  body.view_direction = Vec3(0.15, 0.12, 1);
  return finish_sample("heart", std::move(surface), body);
}

}  // namespace supple
