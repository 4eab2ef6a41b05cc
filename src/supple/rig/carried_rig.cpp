// SPDX-License-Identifier: Apache-2.0
#include "supple/rig/carried_rig.h"

#include "supple/base/assert.h"

#include <algorithm>

namespace supple {
namespace {

/// Carried points share most of the surface vertices they hang on. Each is asked for once; which they are is found out
/// again only when other points are wanted than the last time.
struct Workspace final : RigWorkspace {
  std::vector<Index> points;            ///< of the last evaluation
  std::vector<Index> surface_vertices;  ///< that they hang on, each once
  std::vector<Index> place;             ///< of a surface vertex among those, or -1
  std::vector<Vec3> surface_positions;
  std::unique_ptr<RigWorkspace> surface;

  void find_surface_vertices(std::span<const Index> wanted, const SurfaceCarry& carry) {
    if (std::equal(points.begin(), points.end(), wanted.begin(), wanted.end())) return;
    for (const Index v : surface_vertices) place[static_cast<std::size_t>(v)] = -1;
    surface_vertices.clear();
    points.assign(wanted.begin(), wanted.end());
    for (const Index point : wanted) {
      for (const Index v : carry.vertex[static_cast<std::size_t>(point)]) {
        Index& at = place[static_cast<std::size_t>(v)];
        if (at >= 0) continue;
        at = static_cast<Index>(surface_vertices.size());
        surface_vertices.push_back(v);
      }
    }
  }
};

}  // namespace

CarriedRig::CarriedRig(std::shared_ptr<const Rig> surface, SurfaceCarry carry, std::vector<Vec3> rest)
    : surface_(std::move(surface)), carry_(std::move(carry)), rest_(std::move(rest)) {
  SUPPLE_ASSERT(carry_.size() == rest_.size());
  const std::vector<Vec3> neutral = evaluate_all(*surface_, surface_->layout().neutral);
  offset_ = rest_;
  for (std::size_t i = 0; i < offset_.size(); ++i) {
    for (std::size_t k = 0; k < SurfaceCarry::neighbours; ++k)
      offset_[i] -= carry_.weight[i][k] * neutral[static_cast<std::size_t>(carry_.vertex[i][k])];
  }
}

std::unique_ptr<RigWorkspace> CarriedRig::make_workspace(Index most_vertices) const {
  auto workspace = std::make_unique<Workspace>();
  const auto most = std::min(static_cast<std::size_t>(most_vertices) * SurfaceCarry::neighbours,
                             static_cast<std::size_t>(surface_->vertex_count()));
  workspace->points.reserve(static_cast<std::size_t>(most_vertices));
  workspace->surface_vertices.reserve(most);
  workspace->place.assign(static_cast<std::size_t>(surface_->vertex_count()), -1);
  workspace->surface_positions.resize(most);
  workspace->surface = surface_->make_workspace(static_cast<Index>(most));
  return workspace;
}

void CarriedRig::evaluate(std::span<const double> p, std::span<const Index> vertices, std::span<Vec3> positions,
                          RigWorkspace& workspace) const {
  auto& scratch = static_cast<Workspace&>(workspace);
  scratch.find_surface_vertices(vertices, carry_);
  const std::span<Vec3> found(scratch.surface_positions.data(), scratch.surface_vertices.size());
  surface_->evaluate(p, scratch.surface_vertices, found, *scratch.surface);
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    const auto v = static_cast<std::size_t>(vertices[i]);
    positions[i] = offset_[v];
    for (std::size_t k = 0; k < SurfaceCarry::neighbours; ++k)
      positions[i] += carry_.weight[v][k] *
                      found[static_cast<std::size_t>(scratch.place[static_cast<std::size_t>(carry_.vertex[v][k])])];
  }
}

}  // namespace supple
