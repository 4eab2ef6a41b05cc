// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/compare_full.h"

#include <fmt/format.h>

#include "supple/base/clock.h"
#include "supple/fem/elastic_body.h"
#include "supple/math/dense/decompositions.h"
#include "supple/offline/dynamics/full_pose_dynamics.h"
#include "supple/offline/modes/mass_pca.h"
#include "supple/pipeline/character/compare_engines.h"
#include "supple/pipeline/character/engine_posespace.h"
#include "supple/pipeline/character/exaggeration.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

/// Every vertex's three numbers turned by its rotation.
VecX turned(const std::vector<Mat3>& turns, VecX u) {
  for (std::size_t v = 0; v < turns.size(); ++v) {
    auto at = u.segment<3>(3 * static_cast<Eigen::Index>(v));
    at = (turns[v] * at).eval();
  }
  return u;
}

Status measure_truth(const FullComparison& comparison, const CompareSettings& settings, CompareReport& report,
                     Progress& progress) {
  constexpr int converged = 20;  // iterations; they end earlier, where nothing is left to gain
  const auto measure = [&](int finer, int iterations, std::optional<double>& error) -> Status {
    const Result<double> found = comparison.truth_error(finer, iterations, progress);
    SUPPLE_RETURN_IF_ERROR(found);
    error = *found;
    return {};
  };
  if (settings.ladder || settings.truth) SUPPLE_RETURN_IF_ERROR(measure(2, 1, report.truth_error));
  if (!settings.truth) return {};
  SUPPLE_RETURN_IF_ERROR(measure(4, 1, report.truth_error_quarter));
  return measure(1, converged, report.truth_error_newton);
}

Result<double> baked_exaggeration(const BuiltCharacter& built, Progress& progress) {
  const Result<std::unique_ptr<SoftCharacter>> soft =
      soft_character(std::make_shared<const CharacterSource>(built.source), built.reduced);
  SUPPLE_RETURN_IF_ERROR(soft);
  return find_exaggeration(**soft, progress);
}

double median(std::vector<double>& values) {
  std::nth_element(values.begin(), values.begin() + std::ssize(values) / 2, values.end());
  return values[values.size() / 2];
}

}  // namespace

FullComparison::FullComparison(const BuiltCharacter& built, const Clip& clip, const CompareSettings& settings)
    : built_(built),
      clip_(clip.name),
      motion_(built.rig(), clip, false, built.reduced.model->height),
      dynamics_(dynamics_settings(settings.simulate, built.reduced.flesh_frequency, built.reduced.most_acceleration)),
      height_(height_of(built.source)) {
  const double length = std::min(settings.most_seconds, clip.duration - motion_.start());
  run_.steps = static_cast<int>(std::floor(length / dynamics_.time_step)) + 1;
}

Result<FullPoseDynamics> FullComparison::make_full(const PoseSpaceSettings& dynamics) const {
  const ReducedBody& reduced = built_.reduced;
  Result<FullPoseDynamics> full = FullPoseDynamics::create(reduced.mesh, reduced.model->material, reduced.fixed,
                                                           reduced.model->rest, dynamics, &reduced.frames);
  SUPPLE_RETURN_IF_ERROR(full);
  std::vector<std::vector<ElasticMaterial>> materials;
  for (const PoseBasis& own : reduced.poses) materials.push_back(own.materials);
  const bool painted = std::any_of(materials.begin(), materials.end(), [](const auto& own) { return !own.empty(); });
  if (painted && reduced.model->poses) SUPPLE_RETURN_IF_ERROR(full->set_materials(*reduced.model->poses, materials));
  return full;
}

Result<double> FullComparison::truth_error(int finer, int iterations, Progress& progress) const {
  PoseSpaceSettings dynamics = dynamics_;
  dynamics.time_step /= finer;
  dynamics.iterations = std::max(iterations, dynamics.iterations);
  Result<FullPoseDynamics> full = make_full(dynamics);
  SUPPLE_RETURN_IF_ERROR(full);
  progress.stage(finer > 1 ? fmt::format("simulating every vertex with 1/{} of the step", finer)
                           : "simulating every vertex with converged steps");
  CharacterPose pose = built_.rig().neutral();
  double difference = 0, total = 0;
  const int steps = finer * (run_.steps - 1);
  for (int k = 0; k <= steps; ++k) {
    if (progress.cancelled()) return failure("stopped");
    const double since_start = k * dynamics.time_step;
    motion_.sample(motion_.start() + since_start, pose);
    const bool broken = full->step(pose.placement, pose.p).recovered;
    SUPPLE_RETURN_IF_ERROR(check_sane(*full, broken, since_start));
    progress.update(static_cast<double>(k) / (steps + 1));
    if (k % (finer * FullRun::stride) != 0) continue;
    const MatX skin = built_.body.body.embedding.interpolate(full->displacements());
    difference += (run_.skin[to_size(k / (finer * FullRun::stride))] - skin).squaredNorm();
    total += skin.squaredNorm();
  }
  return total > 0 ? std::sqrt(difference / total) : 0;
}

Status FullComparison::check_sane(const FullPoseDynamics& full, bool broken, double since_start) const {
  const double farthest = full.displacements().cwiseAbs().maxCoeff();
  if (!broken && farthest <= FullPoseDynamics::absurd * built_.reduced.model->height) return {};
  return input_error(
      fmt::format("the full simulation of the clip \"{}\" {} after {:.3g} s, so there is nothing to compare with; a "
                  "smaller time step, more damping or firmer flesh may help",
                  clip_, broken ? "broke down" : "flew apart", since_start));
}

Result<double> FullComparison::error_in_basis(const MatX& basis) const {
  Result<FullPoseDynamics> full = make_full(dynamics_);
  SUPPLE_RETURN_IF_ERROR(full);
  full->restrict_to(basis);
  CharacterPose pose = built_.rig().neutral();
  double difference = 0, total = 0;
  for (int k = 0; k < run_.steps; ++k) {
    motion_.sample(time(k), pose);
    full->step(pose.placement, pose.p);
    if (k % FullRun::stride != 0) continue;
    const MatX& truth = run_.skin[to_size(k / FullRun::stride)];
    difference += (built_.body.body.embedding.interpolate(full->displacements()) - truth).squaredNorm();
    total += truth.squaredNorm();
  }
  return total > 0 ? std::sqrt(difference / total) : 0;
}

Status FullComparison::run_full(CompareReport& report, Progress& progress) {
  Result<FullPoseDynamics> full = make_full(dynamics_);
  SUPPLE_RETURN_IF_ERROR(full);
  CharacterPose pose = built_.rig().neutral();
  std::vector<double> step_times;
  progress.stage("simulating every vertex");
  for (int k = 0; k < run_.steps; ++k) {
    if (progress.cancelled()) return failure("stopped");
    motion_.sample(time(k), pose);
    const auto start = Clock::now();
    const bool broken = full->step(pose.placement, pose.p).recovered;
    step_times.push_back(seconds_since(start));
    SUPPLE_RETURN_IF_ERROR(check_sane(*full, broken, time(k) - motion_.start()));
    if (k % FullRun::stride == 0) record(*full, pose, report);
    progress.update(static_cast<double>(k + 1) / run_.steps);
  }
  report.steps = run_.steps;
  report.full_step_seconds = median(step_times);
  return {};
}

Result<CompareRow> FullComparison::run_reduced(const ReducedBody& reduced) const {
  CompareRow row;
  row.size = reduced.model->size();
  row.poses = reduced.model->pose_count();
  row.elastic_error = reduced.elastic_error;
  row.inertial_error = reduced.inertial_error;
  std::vector<const MatX*> bases;
  for (const PoseBasis& own : reduced.poses) bases.push_back(&own.basis);
  row.projection = projection_error(reduced, bases);
  Result<PoseSpaceDynamics<float>> dynamics = PoseSpaceDynamics<float>::create(reduced.model, dynamics_);
  SUPPLE_RETURN_IF_ERROR(dynamics);
  CharacterPose pose = built_.rig().neutral();
  std::vector<Vec3> shown(to_size(reduced.model->surface.vertex_count()));
  std::vector<double> step_times;
  double difference = 0, total = 0;
  for (int k = 0; k < run_.steps; ++k) {
    motion_.sample(time(k), pose);
    const auto start = Clock::now();
    dynamics->step(pose.placement, pose.p);
    step_times.push_back(seconds_since(start));
    if (k % FullRun::stride != 0) continue;
    dynamics->surface_displacements({}, pose.p, dynamics->coordinates(), shown);
    const auto truth = run_.skin[to_size(k / FullRun::stride)].col(0);
    const Eigen::Map<const VecX> ours(shown.front().data(), truth.size());
    difference += (ours - truth).squaredNorm();
    total += truth.squaredNorm();
  }
  row.error = total > 0 ? std::sqrt(difference / total) : 0;
  row.step_seconds = median(step_times);
  return row;
}

double FullComparison::error_of(const FullComparison& other) const {
  double difference = 0, total = 0;
  for (std::size_t k = 0; k < std::min(run_.skin.size(), other.run_.skin.size()); ++k) {
    difference += (other.run_.skin[k] - run_.skin[k]).squaredNorm();
    total += run_.skin[k].squaredNorm();
  }
  return total > 0 ? std::sqrt(difference / total) : 0;
}

double FullComparison::projection_error(const ReducedBody& reduced, const MatX& basis) const {
  const std::vector<const MatX*> same(reduced.poses.size(), &basis);
  return projection_error(reduced, same);
}

void FullComparison::record(const FullPoseDynamics& full, const CharacterPose& pose, CompareReport& report) {
  run_.poses.push_back(pose.p);
  run_.skin.push_back(built_.body.body.embedding.interpolate(full.displacements()));
  const auto& skin = run_.skin.back();
  for (Eigen::Index v = 0; v < skin.rows(); v += 3)
    report.peak = std::max(report.peak, skin.col(0).segment<3>(v).norm() / height_);
  std::vector<Mat3> turns =
      blended_rotations(built_.reduced.mesh, built_.reduced.frames, evaluate_all(*built_.reduced.model->rest, pose.p));
  std::vector<Mat3> back = turns;
  for (Mat3& R : back) R.transposeInPlace();
  run_.local.push_back(turned(back, full.displacements()));
  run_.turns.push_back(std::move(turns));
}

/// In the basis that the model has in each of the poses: the nearest by mass, as dynamics would have it, measured on
/// the skin like the error itself.
double FullComparison::projection_error(const ReducedBody& reduced, std::span<const MatX* const> bases) const {
  const Result<ElasticBody> body = ElasticBody::create(reduced.mesh, reduced.model->material);
  if (!body.ok()) return 0;
  const BlockMatrix& mass = body->consistent_mass();
  double left = 0, total = 0;
  std::vector<double> w(bases.size(), 1.0), scratch = w;
  for (std::size_t k = 0; k < run_.local.size(); ++k) {
    if (reduced.model->poses) reduced.model->poses->evaluate(run_.poses[k], w, scratch);
    MatX basis = MatX::Zero(bases[0]->rows(), bases[0]->cols());
    for (std::size_t i = 0; i < w.size(); ++i) basis += w[i] * *bases[i];
    const VecX f = basis.transpose() * (mass * run_.local[k]);
    const MatX own_mass = basis.transpose() * multiply_columns(mass, basis);
    const VecX missed = run_.local[k] - basis * solve_symmetric(own_mass, f);
    left += built_.body.body.embedding.interpolate(turned(run_.turns[k], missed)).squaredNorm();
    total += run_.skin[k].squaredNorm();
  }
  return total > 0 ? std::sqrt(left / total) : 0;
}

Result<CompareReport> compare_full(CharacterSource source, CompareSettings settings, Progress& progress) {
  const Result<Index> chosen = clip_to_compare(source, settings.clip);
  SUPPLE_RETURN_IF_ERROR(chosen);
  // Rest shapes don't depend on the number of coordinates, so the character is built with the first that was asked for.
  if (!settings.sizes.empty()) source.recipe.flesh.size = settings.sizes.front();
  Result<BuiltCharacter> built = build_character(std::move(source), progress);
  SUPPLE_RETURN_IF_ERROR(built);
  const Recipe& recipe = built->source.recipe;
  const Clip* clip = &built->character().clips[to_size(*chosen)];
  if (settings.as_baked) {
    const Result<double> found = baked_exaggeration(*built, progress);
    SUPPLE_RETURN_IF_ERROR(found);
    settings.simulate.exaggeration = *found;
  }
  CompareReport report;
  report.clip = clip->name;
  report.exaggeration = settings.simulate.exaggeration;
  FullComparison comparison(*built, *clip, settings);
  SUPPLE_RETURN_IF_ERROR(comparison.run_full(report, progress));
  SUPPLE_RETURN_IF_ERROR(measure_truth(comparison, settings, report, progress));
  const std::vector<int> sizes = settings.sizes.empty() ? std::vector<int>{recipe.flesh.size} : settings.sizes;
  const std::vector<int> poses = settings.poses.empty() ? std::vector<int>{recipe.flesh.poses} : settings.poses;
  for (const int size : sizes) {
    for (const int count : poses) {
      Recipe other = recipe;
      other.flesh.size = size;
      other.flesh.poses = count;
      // All against one truth: in the rest shapes of the character as its recipe builds it.
      const bool as_built = size == recipe.flesh.size && count == recipe.flesh.poses;
      const Result<ReducedBody> reduced = as_built ? Result<ReducedBody>(built->reduced)
                                                   : reduce_character(other, built->source, built->body, progress,
                                                                      StageStore::none(), built->reduced.model->rest);
      SUPPLE_RETURN_IF_ERROR(reduced);
      Result<CompareRow> row = comparison.run_reduced(*reduced);
      SUPPLE_RETURN_IF_ERROR(row);
      if (settings.ladder && row->poses == 1) {
        const Result<double> in_basis = comparison.error_in_basis(*reduced);
        SUPPLE_RETURN_IF_ERROR(in_basis);
        row->in_basis = *in_basis;
      }
      if (settings.ladder) {
        const Result<ReducedBody> ignorant = reduce_character(
            other, built->source, built->body, progress, StageStore::none(), built->reduced.model->rest, clip->name);
        SUPPLE_RETURN_IF_ERROR(ignorant);
        const Result<CompareRow> unseen = comparison.run_reduced(*ignorant);
        SUPPLE_RETURN_IF_ERROR(unseen);
        row->unseen = unseen->error;
        if (unseen->poses == 1) {
          const Result<double> in_basis = comparison.error_in_basis(*ignorant);
          SUPPLE_RETURN_IF_ERROR(in_basis);
          row->unseen_in_basis = *in_basis;
        }
      }
      report.rows.push_back(*row);
    }
  }
  return report;
}

}  // namespace supple
