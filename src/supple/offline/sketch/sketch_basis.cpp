// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/sketch/sketch_basis.h"

#include <fmt/format.h>

#include "supple/base/clock.h"
#include "supple/base/parallel.h"
#include "supple/offline/modes/mass_pca.h"
#include "supple/offline/sketch/shape_store.h"

#include <mutex>

namespace supple {
namespace {

/// Lets many solves ask one caller's Progress whether to stop, one at a time. Once stopped, it stays so.
class SharedProgress : public Progress {
 public:
  SharedProgress(Progress& outer, std::size_t total) : outer_(outer), total_(total) {}
  void stage(std::string_view) override {}
  void update(double) override {}
  bool cancelled() const override {
    const std::lock_guard lock(mutex_);
    stopped_ = stopped_ || outer_.cancelled();
    return stopped_;
  }
  void one_done() {
    const std::lock_guard lock(mutex_);
    outer_.update(static_cast<double>(++done_) / static_cast<double>(total_));
  }

 private:
  Progress& outer_;
  std::size_t total_;
  mutable std::mutex mutex_;
  mutable bool stopped_ = false;
  std::size_t done_ = 0;
};

/// Everything but the load that decides what a shape is: geometry, stiffness, material law, fixed vertices, tolerance.
ContentHash problem_of(const ElasticBody& body, std::span<const Index> fixed, const StaticsSettings& settings) {
  BlockMatrix K = body.make_matrix();
  VecX force;
  body.internal_force_and_stiffness(VecX::Zero(body.dof_count()), force, K);
  ContentHash problem;
  problem.add(body.rest_positions()).add(K.values()).add(fixed).add(body.material());
  return problem.add(settings.tolerance).add(settings.load_steps).add(settings.max_iterations);
}

struct Outcome {
  VecX shape;  ///< empty when there is none
  bool found = false;
  std::string complaint;
  Status saved;
};

struct SketchSolver {
  const ElasticBody& body;
  std::span<const Index> fixed;
  const SketchRecording& recording;
  const SketchSettings& settings;
  ShapeStore store;
  ContentHash problem;

  Outcome shape_of(std::size_t number, Progress& progress) const {
    const VecX load = dense_load(recording.loads[number], recording.vertex_count);
    const ContentHash with_load = ContentHash(problem).add(load);
    Outcome outcome;
    if (auto known = store.find(number, with_load); known && known->size() == body.dof_count()) {
      outcome.shape = *std::move(known);
      outcome.found = true;
      return outcome;
    }
    if (progress.cancelled()) return outcome;
    Result<StaticsResult> solved = solve_static(body, fixed, load, settings.statics, progress);
    if (!solved.ok()) {
      outcome.complaint = fmt::format("load {} is left out: {}", number, solved.error().message);
      return outcome;
    }
    if (!(solved->smallest_volume_ratio > 0)) {  // St. Venant-Kirchhoff bodies find equilibria inside out
      outcome.complaint = fmt::format("load {} is left out: it turns an element inside out; pull less", number);
      return outcome;
    }
    outcome.shape = std::move(solved->u);
    outcome.saved = store.save(number, with_load, outcome.shape);
    return outcome;
  }
};

double largest_load(const SketchRecording& recording) {
  double largest = 0;
  for (const NodalLoad& load : recording.loads) {
    largest = std::max(largest, dense_load(load, recording.vertex_count).norm());
  }
  return largest;
}

Status check_recording(const ElasticBody& body, const SketchRecording& recording, const SketchSettings& settings) {
  if (recording.vertex_count != body.vertex_count()) {
    return input_error(
        fmt::format("the sketch was recorded on a body of {} vertices, but this one has {}; record it again",
                    recording.vertex_count, body.vertex_count()));
  }
  for (const NodalLoad& load : recording.loads) {
    for (const NodalForce& entry : load) {
      if (entry.vertex < 0 || entry.vertex >= body.vertex_count() || !entry.force.allFinite()) {
        return input_error(
            fmt::format("the sketch has a force on vertex {} that doesn't exist or isn't finite", entry.vertex));
      }
    }
  }
  if (settings.folder.empty()) return usage_error("Name a folder for the sketch's solved shapes.");
  return {};
}

/// Counts the outcomes and gathers the shapes in the order of the recording.
Result<MatX> gather(const std::vector<Outcome>& outcomes, Eigen::Index rows, SketchBasis& result) {
  MatX shapes(rows, static_cast<Eigen::Index>(outcomes.size()));
  Eigen::Index count = 0;
  for (const Outcome& outcome : outcomes) {
    if (!outcome.saved.ok()) return outcome.saved.error();
    if (!outcome.complaint.empty()) result.failures.push_back(outcome.complaint);
    if (outcome.shape.size() == 0) continue;
    (outcome.found ? result.shapes_found : result.shapes_solved) += 1;
    shapes.col(count++) = outcome.shape;
  }
  shapes.conservativeResize(Eigen::NoChange, count);
  return shapes;
}

Status compress(const ElasticBody& body, const MatX& shapes, const SketchSettings& settings, SketchBasis& result) {
  if (shapes.cols() == 0) {
    return input_error(result.failures.empty()
                           ? std::string("the sketch holds no load that differs from zero; record a pull")
                           : fmt::format("no load of the sketch could be solved; the first: {}", result.failures[0]));
  }
  const BlockMatrix& mass = body.consistent_mass();
  const double distance = settings.shape_separation * mass_norms(mass, shapes).maxCoeff();
  const std::vector<Eigen::Index> kept = select_separated_shapes(mass, shapes, distance);
  result.shapes_selected = static_cast<int>(kept.size());
  Result<MassPca> pca = mass_pca(mass, shapes(Eigen::all, kept));
  SUPPLE_RETURN_IF_ERROR(pca);
  const auto available = static_cast<int>(pca->basis.cols());
  if (settings.size < 0 || settings.size > available) {
    return input_error(fmt::format(
        "a basis of {} vectors was asked for, but the sketch has {} independent shapes; ask for fewer or sketch more",
        settings.size, available));
  }
  result.suggested_size = suggest_size(pca->singular_values);
  result.basis = pca->basis.leftCols(settings.size > 0 ? settings.size : result.suggested_size);
  result.singular_values = pca->singular_values;
  return {};
}

}  // namespace

std::vector<Eigen::Index> select_separated_shapes(const BlockMatrix& mass, const MatX& shapes, double distance) {
  const MatX M_shapes = multiply_columns(mass, shapes);
  std::vector<Eigen::Index> kept;
  for (Eigen::Index c = 0; c < shapes.cols(); ++c) {
    const auto apart = [&](const VecX& d, const VecX& Md) { return d.dot(Md) >= distance * distance; };
    bool separated = shapes.col(c).norm() > 0 && apart(shapes.col(c), M_shapes.col(c));
    for (std::size_t k = 0; separated && k < kept.size(); ++k) {
      separated = apart(shapes.col(c) - shapes.col(kept[k]), M_shapes.col(c) - M_shapes.col(kept[k]));
    }
    if (separated) kept.push_back(c);
  }
  return kept;
}

Result<SketchBasis> solve_sketch(const ElasticBody& body, std::span<const Index> fixed,
                                 const SketchRecording& recording, const SketchSettings& settings, Progress& progress) {
  SUPPLE_RETURN_IF_ERROR(check_recording(body, recording, settings));
  Result<FreeVertices> free = FreeVertices::create(body, fixed);
  SUPPLE_RETURN_IF_ERROR(free);
  Result<ShapeStore> store = ShapeStore::open(settings.folder);
  SUPPLE_RETURN_IF_ERROR(store);
  SketchBasis result;
  const std::vector<std::size_t> selected =
      select_separated(recording, settings.load_separation * largest_load(recording));
  result.loads_recorded = static_cast<int>(recording.loads.size());
  result.loads_selected = static_cast<int>(selected.size());

  progress.stage("solving the sketch");
  const auto start = Clock::now();
  const SketchSolver solver{body, fixed, recording, settings, *store, problem_of(body, fixed, settings.statics)};
  SharedProgress shared(progress, selected.size());
  std::vector<Outcome> outcomes(selected.size());
  parallel_for(static_cast<std::int64_t>(selected.size()), 1, [&](std::int64_t k) {
    outcomes[to_size(k)] = solver.shape_of(selected[to_size(k)], shared);
    shared.one_done();
  });
  result.solve_seconds = seconds_since(start);
  const Result<MatX> shapes = gather(outcomes, body.dof_count(), result);
  SUPPLE_RETURN_IF_ERROR(shapes);
  if (shared.cancelled()) {
    return failure(fmt::format("cancelled; {} of {} shapes are kept in {}, the same call continues from there",
                               shapes->cols(), selected.size(), settings.folder.string()));
  }
  SUPPLE_RETURN_IF_ERROR(compress(body, *shapes, settings, result));
  return result;
}

}  // namespace supple
