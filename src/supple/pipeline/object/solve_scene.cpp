// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/object/solve_scene.h"

#include <fmt/format.h>

#include "supple/asset/archive.h"
#include "supple/base/clock.h"
#include "supple/pipeline/object/scene_recorder.h"

namespace supple {
namespace {

// ---- statics --------------------------------------------------------------------------------------------------------

/// Pressure follows the surface, so the load depends on the answer: solve, load the new shape, solve again.
Result<StaticsResult> find_equilibrium(const Scene& scene, const SceneBody& body, Progress& progress) {
  constexpr int rounds = 40;
  VecX force = body.external_force(VecX::Zero(body.body.dof_count()), 0);
  Result<StaticsResult> result = solve_static(body.body, body.fixed, force, scene.statics, progress);
  if (!body.has_pressure() || !result.ok()) return result;
  StaticsSettings settings = scene.statics;
  int iterations = result->newton_iterations;
  for (int round = 0; round < rounds; ++round) {
    const VecX next = body.external_force(result->u, 0);
    if ((next - force).norm() <= 1e-7 * next.norm()) {
      result->newton_iterations = iterations;
      return result;
    }
    force = next;
    result = solve_static(body.body, body.fixed, force, settings, progress);
    if (!result.ok()) return result;
    iterations += result->newton_iterations;
  }
  return input_error("the pressure did not settle on the deformed surface; apply less of it");
}

Vec3 reaction_of(const SceneBody& body, const VecX& u, const VecX& external) {
  VecX internal;
  body.body.internal_force(u, internal);
  Vec3 reaction = Vec3::Zero();
  for (const Index v : body.fixed) reaction += (internal - external).segment<3>(3 * v);
  return reaction;
}

/// Advice for those who haven't taken it already.
std::string or_stable_material(MaterialModel model) {
  const bool stable = model == MaterialModel::stable_neo_hookean || model == MaterialModel::flesh;
  return stable ? "" : ", or use the stable_neo_hookean material";
}

Status run_static(const Scene& scene, const SceneBody& body, SceneFiles& files, SceneSummary& summary,
                  Progress& progress) {
  const Result<StaticsResult> result = find_equilibrium(scene, body, progress);
  if (!result.ok()) return in_scene(scene, {}, result.error());
  summary.steps = result->load_steps;
  summary.newton_iterations = result->newton_iterations;
  summary.residual = result->residual;
  if (result->smallest_volume_ratio <= 0) {
    summary.warnings.emplace_back(
        "the equilibrium that was found turns at least one element inside out; apply less load" +
        or_stable_material(body.body.material()));
  }
  summary.reaction = reaction_of(body, result->u, body.external_force(result->u, 0));
  SceneRecorder recorder(scene, body, summary);
  const HistoryRow row = recorder.measure(result->u, 0, 0, body.body.energy(result->u));
  SUPPLE_RETURN_IF_ERROR(recorder.conclude(row));
  files.add_row(row);
  VtuFields fields;
  fields.points.push_back(vtu_vectors("displacement", result->u));
  Result<std::vector<std::filesystem::path>> written = files.finish(body, fields);
  SUPPLE_RETURN_IF_ERROR(written);
  summary.files = std::move(*written);
  return {};
}

// ---- dynamics -------------------------------------------------------------------------------------------------------

Status advance(const Scene& scene, const SceneBody& body, FullDynamics& dynamics, DynamicsState& state,
               SceneSummary& summary) {
  const StepReport report = dynamics.step(state, body.external_force(state.u, state.time + scene.dynamics.time_step));
  if (report.recovered) {
    return input_error(fmt::format("{}: the step after {:.6g} s broke down; use a smaller dt or more damping{}",
                                   scene.name, state.time, or_stable_material(body.body.material())));
  }
  ++summary.steps;
  summary.newton_iterations += report.newton_iterations;
  summary.unconverged_steps += report.converged ? 0 : 1;
  summary.residual = std::max(summary.residual, report.residual);
  return {};
}

Status run_dynamic(const Scene& scene, const SceneBody& body, SceneFiles& files, SceneSummary& summary,
                   Progress& progress) {
  Result<FullDynamics> dynamics = FullDynamics::create(body.body, body.fixed, scene.dynamics);
  if (!dynamics.ok()) return in_scene(scene, {}, dynamics.error());
  DynamicsState state = dynamics->rest_state();
  const Status initialized = dynamics->initialize(state, body.external_force(state.u, 0));
  if (!initialized.ok()) return in_scene(scene, {}, initialized.error());
  SceneRecorder recorder(scene, body, summary);
  progress.stage("stepping through time");
  const int steps = scene.step_count();
  for (int step = 0;; ++step) {
    const HistoryRow row =
        recorder.measure(state.u, state.time, dynamics->kinetic_energy(state), body.body.energy(state.u));
    files.add_row(row);
    if (scene.output.every > 0 && step % scene.output.every == 0) SUPPLE_RETURN_IF_ERROR(files.add_frame(body, state));
    if (step == steps) {
      SUPPLE_RETURN_IF_ERROR(recorder.conclude(row));
      break;
    }
    if (progress.cancelled()) return failure("cancelled");
    SUPPLE_RETURN_IF_ERROR(advance(scene, body, *dynamics, state, summary));
    state.time = (step + 1) * scene.dynamics.time_step;  // without the rounding of many sums
    progress.update(static_cast<double>(step + 1) / steps);
  }
  VtuFields fields;
  fields.points.push_back(vtu_vectors("displacement", state.u));
  fields.points.push_back(vtu_vectors("velocity", state.v));
  Result<std::vector<std::filesystem::path>> written = files.finish(body, fields);
  SUPPLE_RETURN_IF_ERROR(written);
  summary.files = std::move(*written);
  return {};
}

}  // namespace

Result<SceneSummary> solve_scene(const Scene& scene, Progress& progress) {
  const Clock::time_point start = Clock::now();
  progress.stage("preparing the body");
  if (is_archive(scene.mesh)) {
    return input_error(
        fmt::format("{}: {} is a model already; run it with `supple simulate`", scene.name, scene.mesh.string()));
  }
  if (scene.base)
    return in_scene(
        scene, "[base]",
        input_error("a moving base carries objects made of [[domain]]s, which `supple simulate` runs; leave "
                    "it out"));
  const Result<SceneBody> body = make_scene_body(scene);
  SUPPLE_RETURN_IF_ERROR(body);
  SceneSummary summary = summarize(*body);
  FileTransaction transaction;
  SceneFiles files(scene);
  SUPPLE_RETURN_IF_ERROR(files.open(transaction));
  summary.setup_seconds = seconds_since(start);
  const Clock::time_point begin = Clock::now();
  SUPPLE_RETURN_IF_ERROR(scene.dynamic ? run_dynamic(scene, *body, files, summary, progress)
                                       : run_static(scene, *body, files, summary, progress));
  SUPPLE_RETURN_IF_ERROR(transaction.commit());
  summary.solve_seconds = seconds_since(begin);
  return summary;
}

}  // namespace supple
