// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/fitting/embedded_body.h"

#include "supple/mesh/bounds.h"
#include "supple/offline/fitting/surface_carry.h"
#include "supple/offline/stage_archives.h"

namespace supple {
namespace {

/// All meshes of the character in the rig's neutral pose.
Surface neutral_skin(const RawCharacter& character, const CharacterRig& rig) {
  Surface skin;
  skin.vertices = evaluate_all(*rig.rig(), rig.rig()->layout().neutral);
  for (std::size_t m = 0; m < character.meshes.size(); ++m) {
    const Index offset = rig.first_vertex()[m];
    for (const Triangle& t : character.meshes[m].surface.triangles)
      skin.triangles.push_back({t[0] + offset, t[1] + offset, t[2] + offset});
  }
  return skin;
}

Result<TetMeshingResult> fill_with_tetrahedra(const Surface& skin, const EmbedSettings& settings, Progress& progress) {
  const auto& [tets, keep_separate, graded, distance_samples] = settings.meshing;
  ContentHash content;
  add_content(content, skin);
  content.add(tets).add(keep_separate).add(graded).add(distance_samples);
  return find_or_make(
      *settings.store, "tets", content, [&] { return tetrahedralize(skin, settings.meshing, progress); },
      [](const TetMeshingResult& meshed) { return encode_stage(meshed); }, decode_meshing);
}

}  // namespace

Result<EmbeddedBody> embed_character(const RawCharacter& character, const CharacterRig& rig,
                                     const EmbedSettings& settings, Progress& progress) {
  if (rig.first_vertex().size() != character.meshes.size() + 1)
    return input_error("the rig leaves out some meshes of the character; take them out of the character first");
  EmbeddedBody body;
  body.skin = neutral_skin(character, rig);
  Result<TetMeshingResult> meshed = fill_with_tetrahedra(body.skin, settings, progress);
  if (!meshed.ok()) return meshed.error();
  body.mesh = std::move(meshed->mesh);
  body.meshing = meshed->report;
  progress.stage("embedding the skin");
  Result<Embedding> embedding = embed(body.mesh, body.skin.vertices);
  if (!embedding.ok()) return embedding.error();
  body.embedding = std::move(*embedding);
  body.carry = make_surface_carry(body.mesh.vertices, body.skin);
  Result<std::vector<BoneSegment>> bones = find_bones(character, rig, settings.bones);
  if (!bones.ok()) return bones.error();
  body.bones = std::move(*bones);
  Result<std::vector<char>> hard = hard_vertices(character, rig, settings.bones);
  if (!hard.ok()) return hard.error();
  body.hard = std::move(*hard);
  const double radius = settings.bones.radius * bounds_of(body.mesh.vertices).diagonal();
  body.fixed_vertices = fixed_by_bones(body.mesh, body.bones, radius, body.carry, body.hard);
  if (body.fixed_vertices.empty())
    body.warnings.emplace_back("no bone of the skeleton crosses the body, so nothing holds the flesh to the rig");
  return body;
}

Result<FittedPoses> fit_poses(const EmbeddedBody& body, std::shared_ptr<const Rig> surface_rig,
                              const std::vector<std::vector<double>>& poses, const FitSettings& settings,
                              Progress& progress) {
  auto carried = std::make_shared<const CarriedRig>(surface_rig, body.carry, body.mesh.vertices);
  FittedPoses result{carried, {}};
  Result<RestShapeFitter> fitter = RestShapeFitter::create(body.mesh, body.skin, body.embedding, settings);
  if (!fitter.ok()) return fitter.error();
  progress.stage("fitting rest shapes");
  std::vector<PoseCorrection> corrections;
  for (std::size_t k = 0; k < poses.size(); ++k) {
    if (progress.cancelled()) return failure("cancelled");
    const FittedShape fitted = fitter->fit(evaluate_all(*surface_rig, poses[k]), evaluate_all(*carried, poses[k]));
    result.reports.push_back(fitted.report);
    corrections.push_back(correction_towards(*carried, poses[k], fitted.positions));
    progress.update(static_cast<double>(k + 1) / static_cast<double>(poses.size()));
  }
  if (corrections.empty()) return result;
  Result<std::shared_ptr<const PoseSpaceRig>> corrected = PoseSpaceRig::create(carried, std::move(corrections));
  if (!corrected.ok()) return corrected.error();
  result.rig = *corrected;
  return result;
}

}  // namespace supple
