// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/fitting/embedded_body.h"

#include <fmt/format.h>

#include "supple/base/parallel.h"
#include "supple/mesh/bounds.h"
#include "supple/mesh/quality.h"
#include "supple/mesh/topology.h"
#include "supple/offline/fitting/calm_skin.h"
#include "supple/offline/fitting/flesh_stiffness.h"
#include "supple/offline/fitting/own_tetrahedra.h"
#include "supple/offline/fitting/surface_carry.h"
#include "supple/offline/stage_archives.h"

#include <algorithm>

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
  const auto& [tets, keep_separate, graded, distance_samples, axes] = settings.meshing;
  ContentHash content;
  add_content(content, skin);
  content.add(tets).add(keep_separate).add(graded).add(distance_samples);
  for (const double q : axes.coeffs()) content.add(q);
  return find_or_make(
      *settings.store, "tets", content, [&] { return tetrahedralize(skin, settings.meshing, progress); },
      [](const TetMeshingResult& meshed) { return encode_stage(meshed); }, decode_meshing);
}

/// Holds what hard skin hangs on: a tooth whose tetrahedron has one soft corner would sway with it.
void hold_hard_skin(const Embedding& embedding, std::span<const char> hard, std::vector<Index>& fixed) {
  constexpr double rounding = 1e-9;
  const auto nodes = to_size(embedding.nodes);
  for (std::size_t v = 0; v < embedding.size(); ++v)
    for (std::size_t k = nodes * v; hard[v] && k < nodes * (v + 1); ++k)
      if (embedding.weights[k] > rounding) fixed.push_back(embedding.vertices[k]);
  std::sort(fixed.begin(), fixed.end());
  fixed.erase(std::unique(fixed.begin(), fixed.end()), fixed.end());
}

/// Hangs single vertices of the skin so that they go with their neighbours, on flesh that is as unpainted flesh is: how
/// stiff it is doesn't count, only where it is stiffer.
Status calm_body(EmbeddedBody& body) {
  constexpr double any_frequency = 1;
  const std::vector<Index> held = hold_loose_pieces(body.mesh, body.fixed_vertices);
  if (held.size() == body.mesh.vertices.size()) return {};
  TetMesh plain = body.mesh;
  set_uniform_material(plain, default_material());
  SUPPLE_RETURN_IF_ERROR(
      set_flesh_stiffness(plain, body.fixed_vertices, MaterialModel::linear, any_frequency, default_material().young));
  const Result<ElasticBody> elastic = ElasticBody::create(plain, MaterialModel::linear);
  SUPPLE_RETURN_IF_ERROR(elastic);
  const RigidTransform frame = own_frame(body.axes, body.skin.vertices);
  const Result<MatX> swings = sample_swings(body.mesh, *elastic, held, frame, 0.5 * body.extent());
  SUPPLE_RETURN_IF_ERROR(swings);
  Result<Embedding> calm = calm_skin(body.mesh, *swings, body.skin, body.hard, std::move(body.embedding));
  SUPPLE_RETURN_IF_ERROR(calm);
  body.embedding = std::move(*calm);
  return {};
}

/// What is told of tetrahedra that hold the skin well enough, but not well.
std::vector<std::string> remarks_on(const SkinCover& cover, const std::string& name) {
  constexpr double much_larger = 3;
  std::vector<std::string> remarks;
  if (cover.visible > 0)
    remarks.push_back(
        fmt::format("{}: {:.2g} % of the skin's vertices are outside of the tetrahedra by more than {:g} % of the "
                    "character's size, up to {:.3g} m; they hang on the nearest one",
                    name, 100 * cover.visible, 100 * OwnTetSettings{}.remark_share, cover.farthest));
  if (cover.size_ratio > much_larger)
    remarks.push_back(fmt::format("{}: the tetrahedra are {:.3g} times as large as the skin; are they in its units?",
                                  name, cover.size_ratio));
  return remarks;
}

/// Tetrahedra that somebody brought, with what the mesher reports of its own.
Result<TetMeshingResult> take_tetrahedra(const OwnTetrahedra& own, const Surface& skin,
                                         std::vector<std::string>& warnings) {
  const Result<SkinCover> cover = check_cover(own.mesh, skin, own.name);
  SUPPLE_RETURN_IF_ERROR(cover);
  for (std::string& remark : remarks_on(*cover, own.name)) warnings.push_back(std::move(remark));
  TetMeshingResult taken;
  taken.mesh = own.mesh;
  const QualityReport shape = quality(own.mesh);
  taken.report.diagonal = bounds_of(skin.vertices).diagonal();
  taken.report.min_dihedral = shape.dihedral.min;
  taken.report.max_dihedral = shape.dihedral.max;
  taken.report.volume = shape.volume;
  taken.report.input_pieces = connected_components(skin).count;
  taken.report.pieces = connected_components(own.mesh).count;
  return taken;
}

/// A fitter of its own for every pose, so that poses are fitted side by side. `embedding`: one that reproduces the
/// neutral skin.
Result<FittedShape> find_or_fit(const EmbeddedBody& body, const Embedding& embedding, const std::vector<Vec3>& posed,
                                const std::vector<Vec3>& guess, const FitSettings& settings, StageStore& store) {
  const auto make = [&]() -> Result<FittedShape> {
    Result<RestShapeFitter> fitter = RestShapeFitter::create(body.mesh, body.skin, embedding, settings);
    SUPPLE_RETURN_IF_ERROR(fitter);
    return fitter->fit(posed, guess);
  };
  ContentHash content;
  content.add(body.mesh.vertices).add(body.mesh.elements);
  add_content(content, body.skin);
  content.add(embedding.vertices).add(embedding.weights).add(posed).add(guess);
  content.add(settings.stiffness).add(settings.max_iterations).add(settings.tolerance).add(settings.min_volume_ratio);
  const auto encode = [](const FittedShape& shape) {
    const FitReport& r = shape.report;
    MatX numbers(8, 1);
    numbers << r.iterations, r.converged, r.mean_error, r.largest_error, r.inverted_before, r.repaired, r.inverted,
        r.smallest_volume_ratio;
    const MatX matrices[] = {Eigen::Map<const MatX>(shape.positions.front().data(), 3, std::ssize(shape.positions)),
                             numbers};
    return encode_stage(std::span<const MatX>(matrices));
  };
  const auto decode = [&](const std::string& bytes) -> Result<FittedShape> {
    const Result<std::vector<MatX>> matrices = decode_matrices(bytes);
    SUPPLE_RETURN_IF_ERROR(matrices);
    if (matrices->size() != 2 || (*matrices)[0].rows() != 3 || (*matrices)[0].cols() != std::ssize(guess) ||
        (*matrices)[1].size() != 8)
      return input_error("the cache holds something else");
    FittedShape shape;
    for (const auto& x : (*matrices)[0].colwise()) shape.positions.emplace_back(x);
    const MatX& n = (*matrices)[1];
    shape.report = {static_cast<int>(n(0)), n(1) != 0, n(2), n(3), static_cast<int>(n(4)), static_cast<int>(n(5)),
                    static_cast<int>(n(6)), n(7)};
    return shape;
  };
  return find_or_make(store, "fit", content, make, encode, decode);
}

}  // namespace

std::vector<Index> hold_loose_pieces(const TetMesh& mesh, const std::vector<Index>& fixed) {
  const Components pieces = connected_components(mesh);
  std::vector<char> is_fixed(mesh.vertices.size(), 0);
  for (const Index v : fixed) is_fixed[to_size(v)] = 1;
  std::vector<int> held(to_size(pieces.count), 0);
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    int count = 0;
    for (const Index v : mesh.elements[e]) count += is_fixed[to_size(v)];
    int& best = held[to_size(pieces.label[e])];
    best = std::max(best, count);
  }
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    if (held[to_size(pieces.label[e])] >= 3) continue;
    for (const Index v : mesh.elements[e]) is_fixed[to_size(v)] = 1;
  }
  std::vector<Index> result;
  for (std::size_t v = 0; v < is_fixed.size(); ++v)
    if (is_fixed[v]) result.push_back(static_cast<Index>(v));
  return result;
}

Result<EmbeddedBody> embed_character(const RawCharacter& character, const CharacterRig& rig,
                                     const EmbedSettings& settings, Progress& progress) {
  if (rig.first_vertex().size() != character.meshes.size() + 1)
    return input_error("the rig leaves out some meshes of the character; take them out of the character first");
  EmbeddedBody body;
  body.skin = neutral_skin(character, rig);
  body.axes = own_axes(rig);
  EmbedSettings own_axes = settings;
  own_axes.meshing.axes = body.axes;
  Result<TetMeshingResult> meshed = settings.own ? take_tetrahedra(*settings.own, body.skin, body.warnings)
                                                 : fill_with_tetrahedra(body.skin, own_axes, progress);
  SUPPLE_RETURN_IF_ERROR(meshed);
  body.mesh = std::move(meshed->mesh);
  body.meshing = meshed->report;
  progress.stage("embedding the skin");
  Result<Embedding> embedding = embed_nearest(body.mesh, body.skin.vertices);
  SUPPLE_RETURN_IF_ERROR(embedding);
  body.embedding = std::move(*embedding);
  body.carry = make_surface_carry(body.mesh.vertices, body.skin, body.axes);
  Result<std::vector<BoneSegment>> bones = find_bones(character, rig, settings.bones);
  SUPPLE_RETURN_IF_ERROR(bones);
  body.bones = std::move(*bones);
  Result<std::vector<char>> hard = hard_vertices(character, rig, settings.bones);
  SUPPLE_RETURN_IF_ERROR(hard);
  body.hard = std::move(*hard);
  const double radius = settings.bones.radius * bounds_along(body.axes, body.mesh.vertices).diagonal();
  body.fixed_vertices = fixed_by_bones(body.mesh, body.bones, radius, body.carry, body.hard);
  hold_hard_skin(body.embedding, body.hard, body.fixed_vertices);
  if (body.fixed_vertices.empty())
    body.warnings.emplace_back("no bone of the skeleton crosses the body, so nothing holds the flesh to the rig");
  SUPPLE_RETURN_IF_ERROR(calm_body(body));
  return body;
}

Result<FittedPoses> fit_poses(const EmbeddedBody& body, std::shared_ptr<const Rig> surface_rig,
                              const std::vector<std::vector<double>>& poses, const FitSettings& settings,
                              Progress& progress, FittedPoses known, StageStore& store) {
  const std::shared_ptr<const Rig> carried = carry_rig(surface_rig, body.carry, body.mesh.vertices);
  FittedPoses result = std::move(known);
  result.rig = carried;
  progress.stage("fitting rest shapes");
  const std::size_t first = result.corrections.size();
  std::vector<Result<FittedShape>> shapes(poses.size() - std::min(first, poses.size()), failure("not fitted"));
  const Result<Embedding> embedding = embed(body.mesh, body.skin.vertices);
  SUPPLE_RETURN_IF_ERROR(embedding);
  parallel_for(std::ssize(shapes), 1, [&](std::int64_t k) {
    if (progress.cancelled()) return;
    const std::vector<double>& p = poses[first + to_size(k)];
    shapes[to_size(k)] =
        find_or_fit(body, *embedding, evaluate_all(*surface_rig, p), evaluate_all(*carried, p), settings, store);
  });
  if (progress.cancelled()) return failure("cancelled");
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    if (!shapes[k].ok()) return shapes[k].error();
    result.reports.push_back(shapes[k]->report);
    result.corrections.push_back(correction_towards(*carried, poses[first + k], shapes[k]->positions));
  }
  if (result.corrections.empty()) return result;
  Result<std::shared_ptr<const PoseSpaceRig>> corrected = PoseSpaceRig::create(carried, result.corrections);
  SUPPLE_RETURN_IF_ERROR(corrected);
  result.rig = *corrected;
  return result;
}

}  // namespace supple
