// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/object/simulate_scene.h"

#include <fmt/format.h>

#include "supple/asset/archive.h"
#include "supple/base/clock.h"
#include "supple/io/file.h"
#include "supple/io/motion/pc2.h"
#include "supple/pipeline/object/cache_surface.h"
#include "supple/pipeline/object/scene_motion.h"
#include "supple/pipeline/object/scene_recorder.h"

namespace supple {
namespace {

/// The point cache of the model's surface, and the surface beside it.
class CacheFiles {
 public:
  CacheFiles(const SubspaceModel& model, std::filesystem::path path)
      : model_(model), path_(std::move(path)), shape_(cache_surface_path(path_)) {}

  Status open(const Scene& scene, bool force) {
    SUPPLE_RETURN_IF_ERROR(check_cache_surface(shape_, force));
    const int every = std::max(1, scene.output.every);
    Result<Pc2Writer> writer =
        Pc2Writer::open(path_, {.points = model_.surface.vertex_count(), .samples = scene.step_count() / every + 1});
    SUPPLE_RETURN_IF_ERROR(writer);
    writer_ = std::move(*writer);
    return {};
  }

  Status add(const std::vector<Vec3>& positions) { return writer_->add_sample(positions); }

  Result<std::vector<std::filesystem::path>> finish() {
    Surface surface;
    surface.vertices = model_.surface.rest_positions;
    surface.triangles = model_.surface.triangles;
    SUPPLE_RETURN_IF_ERROR(write_cache_surface(shape_, surface));
    SUPPLE_RETURN_IF_ERROR(writer_->finish());
    return std::vector<std::filesystem::path>{path_, shape_};
  }

 private:
  const SubspaceModel& model_;
  std::filesystem::path path_, shape_;
  std::optional<Pc2Writer> writer_;
};

/// One run: the body in motion, and where frames go.
class SceneRun {
 public:
  SceneRun(const Scene& scene, const SimulateOptions& options, const SceneBody& body, SimulationSummary& summary)
      : scene_(scene),
        options_(options),
        body_(body),
        summary_(summary),
        folder_(scene),
        recorder_(scene, body, summary.scene) {
    if (!options.point_cache.empty()) cache_.emplace(*body.model, options.point_cache);
  }

  Status prepare() {
    Result<std::unique_ptr<SceneMotion>> motion = SceneMotion::create(scene_, body_);
    SUPPLE_RETURN_IF_ERROR(motion);
    motion_ = std::move(*motion);
    for (std::string& warning : motion_->warnings()) summary_.scene.warnings.push_back(std::move(warning));
    if (!options_.resume.empty()) SUPPLE_RETURN_IF_ERROR(motion_->resume(options_.resume));
    if (!options_.save_state.empty()) SUPPLE_RETURN_IF_ERROR(check_output(options_.save_state));
    return cache_ ? cache_->open(scene_, options_.force) : folder_.open(files_);
  }

  Status commit() { return files_.commit(); }

  Status run_static(Progress& progress) {
    progress.stage("finding the equilibrium");
    const Result<MotionReport> report = motion_->find_equilibrium();
    SUPPLE_RETURN_IF_ERROR(report);
    summary_.scene.steps = 1;
    summary_.scene.newton_iterations = report->iterations;
    summary_.scene.residual = report->residual;
    const HistoryRow row = measure();
    SUPPLE_RETURN_IF_ERROR(recorder_.conclude(row));
    folder_.add_row(row);
    return finish();
  }

  Status run_dynamic(Progress& progress) {
    progress.stage("stepping through time");
    if (options_.resume.empty()) motion_->begin();
    start_ = motion_->time();
    const int steps = scene_.step_count();
    const int every = std::max(1, scene_.output.every);
    for (int step = 0;; ++step) {
      if (step % every == 0) SUPPLE_RETURN_IF_ERROR(add_frame());
      if (step == steps) break;
      if (progress.cancelled()) return failure("cancelled");
      SUPPLE_RETURN_IF_ERROR(advance(step));
      progress.update(static_cast<double>(step + 1) / steps);
    }
    SUPPLE_RETURN_IF_ERROR(recorder_.conclude(measure()));
    std::sort(step_seconds_.begin(), step_seconds_.end());
    summary_.step_seconds = step_seconds_[step_seconds_.size() / 2];
    summary_.worst_step_seconds = step_seconds_.back();
    return finish();
  }

 private:
  Status advance(int step) {
    const Clock::time_point begin = Clock::now();
    const MotionReport report = motion_->step(start_ + (step + 1) * scene_.dynamics.time_step);
    step_seconds_.push_back(seconds_since(begin));
    if (report.recovered) {
      return input_error(
          fmt::format("{}: the step after {:.6g} s broke down; use a smaller dt, more damping or a smaller "
                      "load",
                      scene_.name, motion_->time()));
    }
    SceneSummary& s = summary_.scene;
    ++s.steps;
    s.newton_iterations += report.iterations;
    s.unconverged_steps += report.converged ? 0 : 1;
    s.residual = std::max(s.residual, report.residual);
    return {};
  }

  HistoryRow measure() {
    return recorder_.measure(motion_->displacements(), motion_->time(), motion_->kinetic_energy(),
                             motion_->elastic_energy());
  }

  Status add_frame() {
    folder_.add_row(measure());
    if (cache_) return cache_->add(motion_->surface_positions());
    if (scene_.output.every == 0) return {};
    return folder_.add_frame(body_, full_state());
  }

  DynamicsState full_state() const {
    DynamicsState full;
    full.u = motion_->displacements();
    full.v = motion_->velocities();
    full.time = motion_->time();
    return full;
  }

  Status finish() {
    Result<std::vector<std::filesystem::path>> files = cache_ ? cache_->finish() : finish_folder();
    SUPPLE_RETURN_IF_ERROR(files);
    summary_.scene.files = std::move(*files);
    if (options_.save_state.empty()) return {};
    SUPPLE_RETURN_IF_ERROR(write_file_atomically(options_.save_state, motion_->encode_state()));
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
  FileTransaction files_;
  SceneFiles folder_;
  SceneRecorder recorder_;
  std::optional<CacheFiles> cache_;
  std::unique_ptr<SceneMotion> motion_;
  double start_ = 0;
  std::vector<double> step_seconds_;
};

}  // namespace

Result<SimulationSummary> simulate_scene(const Scene& given, const SimulateOptions& options, Progress& progress) {
  const Clock::time_point start = Clock::now();
  progress.stage("preparing the model");
  if (!is_archive(given.mesh)) {
    return input_error(fmt::format("{}: {} is not a subspace model (.supple); make one with `supple build`", given.name,
                                   given.mesh.empty() ? "its box" : given.mesh.string()));
  }
  if (given.base)
    return in_scene(given, "[base]", input_error("a moving base carries objects made of [[domain]]s; leave it out"));
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
  SUPPLE_RETURN_IF_ERROR(run.commit());
  summary.scene.solve_seconds = seconds_since(begin);
  return summary;
}

}  // namespace supple
