// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/object/scene_recorder.h"

#include <fmt/format.h>

#include "supple/mesh/bounds.h"

namespace supple {
namespace {

struct Peak {
  double length = 0;
  Index vertex = 0;
};

Peak largest_displacement(const VecX& u) {
  Peak peak;
  for (Index v = 0; v < u.size() / 3; ++v) {
    const double length = u.segment<3>(3 * v).norm();
    if (!(length <= peak.length)) peak = {length, v};
  }
  return peak;
}

Vec3 mean_displacement(const VecX& u, std::span<const Index> vertices) {
  Vec3 sum = Vec3::Zero();
  for (const Index v : vertices) sum += u.segment<3>(3 * v);
  return sum / static_cast<double>(vertices.size());
}

}  // namespace

SceneSummary summarize(const SceneBody& body) {
  SceneSummary summary;
  summary.vertices = vertices_of(body.mesh).size();
  summary.elements = body.element_count();
  summary.fixed_vertices = body.fixed.size();
  summary.fixed_selections = body.fixed_selections;
  summary.mass = body.body.lumped_mass().sum() / 3;
  summary.warnings = body.warnings;
  return summary;
}

HistoryRow SceneRecorder::measure(const VecX& u, double time, double kinetic, double elastic) {
  const Peak peak = largest_displacement(u);
  if (!(peak.length <= summary_.peak_displacement)) {
    summary_.peak_displacement = peak.length;
    summary_.peak_vertex = peak.vertex;
    summary_.peak_time = time;
  }
  HistoryRow row{time, kinetic, elastic, 0.0 - body_.gravity_force.dot(u), peak.length, {}};
  for (const std::vector<Index>& track : body_.tracks) row.tracks.push_back(mean_displacement(u, track));
  return row;
}

Status SceneRecorder::conclude(const HistoryRow& last) {
  constexpr double farthest_stretch = 1000, farthest_flight = 1e9;  // times the body's size; [m]
  const double size = bounds_of(vertices_of(body_.mesh)).diagonal();
  const double most = body_.fixed.empty() ? farthest_flight : farthest_stretch * size;
  if (!(summary_.peak_displacement <= most))
    return input_error(
        fmt::format("{}: the loads carry the body, which is {:.3g} m large, by {:.3g} m; apply smaller "
                    "loads, or check units and time step",
                    scene_.name, size, summary_.peak_displacement));
  summary_.time = last.time;
  summary_.kinetic_energy = last.kinetic;
  summary_.elastic_energy = last.elastic;
  summary_.gravity_energy = last.gravity;
  summary_.final_displacement = last.largest_displacement;
  for (std::size_t k = 0; k < scene_.tracks.size(); ++k)
    summary_.tracks.push_back({scene_.tracks[k].name, body_.tracks[k].size(), last.tracks[k]});
  return {};
}

}  // namespace supple
