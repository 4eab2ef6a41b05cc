// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/posespace/estimate_error.h"

#include "supple/base/parallel.h"
#include "supple/offline/dynamics/full_pose_dynamics.h"
#include "supple/runtime/posespace/pose_space_dynamics.h"

#include <cmath>

namespace supple {
namespace {

struct Squares {
  double difference = 0, total = 0;
};

/// Nothing where a simulation breaks down.
std::optional<Squares> compare(FullPoseDynamics& full, PoseSpaceDynamics<float>& reduced, const MotionRun& run,
                               const Embedding& skin, double extent) {
  Squares squares;
  std::vector<Vec3> shown(skin.size());
  for (std::size_t k = 0; k < run.length(); ++k) {
    const bool broken = full.step(run.placements[k], run.poses[k]).recovered;
    const bool lost = reduced.step(run.placements[k], run.poses[k]).recovered;
    if (broken || lost || !(full.displacements().cwiseAbs().maxCoeff() <= 0.5 * extent)) return {};
    if (k % 2 != 0) continue;
    reduced.surface_displacements({}, run.poses[k], reduced.coordinates(), shown);
    const MatX truth = skin.interpolate(full.displacements());
    squares.difference += (Eigen::Map<const VecX>(shown.front().data(), truth.rows()) - truth.col(0)).squaredNorm();
    squares.total += truth.squaredNorm();
  }
  return squares;
}

}  // namespace

std::optional<double> estimate_error(const TaughtBody& body, const Embedding& skin,
                                     const std::shared_ptr<const PoseSpaceModel>& model,
                                     std::span<const MotionRun> runs) {
  if (skin.size() == 0) return {};
  std::vector<std::optional<Squares>> each(runs.size());
  parallel_for(std::ssize(runs), 1, [&](std::int64_t k) {
    const SoftStepSettings settings = teaching_settings(body, runs[to_size(k)].time_step());
    Result<FullPoseDynamics> full =
        FullPoseDynamics::create(body.mesh, body.material, body.fixed, body.rest, settings, body.frames);
    Result<PoseSpaceDynamics<float>> reduced = PoseSpaceDynamics<float>::create(model, settings);
    if (full.ok() && reduced.ok()) each[to_size(k)] = compare(*full, *reduced, runs[to_size(k)], skin, body.extent);
  });
  Squares all;
  for (const std::optional<Squares>& own : each) {
    if (!own) return {};
    all.difference += own->difference;
    all.total += own->total;
  }
  if (!(all.total > 0)) return {};
  return std::sqrt(all.difference / all.total);
}

}  // namespace supple
