// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/simulate_clip.h"

#include <fmt/format.h>

#include "supple/base/clock.h"
#include "supple/offline/posespace/flesh_frequency.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

using Dynamics = PoseSpaceDynamics<float>;

/// Drives an instance along a clip.
class Run {
 public:
  Run(Dynamics& dynamics, const ClipMotion& motion, const CharacterRig& rig, const SoftForces& forces,
      SimulatedClip& result)
      : dynamics_(dynamics), motion_(motion), pose_(rig.neutral()), forces_(forces), result_(result) {}

  /// Steps to `time`; `from` is where the last step ended.
  void step(double from, double time) {
    motion_.sample(time, pose_);
    if (motion_.is_cut(from, time)) {
      dynamics_.cut();
      ++result_.cuts;
    }
    take_step();
  }
  /// Steps without motion.
  void settle(double time, int steps) {
    motion_.sample(time, pose_);
    for (int k = 0; k < steps; ++k) take_step();
    dynamics_.cut();
  }
  void record(Eigen::Index column) {
    result_.coordinates.col(column) = coordinates();
    if (column % 8 != 0) return;  // energy costs a third of a step, and changes slowly
    result_.largest_energy =
        std::max<double>(result_.largest_energy, dynamics_.elastic_energy() + dynamics_.kinetic_energy());
  }
  VecX coordinates() const {
    const auto q = dynamics_.coordinates();
    return Eigen::Map<const Eigen::VectorXf>(q.data(), static_cast<Eigen::Index>(q.size())).cast<double>();
  }

 private:
  void take_step() {
    if (dynamics_.step(pose_.placement, pose_.p, forces_).recovered) ++result_.recovered;
  }
  Dynamics& dynamics_;
  const ClipMotion& motion_;
  CharacterPose pose_;
  SoftForces forces_;
  SimulatedClip& result_;
};

/// Largest displacement of a surface vertex that a change of q makes, as a share of the height.
double visible(const PoseSpaceModel& model, const VecX& difference) {
  return largest_displacement(model, difference) / model.height;
}

/// Repeats the clip until a round ends as it began, then lets the little that is left fade out over the round.
void run_loop(Run& run, const PoseSpaceModel& model, SimulatedClip& result) {
  constexpr int most_rounds = 40;
  constexpr double same = 1e-5;
  const Eigen::Index steps = result.coordinates.cols() - 1;
  const double h = result.time_step;
  VecX start;
  run.step(result.start, result.start);
  while (result.rounds < most_rounds) {
    const double offset = result.start + result.rounds * static_cast<double>(steps) * h;
    ++result.rounds;
    result.cuts = 0;
    start = run.coordinates();
    run.record(0);
    for (Eigen::Index k = 1; k <= steps; ++k) {
      run.step(offset + static_cast<double>(k - 1) * h, offset + static_cast<double>(k) * h);
      run.record(k);
    }
    result.gap = visible(model, run.coordinates() - start);
    // The first round starts from rest and may look closed by accident.
    if (result.rounds > 1 && result.gap < same) break;
  }
  const VecX gap = result.coordinates.col(steps) - result.coordinates.col(0);
  for (Eigen::Index k = 0; k <= steps; ++k)
    result.coordinates.col(k) -= gap * (static_cast<double>(k) / static_cast<double>(steps));
}

void run_once(Run& run, const SimulateSettings& settings, double first, bool pushed, SimulatedClip& result) {
  const double h = result.time_step;
  // Whole steps within the clip: before its first moment nothing is known.
  const auto before = static_cast<int>(std::floor(std::min(settings.preroll, result.start - first) / h + 1e-9));
  if (pushed) run.settle(result.start - before * h, static_cast<int>(settings.preroll / h));
  for (int k = before; k > 0; --k) run.step(result.start - (k + 1) * h, result.start - k * h);
  result.cuts = 0;
  for (Eigen::Index k = 0; k < result.coordinates.cols(); ++k) {
    const double time = result.start + static_cast<double>(k) * h;
    run.step(k == 0 ? time : time - h, time);
    run.record(k);
  }
}

}  // namespace

VecX SimulatedClip::at(double time) const {
  const Eigen::Index last = coordinates.cols() - 1;
  if (last <= 0) return coordinates.col(0);
  double place = (time - start) / time_step;
  if (loop) place -= std::floor(place / static_cast<double>(last)) * static_cast<double>(last);
  place = std::clamp(place, 0.0, static_cast<double>(last));
  const Eigen::Index k = std::min(last - 1, static_cast<Eigen::Index>(place));
  const double s = place - static_cast<double>(k);
  const auto column = [&](Eigen::Index i) -> VecX {
    if (loop) return coordinates.col((i + last) % last);
    return coordinates.col(std::clamp<Eigen::Index>(i, 0, last));
  };
  // Catmull-Rom
  const VecX a = column(k - 1), b = column(k), c = column(k + 1), d = column(k + 2);
  return b + 0.5 * s * (c - a + s * (2 * a - 5 * b + 4 * c - d + s * (3 * (b - c) + d - a)));
}

PoseSpaceSettings dynamics_settings(const SimulateSettings& settings, double frequency) {
  const RayleighDamping damping = rayleigh_damping(frequency, settings.damping_ratio);
  PoseSpaceSettings result;
  result.integrator = settings.integrator;
  result.time_step = settings.time_step;
  result.mass_damping = damping.mass;
  result.stiffness_damping = damping.stiffness;
  result.iterations = settings.iterations;
  return result;
}

Result<SimulatedClip> simulate_clip(const std::shared_ptr<const PoseSpaceModel>& model, double flesh_frequency,
                                    const CharacterRig& rig, const Clip& clip, const SimulateSettings& settings) {
  const auto begin = Clock::now();
  const double to = std::min(settings.to.value_or(clip.duration), clip.duration);
  const double from = std::min(std::max(settings.from, first_key(clip)), clip.duration);
  if (settings.from < 0 || settings.from > to || from > to)
    return input_error(fmt::format("the clip \"{}\" lasts {:g} s; there is nothing from {:g} s to {:g} s in it",
                                   clip.name, clip.duration, settings.from, to));
  SimulatedClip result;
  const double first = std::min(first_key(clip), clip.duration);
  const double whole = clip.duration - first;
  result.loop = settings.loop && whole > 0;
  // The clip is a whole number of steps, so that none looks beyond its end; a range of it takes the same steps.
  const double whole_steps = std::ceil(whole / settings.time_step - 1e-9);
  result.time_step = whole_steps > 0 ? whole / whole_steps : settings.time_step;
  const double skipped = result.loop ? 0 : std::floor((from - first) / result.time_step + 1e-9);
  result.start = first + skipped * result.time_step;
  const double end = result.loop ? clip.duration : to;
  const auto steps = static_cast<Eigen::Index>(std::ceil((end - result.start) / result.time_step - 1e-9));
  result.coordinates = MatX::Zero(model->size(), steps + 1);
  PoseSpaceSettings dynamics_settings_used = dynamics_settings(settings, flesh_frequency);
  dynamics_settings_used.time_step = result.time_step;
  Result<Dynamics> dynamics = Dynamics::create(model, dynamics_settings_used);
  SUPPLE_RETURN_IF_ERROR(dynamics);
  const ClipMotion motion(rig, clip, result.loop, model->height);
  Run run(*dynamics, motion, rig, {settings.gravity, settings.wind, settings.drag, {}}, result);
  const bool pushed = settings.gravity.norm() > 0 || settings.wind.norm() > 0;
  if (result.loop)
    run_loop(run, *model, result);
  else
    run_once(run, settings, motion.start(), pushed, result);
  result.seconds = seconds_since(begin);
  return result;
}

}  // namespace supple
