// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/object/build_subspace.h"

#include <fmt/format.h>

#include "supple/asset/archive.h"
#include "supple/base/clock.h"
#include "supple/io/mesh/vertex_selection.h"
#include "supple/offline/forces/cubic_forces.h"
#include "supple/offline/modes/modal_basis.h"
#include "supple/offline/sketch/sketch_basis.h"

namespace supple {
namespace {

/// The body as St. Venant-Kirchhoff material.
Result<SceneBody> make_body(Scene scene) {
  if (scene.model_given && scene.model != MaterialModel::stvk) {
    return in_scene(scene, "[material]",
                    input_error("a subspace model has exact forces for model = \"stvk\" only; say that, or nothing"));
  }
  if (is_archive(scene.mesh))
    return input_error(fmt::format("{} is a model already; run it with `supple simulate`", scene.mesh.string()));
  scene.model = MaterialModel::stvk;
  return make_scene_body(scene);
}

std::string body_name(const Scene& scene) { return scene.mesh.empty() ? scene.name : scene.mesh.string(); }

Error about_body(const Scene& scene, const Error& error) {
  if (error.message.starts_with(body_name(scene))) return error;
  return {error.kind, fmt::format("{}: {}", body_name(scene), error.message)};
}

/// The first columns of a basis are its most important ones.
int chosen_size(const Scene& scene, int suggested) {
  return scene.reduction.size > 0 ? scene.reduction.size : std::min(suggested, SceneReduction::default_largest_size);
}

Result<MatX> modal_basis(const Scene& scene, const SceneBody& body, SubspaceBuild& out, Progress& progress) {
  const int dofs = static_cast<int>(body.body.dof_count() - 3 * static_cast<Eigen::Index>(body.fixed.size()));
  ModalBasisSettings settings;
  // A body with few degrees of freedom has few modes; that is no reason to make the user count them.
  settings.linear_modes = std::min(scene.reduction.linear_modes, std::max(1, (dofs - 6) / 2));
  settings.size = scene.reduction.size;
  settings.require_anchored = scene.reduction.anchored;
  Result<ModalBasis> basis = build_modal_basis(body.body, body.fixed, settings, progress);
  if (!basis.ok()) return about_body(scene, basis.error());
  out.frequencies = basis->frequencies;
  out.singular_values = basis->singular_values;
  out.suggested_size = basis->suggested_size;
  const auto size = std::min<Eigen::Index>(basis->basis.cols(), chosen_size(scene, basis->suggested_size));
  return MatX(basis->basis.leftCols(size));
}

Result<MatX> sketched_basis(const Scene& scene, const SceneBody& body, SubspaceBuild& out, Progress& progress) {
  const Result<SketchRecording> recording = load_sketch(scene.reduction.sketch);
  SUPPLE_RETURN_IF_ERROR(recording);
  SketchSettings settings;
  settings.folder = scene.reduction.sketch;
  settings.folder += ".shapes";
  settings.size = scene.reduction.size;
  Result<SketchBasis> basis = solve_sketch(body.body, body.fixed, *recording, settings, progress);
  if (!basis.ok())
    return Error{basis.error().kind, fmt::format("{}: {}", scene.reduction.sketch.string(), basis.error().message)};
  out.singular_values = basis->singular_values;
  out.suggested_size = basis->suggested_size;
  out.loads_selected = basis->loads_selected;
  out.shapes_selected = basis->shapes_selected;
  out.warnings.insert(out.warnings.end(), basis->failures.begin(), basis->failures.end());
  const auto size = std::min<Eigen::Index>(basis->basis.cols(), chosen_size(scene, basis->suggested_size));
  return MatX(basis->basis.leftCols(size));
}

}  // namespace

Result<SubspaceBuild> build_subspace(const Scene& scene, Progress& progress) {
  SubspaceBuild out;
  Clock::time_point start = Clock::now();
  progress.stage("preparing the body");
  const Result<SceneBody> body = make_body(scene);
  SUPPLE_RETURN_IF_ERROR(body);
  out.warnings = body->warnings;
  out.mass = body->body.lumped_mass().sum() / 3;
  out.fixed_selections = body->fixed_selections;
  out.mesh_seconds = seconds_since(start);

  start = Clock::now();
  const Result<MatX> basis = scene.reduction.sketch.empty() ? modal_basis(scene, *body, out, progress)
                                                            : sketched_basis(scene, *body, out, progress);
  SUPPLE_RETURN_IF_ERROR(basis);
  out.basis_seconds = seconds_since(start);

  start = Clock::now();
  Result<SubspaceModel> model =
      std::visit([&](const auto& mesh) { return build_subspace_model(mesh, *basis, progress); }, body->mesh);
  if (!model.ok()) return about_body(scene, model.error());
  model->fixed_vertices = body->fixed;
  if (body->embedding) embed_surface(*model, *body->surface, *body->embedding);
  out.model = std::move(*model);
  out.coefficients_seconds = seconds_since(start);
  return out;
}

Result<SketchRecording> record_sketch(const Scene& scene, std::span<const SketchPull> pulls, Progress& progress) {
  progress.stage("preparing the body");
  const Result<SceneBody> body = make_body(scene);
  SUPPLE_RETURN_IF_ERROR(body);
  const Result<Modes> modes = compute_modes(body->body, body->fixed, {.count = scene.reduction.linear_modes}, progress);
  if (!modes.ok()) return about_body(scene, modes.error());
  SketchRecording all;
  all.vertex_count = static_cast<Index>(body->body.vertex_count());
  for (const SketchPull& pull : pulls) {
    Result<std::vector<Index>> grabbed = select_vertices(pull.select, vertices_of(body->mesh), scene.folder);
    if (!grabbed.ok()) return about_body(scene, grabbed.error());
    const Result<SketchRecording> one = scripted_pull(body->body, *modes, {std::move(*grabbed), pull.path, pull.steps});
    if (!one.ok()) return about_body(scene, one.error());
    all.loads.insert(all.loads.end(), one->loads.begin(), one->loads.end());
  }
  return all;
}

}  // namespace supple
