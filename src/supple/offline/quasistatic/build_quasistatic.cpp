// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/quasistatic/build_quasistatic.h"

#include "supple/offline/fitting/clip_accelerations.h"
#include "supple/offline/fitting/flesh_stiffness.h"
#include "supple/offline/quasistatic/flesh_turns.h"

namespace supple {
namespace {

void hang_on_mesh(const Embedding& embedding, QuasistaticModel& model) {
  constexpr std::size_t nodes = QuasistaticModel::nodes;
  for (std::size_t v = 0; v < embedding.size(); ++v) {
    const auto at = static_cast<std::ptrdiff_t>(nodes * v);
    std::copy_n(embedding.vertices.begin() + at, nodes, model.surface_vertex.emplace_back().begin());
    std::copy_n(embedding.weights.begin() + at, nodes, model.surface_weight.emplace_back().begin());
  }
}

}  // namespace

Result<QuasistaticModel> build_quasistatic(const EmbeddedBody& body, const RawCharacter& character,
                                           const CharacterRig& rig, const QuasistaticBuildSettings& settings,
                                           Progress& progress) {
  QuasistaticModel model;
  model.mesh = body.mesh;
  model.mesh.sets.clear();
  model.mesh.regions.clear();
  model.extent = body.extent();
  if (settings.frequency) {
    progress.stage("tuning the stiffness");
    SUPPLE_RETURN_IF_ERROR(set_flesh_stiffness(model.mesh, body.fixed_vertices, MaterialModel::corotational,
                                               *settings.frequency, settings.base_young));
  }
  if (model.mesh.materials.empty()) set_uniform_material(model.mesh, default_material());
  model.fixed = hold_loose_pieces(body.mesh, body.fixed_vertices);
  if (model.fixed.size() == model.mesh.vertices.size())
    return input_error(
        "everything is held by bones or is a hard part, so nothing is left to be soft; see [bones] in the recipe");
  model.rest = carry_rig(rig.rig(), body.carry, body.mesh.vertices);
  progress.stage("following the pose");
  std::vector<std::vector<Vec3>> shapes;
  CharacterPose pose = rig.neutral();
  for (const ClipMoment& moment : typical_moments(character, 24)) {
    rig.sample(*moment.clip, moment.time, ClipWrap::hold, pose);
    shapes.push_back(evaluate_all(*model.rest, pose.p));
  }
  choose_turns(body, rig, shapes, model);
  hang_on_mesh(body.embedding, model);
  return model;
}

}  // namespace supple
