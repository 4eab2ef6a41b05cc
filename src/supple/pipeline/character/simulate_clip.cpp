// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/simulate_clip.h"

#include <fmt/format.h>

#include "supple/base/clock.h"
#include "supple/offline/fitting/flesh_frequency.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

/// Flesh farther than this share of the character's extent from where it belongs has flown apart.
constexpr double flown = 0.4;

/// One way to take a clip's steps: those that were asked for, or, where flesh flies apart with them, gentler ones.
struct Attempt {
  double step = 1;  ///< times the time step
  double gain = 1;
};
constexpr Attempt attempts[] = {{1, 1}, {0.5, 1}, {0.5, 0.5}, {0.5, 0.25}};

/// Drives flesh along a clip.
class ClipDrive {
 public:
  ClipDrive(FleshStepper& flesh, const ClipMotion& motion, const CharacterRig& rig, const SoftForces& forces,
            double extent, SimulatedClip& result, Progress& progress)
      : flesh_(flesh),
        motion_(motion),
        pose_(rig.neutral()),
        forces_(forces),
        extent_(extent),
        result_(result),
        progress_(progress) {}

  /// Steps to `time`; `from` is where the last step ended.
  Status step(double from, double time) {
    motion_.sample(time, pose_);
    if (motion_.is_cut(from, time)) {
      flesh_.cut();
      ++result_.cuts;
    }
    return take_step();
  }
  /// Steps without motion.
  Status settle(double time, int steps) {
    motion_.sample(time, pose_);
    for (int k = 0; k < steps; ++k) SUPPLE_RETURN_IF_ERROR(take_step());
    flesh_.cut();
    return {};
  }
  Status record(Eigen::Index column) {
    result_.coordinates.col(column) = flesh_.state();
    if (violence_ > 1) result_.violent += result_.time_step;
    result_.violence = std::max(result_.violence, violence_);
    progress_.update(static_cast<double>(column + 1) / static_cast<double>(result_.coordinates.cols()));
    if (column % 8 != 0) return {};  // what follows costs as much as a step, and changes slowly
    result_.largest_energy = std::max<double>(result_.largest_energy, flesh_.energy());
    if (flesh_.visible(result_.coordinates.col(column)) > flown * extent_)
      return failure("its flesh flies apart; firmer flesh (--frequency), more damping or a smaller --amount may help");
    return {};
  }
  VecX state() const { return flesh_.state(); }

 private:
  Status take_step() {
    if (progress_.cancelled()) return failure("stopped");
    SoftStepReport report;
    SUPPLE_RETURN_IF_ERROR(flesh_.step(pose_, forces_, report));
    if (report.recovered) ++result_.recovered;
    violence_ = report.violence;
    return {};
  }
  FleshStepper& flesh_;
  const ClipMotion& motion_;
  CharacterPose pose_;
  SoftForces forces_;
  double extent_;
  double violence_ = 0;  ///< of the last step
  SimulatedClip& result_;
  Progress& progress_;
};

/// Repeats the clip until a round ends as it began, then lets the little that is left fade out over the round.
Status run_loop(ClipDrive& drive, const FleshStepper& flesh, double extent, SimulatedClip& result) {
  const Eigen::Index steps = result.coordinates.cols() - 1;
  const double h = result.time_step;
  VecX start;
  SUPPLE_RETURN_IF_ERROR(drive.step(result.start, result.start));
  while (result.rounds < flesh.most_rounds()) {
    const double offset = result.start + result.rounds * static_cast<double>(steps) * h;
    ++result.rounds;
    result.cuts = 0;
    result.violent = 0;
    start = drive.state();
    SUPPLE_RETURN_IF_ERROR(drive.record(0));
    for (Eigen::Index k = 1; k <= steps; ++k) {
      SUPPLE_RETURN_IF_ERROR(drive.step(offset + static_cast<double>(k - 1) * h, offset + static_cast<double>(k) * h));
      SUPPLE_RETURN_IF_ERROR(drive.record(k));
    }
    result.gap = flesh.visible(drive.state() - start);
    // The first round starts from rest and may look closed by accident.
    if (result.rounds > 1 && result.gap / extent < flesh.closed_gap()) break;
  }
  const VecX gap = result.coordinates.col(steps) - result.coordinates.col(0);
  for (Eigen::Index k = 0; k <= steps; ++k)
    result.coordinates.col(k) -= gap * (static_cast<double>(k) / static_cast<double>(steps));
  return {};
}

Status run_once(ClipDrive& drive, const SimulateSettings& settings, double first, bool pushed, SimulatedClip& result) {
  const double h = result.time_step;
  // Whole steps within the clip: before its first moment nothing is known.
  const auto before = static_cast<int>(std::floor(std::min(settings.preroll, result.start - first) / h + 1e-9));
  if (pushed) SUPPLE_RETURN_IF_ERROR(drive.settle(result.start - before * h, static_cast<int>(settings.preroll / h)));
  for (int k = before; k > 0; --k) SUPPLE_RETURN_IF_ERROR(drive.step(result.start - (k + 1) * h, result.start - k * h));
  result.cuts = 0;
  for (Eigen::Index k = 0; k < result.coordinates.cols(); ++k) {
    const double time = result.start + static_cast<double>(k) * h;
    SUPPLE_RETURN_IF_ERROR(drive.step(k == 0 ? time : time - h, time));
    SUPPLE_RETURN_IF_ERROR(drive.record(k));
  }
  return {};
}

/// Which steps of the clip are taken; no coordinates yet. The count of steps is their columns.
Result<SimulatedClip> plan_steps(const Clip& clip, Index state_size, const SimulateSettings& settings) {
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
  result.coordinates = MatX::Zero(state_size, steps + 1);
  return result;
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

SoftStepSettings dynamics_settings(const SimulateSettings& settings, double frequency, double most_acceleration) {
  const RayleighDamping damping = rayleigh_damping(frequency, settings.damping_ratio);
  SoftStepSettings result;
  result.integrator = settings.integrator;
  result.time_step = settings.time_step;
  result.mass_damping = damping.mass;
  result.stiffness_damping = damping.stiffness;
  result.iterations = settings.iterations;
  result.flesh_frequency = frequency;
  result.gain = settings.gain;
  if (settings.limit) result.most_acceleration = most_acceleration;
  result.exaggeration = settings.exaggeration;
  return result;
}

namespace {

/// Takes the clip's steps one way. A result whose flesh broke down on the way is one, but not a good one.
Result<SimulatedClip> attempt_clip(FleshStepper& flesh, const CharacterRig& rig, const Clip& clip, double extent,
                                   const SimulateSettings& settings, double gain, Progress& progress) {
  Result<SimulatedClip> result = plan_steps(clip, flesh.state_size(), settings);
  SUPPLE_RETURN_IF_ERROR(result);
  SUPPLE_RETURN_IF_ERROR(flesh.begin(result->time_step, gain));
  const ClipMotion motion(rig, clip, result->loop, extent);
  ClipDrive drive(flesh, motion, rig, {settings.gravity, settings.wind, settings.drag, {}}, extent, *result, progress);
  const bool pushed = settings.gravity.norm() > 0 || settings.wind.norm() > 0;
  if (result->loop)
    SUPPLE_RETURN_IF_ERROR(run_loop(drive, flesh, extent, *result));
  else
    SUPPLE_RETURN_IF_ERROR(run_once(drive, settings, motion.start(), pushed, *result));
  result->restraint = gain;
  return result;
}

}  // namespace

Result<SimulatedClip> simulate_clip(FleshStepper& flesh, const CharacterRig& rig, const Clip& clip, double extent,
                                    const SimulateSettings& settings, Progress& progress) {
  const auto begin = Clock::now();
  Result<SimulatedClip> result = failure("nothing was simulated");
  for (const Attempt& attempt : attempts) {
    SimulateSettings own = settings;
    own.time_step *= attempt.step;
    result = attempt_clip(flesh, rig, clip, extent, own, attempt.gain, progress);
    const bool flew = result.ok() ? result->recovered > 0 : result.error().kind == ErrorKind::failure;
    if (!flew || progress.cancelled()) break;
  }
  if (!result.ok() && result.error().kind == ErrorKind::failure && !progress.cancelled())
    return input_error(fmt::format("the clip \"{}\": {}", clip.name, result.error().message));
  if (result.ok()) result->seconds = seconds_since(begin);
  return result;
}

}  // namespace supple
