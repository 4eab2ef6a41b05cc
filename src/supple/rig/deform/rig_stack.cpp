// SPDX-License-Identifier: Apache-2.0
#include "supple/rig/deform/rig_stack.h"

#include "supple/base/assert.h"
#include "supple/rig/deform/deformers.h"
#include "supple/rig/deform/skin_deformer.h"

#include <algorithm>
#include <numeric>

namespace supple {
namespace {

struct StackWorkspace final : RigWorkspace {
  std::vector<std::unique_ptr<RigWorkspace>> stages;
  std::unique_ptr<WireGroups> wires;  ///< StackRig: in place of the first stage
  std::vector<Vec3> before;           ///< SumDeformer: the common input
  std::vector<Vec3> moved;            ///< and what one of them makes of it
};

std::unique_ptr<StackWorkspace> make_stage_workspaces(std::span<const DeformerPtr> stages, Index most_vertices) {
  auto workspace = std::make_unique<StackWorkspace>();
  for (const DeformerPtr& stage : stages) workspace->stages.push_back(stage->make_workspace(most_vertices));
  return workspace;
}

std::vector<Index> append_layouts(std::span<const DeformerPtr> stages, PoseLayout& layout) {
  std::vector<Index> first;
  for (const DeformerPtr& stage : stages) first.push_back(layout.append(stage->layout()));
  return first;
}

/// Empty if there is anything else.
std::vector<WireGroups::PlacedWire> wires_of(std::span<const DeformerPtr> stages) {
  std::vector<WireGroups::PlacedWire> wires;
  if (stages.empty()) return wires;
  const auto* sum = dynamic_cast<const SumDeformer*>(stages.front().get());
  Index first = 0;
  for (const DeformerPtr& part : sum != nullptr ? sum->parts() : stages.first(1)) {
    const auto* wire = dynamic_cast<const Wire*>(part.get());
    if (wire == nullptr) return {};
    wires.push_back({wire, first});
    first += wire->layout().size();
  }
  return wires;
}

void add_displacements(std::span<const Vec3> places, std::span<const Pack4> moved, std::span<Vec3> positions) {
  if (positions.empty()) return;
  // Whole vectors reach into the next vertex, which comes after; the last has none.
  for (std::size_t k = 0; k + 1 < positions.size(); ++k) store(positions[k].data(), load(places[k].data()) + moved[k]);
  const std::size_t last = positions.size() - 1;
  for (int i = 0; i < 3; ++i) positions[last][i] = places[last][i] + moved[last][i];
}

std::span<const double> slice(std::span<const double> p, Index first, const Deformer& stage) {
  return p.subspan(to_size(first), to_size(stage.layout().size()));
}

}  // namespace

std::vector<Vec3> evaluate_all(const Rig& rig, std::span<const double> p) {
  std::vector<Index> vertices(to_size(rig.vertex_count()));
  std::iota(vertices.begin(), vertices.end(), 0);
  std::vector<Vec3> positions(vertices.size());
  rig.evaluate(p, vertices, positions, *rig.make_workspace(rig.vertex_count()));
  return positions;
}

StackRig::StackRig(std::vector<Vec3> rest, std::vector<DeformerPtr> stages)
    : rest_(std::move(rest)),
      stages_(std::move(stages)),
      first_(append_layouts(stages_, layout_)),
      wires_(wires_of(stages_)) {}

std::unique_ptr<RigWorkspace> StackRig::make_workspace(Index most_vertices) const {
  auto workspace = make_stage_workspaces(stages_, most_vertices);
  if (!wires_.empty()) {
    workspace->wires = std::make_unique<WireGroups>(wires_, most_vertices);
    workspace->stages.front().reset();
  }
  return workspace;
}

void StackRig::evaluate(std::span<const double> p, std::span<const Index> vertices, std::span<Vec3> positions,
                        RigWorkspace& workspace) const {
  SUPPLE_ASSERT(static_cast<Index>(p.size()) == layout_.size() && vertices.size() == positions.size());
  auto& scratch = static_cast<StackWorkspace&>(workspace);
  if (scratch.wires) {
    const std::span<const Pack4> moved = displacements(p, vertices, workspace);
    add_displacements(scratch.wires->places(), moved, positions);
  } else {
    for (std::size_t k = 0; k < vertices.size(); ++k) positions[k] = rest_[to_size(vertices[k])];
  }
  for (std::size_t s = scratch.wires ? 1 : 0; s < stages_.size(); ++s)
    stages_[s]->deform(slice(p, first_[s], *stages_[s]), vertices, positions, *scratch.stages[s]);
}

std::span<const Pack4> StackRig::displacements(std::span<const double> p, std::span<const Index> vertices,
                                               RigWorkspace& workspace) const {
  WireGroups& wires = *static_cast<StackWorkspace&>(workspace).wires;
  wires.choose(vertices, rest_);
  return wires.displacements(p);
}

StackRig::LinearParts StackRig::linear_parts() const {
  LinearParts parts;
  if (stages_.empty() || stages_.size() > 2) return {};
  parts.skin = dynamic_cast<const SkinDeformer*>(stages_.back().get());
  if (stages_.size() == 2) parts.shapes = dynamic_cast<const BlendShapes*>(stages_.front().get());
  const bool linear = parts.skin != nullptr && parts.skin->method() == SkinningMethod::linear;
  return linear && (parts.shapes != nullptr || stages_.size() == 1) ? parts : LinearParts{};
}

StackRig::LinearState StackRig::linear_state(std::span<const double> p, RigWorkspace& workspace) const {
  const LinearParts parts = linear_parts();
  LinearState state;
  if (parts.shapes != nullptr) state.weights = slice(p, first_.front(), *parts.shapes);
  state.bones = parts.skin->bone_matrices(slice(p, first_.back(), *parts.skin),
                                          *static_cast<StackWorkspace&>(workspace).stages.back());
  return state;
}

SumDeformer::SumDeformer(std::vector<DeformerPtr> parts)
    : parts_(std::move(parts)), first_(append_layouts(parts_, layout_)) {}

std::unique_ptr<RigWorkspace> SumDeformer::make_workspace(Index most_vertices) const {
  auto workspace = make_stage_workspaces(parts_, most_vertices);
  workspace->before.resize(to_size(most_vertices));
  workspace->moved.resize(to_size(most_vertices));
  return workspace;
}

void SumDeformer::deform(std::span<const double> p, std::span<const Index> vertices, std::span<Vec3> positions,
                         RigWorkspace& workspace) const {
  auto& scratch = static_cast<StackWorkspace&>(workspace);
  SUPPLE_ASSERT(positions.size() <= scratch.before.size());
  std::copy(positions.begin(), positions.end(), scratch.before.begin());
  const std::span<const Vec3> before(scratch.before.data(), positions.size());
  const std::span<Vec3> moved(scratch.moved.data(), positions.size());
  for (std::size_t s = 0; s < parts_.size(); ++s)
    parts_[s]->add_displacements(slice(p, first_[s], *parts_[s]), vertices, before, positions, moved,
                                 *scratch.stages[s]);
}

CallbackDeformer::CallbackDeformer(PoseLayout layout, Function function)
    : layout_(std::move(layout)), function_(std::move(function)) {}

CallbackDeformer::CallbackDeformer(PoseLayout layout, RigCallback callback, void* user)
    : layout_(std::move(layout)),
      function_(
          [callback, user](std::span<const double> p, std::span<const Index> vertices, std::span<Vec3> positions) {
            static_assert(sizeof(Vec3) == 3 * sizeof(double));
            callback(user, p.data(), vertices.data(), vertices.size(), reinterpret_cast<double*>(positions.data()));
          }) {}

void CallbackDeformer::deform(std::span<const double> p, std::span<const Index> vertices, std::span<Vec3> positions,
                              RigWorkspace& /*workspace*/) const {
  function_(p, vertices, positions);
}

}  // namespace supple
