// SPDX-License-Identifier: Apache-2.0
#include "supple/rig/carried_rig.h"

#include "supple/base/assert.h"

namespace supple {
namespace {

struct Workspace final : RigWorkspace {
  std::vector<Index> surface_vertices;
  std::vector<Vec3> surface_positions;
  std::unique_ptr<RigWorkspace> surface;
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
  const auto count = static_cast<std::size_t>(most_vertices) * SurfaceCarry::neighbours;
  workspace->surface_vertices.resize(count);
  workspace->surface_positions.resize(count);
  workspace->surface = surface_->make_workspace(static_cast<Index>(count));
  return workspace;
}

void CarriedRig::evaluate(std::span<const double> p, std::span<const Index> vertices, std::span<Vec3> positions,
                          RigWorkspace& workspace) const {
  auto& scratch = static_cast<Workspace&>(workspace);
  const std::size_t count = vertices.size() * SurfaceCarry::neighbours;
  const std::span<Index> wanted(scratch.surface_vertices.data(), count);
  const std::span<Vec3> found(scratch.surface_positions.data(), count);
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    const auto& neighbours = carry_.vertex[static_cast<std::size_t>(vertices[i])];
    std::copy(neighbours.begin(), neighbours.end(),
              wanted.begin() + static_cast<std::ptrdiff_t>(SurfaceCarry::neighbours * i));
  }
  surface_->evaluate(p, wanted, found, *scratch.surface);
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    const auto v = static_cast<std::size_t>(vertices[i]);
    positions[i] = offset_[v];
    for (std::size_t k = 0; k < SurfaceCarry::neighbours; ++k)
      positions[i] += carry_.weight[v][k] * found[SurfaceCarry::neighbours * i + k];
  }
}

}  // namespace supple
