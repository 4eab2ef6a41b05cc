// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/fitting/whole_mesh.h"

#include "supple/offline/fitting/clip_accelerations.h"
#include "supple/offline/fitting/flesh_stiffness.h"

#include <algorithm>

namespace supple {
namespace {

void hang_skin(const Embedding& embedding, WholeMeshModel& model) {
  constexpr std::size_t nodes = WholeMeshModel::nodes;
  for (std::size_t v = 0; v < embedding.size(); ++v) {
    const auto at = static_cast<std::ptrdiff_t>(nodes * v);
    std::copy_n(embedding.vertices.begin() + at, nodes, model.surface_vertex.emplace_back().begin());
    std::copy_n(embedding.weights.begin() + at, nodes, model.surface_weight.emplace_back().begin());
  }
}

}  // namespace

Status take_mesh(const EmbeddedBody& body, MaterialModel material, std::optional<double> frequency, double base_young,
                 Progress& progress, WholeMeshModel& model) {
  model.fixed = hold_loose_pieces(body.mesh, body.fixed_vertices);
  if (model.fixed.size() == body.mesh.vertices.size())
    return input_error(
        "everything is held by bones or is a hard part, so nothing is left to be soft; see [bones] in the recipe");
  model.mesh = body.mesh;
  model.mesh.sets.clear();
  model.mesh.regions.clear();
  model.extent = body.extent();
  if (frequency) {
    progress.stage("tuning the stiffness");
    SUPPLE_RETURN_IF_ERROR(set_flesh_stiffness(model.mesh, body.fixed_vertices, material, *frequency, base_young));
  }
  if (model.mesh.materials.empty()) set_uniform_material(model.mesh, default_material());
  hang_skin(body.embedding, model);
  return {};
}

std::vector<std::vector<Vec3>> typical_shapes(const Rig& rest, const RawCharacter& character, const CharacterRig& rig) {
  constexpr std::size_t most_moments = 24;
  std::vector<std::vector<Vec3>> shapes;
  CharacterPose pose = rig.neutral();
  for (const ClipMoment& moment : typical_moments(character, most_moments)) {
    rig.sample(*moment.clip, moment.time, ClipWrap::hold, pose);
    shapes.push_back(evaluate_all(rest, pose.p));
  }
  return shapes;
}

}  // namespace supple
