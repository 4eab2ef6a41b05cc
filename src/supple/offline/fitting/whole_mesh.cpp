// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/fitting/whole_mesh.h"

#include <fmt/format.h>

#include "supple/mesh/bounds.h"
#include "supple/mesh/topology.h"
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

/// Bones that no part of the flesh is around: what hangs on them is drawn to wherever the skin goes.
void tell_bones_outside(const EmbeddedBody& body, std::vector<std::string>& warnings) {
  const Bounds whole = bounds_of(body.mesh.vertices);
  const double margin = 0.5 * whole.diagonal();
  Index outside = 0;
  for (const BoneSegment& bone : body.bones) {
    const auto far = [&](const Vec3& x) {
      return (x.array() < whole.min.array() - margin).any() || (x.array() > whole.max.array() + margin).any();
    };
    outside += far(bone.from) ? 1 : 0;
  }
  if (outside > 0)
    warnings.push_back(fmt::format(
        "{} of {} bones {} far outside of the flesh, which they can't hold there: look whether skeleton and "
        "skin are bound in one place and size",
        outside, body.bones.size(), outside == 1 ? "begins" : "begin"));
}

/// Pieces that no bone crosses are carried as the skin around them is, and don't give way.
void tell_loose_pieces(const EmbeddedBody& body, std::vector<std::string>& warnings) {
  const Components pieces = connected_components(body.mesh);
  std::vector<char> held(to_size(pieces.count), 0);
  std::vector<char> is_fixed(body.mesh.vertices.size(), 0);
  for (const Index v : body.fixed_vertices) is_fixed[to_size(v)] = 1;
  for (std::size_t e = 0; e < body.mesh.elements.size(); ++e)
    for (const Index v : body.mesh.elements[e])
      if (is_fixed[to_size(v)] != 0) held[to_size(pieces.label[e])] = 1;
  const auto loose = std::count(held.begin(), held.end(), 0);
  if (loose > 0)
    warnings.push_back(
        fmt::format("{} of {} pieces of flesh {} crossed by no bone: {} skin is carried as the rig has it, without "
                    "giving way; let a "
                    "bone cross {}, or leave {} out ([body] exclude)",
                    loose, pieces.count, loose == 1 ? "is" : "are", loose == 1 ? "its" : "their",
                    loose == 1 ? "it" : "them", loose == 1 ? "it" : "them"));
}

}  // namespace

Status take_mesh(const EmbeddedBody& body, MaterialModel material, std::optional<double> frequency, double base_young,
                 Progress& progress, WholeMeshModel& model) {
  if (body.fixed_vertices.empty())
    return input_error(
        "no bone of the skeleton crosses the flesh and nothing of it is a hard part, so nothing holds it to the rig: "
        "look "
        "whether skeleton and skin are bound in one place and size, and at [bones] in the recipe");
  tell_bones_outside(body, model.warnings);
  tell_loose_pieces(body, model.warnings);
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
