// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/object/simulate_scene.h"

#include <fmt/format.h>

#include "supple/base/clock.h"
#include "supple/fem/loads.h"
#include "supple/io/mesh/mesh_file.h"
#include "supple/io/motion/pc2.h"
#include "supple/pipeline/object/scene_recorder.h"
#include "supple/runtime/subspace/state_archive.h"

namespace supple {
namespace {

using SceneDynamics = SubspaceDynamics<double>;

VecX as_vector(const std::vector<double>& values) {
  return Eigen::Map<const VecX>(values.data(), static_cast<Eigen::Index>(values.size()));
}

/// f̃(t): what doesn't change is projected once.
class ReducedLoads {
 public:
  explicit ReducedLoads(const SceneBody& body) : body_(body), U_(body.model->basis) {
    constant_ = U_.transpose() * body.gravity_force;
    const auto project = [&](const TimeWindow& window, const auto& add) {
      VecX force = VecX::Zero(U_.rows());
      add(force);
      timed_.push_back({U_.transpose() * force, window});
    };
    for (const SelectedForce& load : body.forces) {
      project(load.window, [&](VecX& force) {
        for (const Index v : load.vertices) add_point_force(force, v, load.newtons);
      });
    }
    for (const SelectedTraction& load : body.tractions)
      project(load.window, [&](VecX& force) { add_traction(force, body.body, load.triangles, load.pascals); });
  }

  std::vector<double> at(double time, const std::vector<double>& q) const {
    VecX force = constant_;
    for (const TimedLoad& load : timed_)
      if (load.window.contains(time)) force += load.reduced;
    if (body_.has_pressure()) add_pressures(time, q, force);
    return {force.begin(), force.end()};
  }

  /// The largest that can act at once, for tolerances relative to it.
  double scale() const {
    double sum = constant_.norm();
    for (const TimedLoad& load : timed_) sum += load.reduced.norm();
    return sum;
  }

 private:
  struct TimedLoad {
    VecX reduced;
    TimeWindow window;
  };

  void add_pressures(double time, const std::vector<double>& q, VecX& force) const {
    const VecX u = U_ * as_vector(q);
    VecX full = VecX::Zero(u.size());
    for (const SelectedPressure& load : body_.pressures)
      if (load.window.contains(time)) add_pressure(full, body_.body, u, load.triangles, load.pascals);
    force += U_.transpose() * full;
  }

  const SceneBody& body_;
  const MatX& U_;
  VecX constant_;
  std::vector<TimedLoad> timed_;
};

SubspaceSettings settings_of(const Scene& scene, double load_scale) {
  const DynamicsSettings& d = scene.dynamics;
  SubspaceSettings settings;
  settings.integrator = d.integrator == Integrator::newmark          ? SubspaceIntegrator::newmark
                        : d.integrator == Integrator::backward_euler ? SubspaceIntegrator::backward_euler
                                                                     : SubspaceIntegrator::central_differences;
  settings.time_step = d.time_step;
  settings.newmark_beta = d.newmark_beta;
  settings.newmark_gamma = d.newmark_gamma;
  settings.mass_damping = d.mass_damping;
  settings.stiffness_damping = d.stiffness_damping;
  settings.max_iterations = d.max_newton_iterations;
  settings.tolerance = std::max((scene.dynamic ? d.newton_tolerance : scene.statics.tolerance) * load_scale, 1e-300);
  return settings;
}

/// The point cache of the model's surface, and the surface beside it.
class CacheFiles {
 public:
  CacheFiles(const SubspaceModel& model, std::filesystem::path path) : model_(model), path_(std::move(path)) {}

  Status open(const Scene& scene) {
    const int every = std::max(1, scene.output.every);
    Result<Pc2Writer> writer =
        Pc2Writer::open(path_, {.points = model_.surface.vertex_count(), .samples = scene.step_count() / every + 1});
    SUPPLE_RETURN_IF_ERROR(writer);
    writer_ = std::move(*writer);
    return {};
  }

  Status add(const VecX& q) {
    const VecX u = model_.surface.basis * q;
    std::vector<Vec3> positions = model_.surface.rest_positions;
    for (std::size_t v = 0; v < positions.size(); ++v) positions[v] += u.segment<3>(3 * static_cast<Eigen::Index>(v));
    return writer_->add_sample(positions);
  }

  Result<std::vector<std::filesystem::path>> finish() {
    Surface surface;
    surface.vertices = model_.surface.rest_positions;
    surface.triangles = model_.surface.triangles;
    std::filesystem::path shape = path_;
    shape.replace_extension(".obj");
    SUPPLE_RETURN_IF_ERROR(save_mesh(surface, shape));
    SUPPLE_RETURN_IF_ERROR(writer_->finish());
    return std::vector<std::filesystem::path>{path_, shape};
  }

 private:
  const SubspaceModel& model_;
  std::filesystem::path path_;
  std::optional<Pc2Writer> writer_;
};

/// One run: the model, its loads, and where frames go.
class SceneRun {
 public:
  SceneRun(const Scene& scene, const SimulateOptions& options, const SceneBody& body, SimulationSummary& summary)
      : scene_(scene),
        options_(options),
        body_(body),
        summary_(summary),
        loads_(body),
        folder_(scene),
        recorder_(scene, body, summary.scene) {
    if (!options.point_cache.empty()) cache_.emplace(*body.model, options.point_cache);
  }

  Status prepare() {
    Result<SceneDynamics> dynamics = SceneDynamics::create(*body_.model, settings_of(scene_, loads_.scale()));
    if (!dynamics.ok()) return in_scene(scene_, {}, dynamics.error());
    dynamics_ = std::move(*dynamics);
    if (!options_.resume.empty()) {
      const Result<SubspaceState<double>> state = load_subspace_state(options_.resume, body_.model->size());
      SUPPLE_RETURN_IF_ERROR(state);
      dynamics_->set_state(*state);
    }
    return cache_ ? cache_->open(scene_) : folder_.open();
  }

  Status run_static(Progress& progress) {
    progress.stage("finding the equilibrium");
    SceneDynamics& d = *dynamics_;
    constexpr int rounds = 40;  // the load of a pressure depends on the answer
    SubspaceReport report;
    for (int round = 0;; ++round) {
      const std::vector<double> before = d.state().q;
      report = d.solve_static(loads_.at(0, before), scene_.statics.max_iterations);
      summary_.scene.newton_iterations += report.iterations;
      const double change = (as_vector(d.state().q) - as_vector(before)).norm();
      if (!body_.has_pressure() || change <= 1e-8 * as_vector(d.state().q).norm()) break;
      if (round == rounds)
        return failure(scene_.name + ": the pressure did not settle on the deformed surface; apply less of it");
    }
    if (report.recovered || report.iterations == scene_.statics.max_iterations)
      return failure(scene_.name + ": no equilibrium was found; apply less load, or raise newton_iterations");
    summary_.scene.steps = 1;
    summary_.scene.residual = report.residual / std::max(loads_.scale(), 1e-300);
    const HistoryRow row = measure();
    recorder_.conclude(row);
    folder_.add_row(row);
    return finish();
  }

  Status run_dynamic(Progress& progress) {
    progress.stage("stepping through time");
    SceneDynamics& d = *dynamics_;
    if (options_.resume.empty()) d.initialize(loads_.at(0, d.state().q));
    start_ = d.state().time;
    const int steps = scene_.step_count();
    const int every = std::max(1, scene_.output.every);
    for (int step = 0;; ++step) {
      if (step % every == 0) SUPPLE_RETURN_IF_ERROR(add_frame());
      if (step == steps) break;
      if (progress.cancelled()) return failure("cancelled");
      SUPPLE_RETURN_IF_ERROR(advance(step));
      progress.update(static_cast<double>(step + 1) / steps);
    }
    recorder_.conclude(measure());
    std::sort(step_seconds_.begin(), step_seconds_.end());
    summary_.step_seconds = step_seconds_[step_seconds_.size() / 2];
    summary_.worst_step_seconds = step_seconds_.back();
    return finish();
  }

 private:
  Status advance(int step) {
    const Clock::time_point begin = Clock::now();
    const double time = start_ + (step + 1) * scene_.dynamics.time_step;
    const SubspaceReport report = dynamics_->step(loads_.at(time, dynamics_->state().q));
    step_seconds_.push_back(seconds_since(begin));
    if (report.recovered) {
      return failure(
          fmt::format("{}: the step after {:.6g} s broke down; use a smaller dt, more damping or a smaller "
                      "load",
                      scene_.name, dynamics_->state().time));
    }
    SceneSummary& s = summary_.scene;
    ++s.steps;
    s.newton_iterations += report.iterations;
    // The residual is that before the last correction.
    s.residual = std::max(s.residual, report.residual / std::max(loads_.scale(), 1e-300));
    return {};
  }

  VecX displacements() const { return body_.model->basis * as_vector(dynamics_->state().q); }

  HistoryRow measure() {
    return recorder_.measure(displacements(), dynamics_->state().time, dynamics_->kinetic_energy(),
                             dynamics_->elastic_energy());
  }

  Status add_frame() {
    folder_.add_row(measure());
    if (cache_) return cache_->add(as_vector(dynamics_->state().q));
    if (scene_.output.every == 0) return {};
    return folder_.add_frame(body_, full_state());
  }

  DynamicsState full_state() const {
    DynamicsState full;
    full.u = displacements();
    full.v = body_.model->basis * as_vector(dynamics_->state().velocity);
    full.time = dynamics_->state().time;
    return full;
  }

  Status finish() {
    Result<std::vector<std::filesystem::path>> files = cache_ ? cache_->finish() : finish_folder();
    SUPPLE_RETURN_IF_ERROR(files);
    summary_.scene.files = std::move(*files);
    if (options_.save_state.empty()) return {};
    SUPPLE_RETURN_IF_ERROR(write_file_atomically(options_.save_state, encode_subspace_state(dynamics_->state())));
    summary_.scene.files.push_back(options_.save_state);
    return {};
  }

  Result<std::vector<std::filesystem::path>> finish_folder() {
    const DynamicsState last = full_state();
    VtuFields fields;
    fields.points.push_back(vtu_vectors("displacement", last.u));
    if (scene_.dynamic) fields.points.push_back(vtu_vectors("velocity", last.v));
    return folder_.finish(body_, fields);
  }

  const Scene& scene_;
  const SimulateOptions& options_;
  const SceneBody& body_;
  SimulationSummary& summary_;
  ReducedLoads loads_;
  SceneFiles folder_;
  SceneRecorder recorder_;
  std::optional<CacheFiles> cache_;
  std::optional<SceneDynamics> dynamics_;
  double start_ = 0;
  std::vector<double> step_seconds_;
};

}  // namespace

Result<SimulationSummary> simulate_scene(const Scene& given, const SimulateOptions& options, Progress& progress) {
  const Clock::time_point start = Clock::now();
  progress.stage("preparing the model");
  if (!is_subspace_asset(given.mesh)) {
    return input_error(fmt::format("{}: {} is not a subspace model (.supple); make one with `supple build`", given.name,
                                   given.mesh.empty() ? "its box" : given.mesh.string()));
  }
  if (!options.point_cache.empty() && !given.dynamic)
    return input_error(given.name + ": a point cache holds motion, but the scene is static; write to a folder");
  Scene scene = given;
  scene.model = MaterialModel::stvk;
  // A point cache replaces the scene's folder.
  if (!options.point_cache.empty()) scene.output.directory.clear();
  const Result<SceneBody> body = make_scene_body(scene);
  SUPPLE_RETURN_IF_ERROR(body);
  SimulationSummary summary;
  summary.scene = summarize(*body);
  summary.coordinates = body->model->size();
  SceneRun run(scene, options, *body, summary);
  SUPPLE_RETURN_IF_ERROR(run.prepare());
  summary.scene.setup_seconds = seconds_since(start);
  const Clock::time_point begin = Clock::now();
  SUPPLE_RETURN_IF_ERROR(scene.dynamic ? run.run_dynamic(progress) : run.run_static(progress));
  summary.scene.solve_seconds = seconds_since(begin);
  return summary;
}

}  // namespace supple
