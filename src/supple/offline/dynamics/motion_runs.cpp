// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/dynamics/motion_runs.h"

#include "supple/base/parallel.h"
#include "supple/offline/dynamics/full_pose_dynamics.h"
#include "supple/offline/fitting/flesh_frequency.h"
#include "supple/offline/fitting/frame_sites.h"
#include "supple/rig/groups_by_name.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

namespace supple {
namespace {

constexpr int settling = 4;  ///< long steps that aren't kept
/// What is learnt are shapes, of which coordinates keep the largest: how exactly steps are solved is no part of them.
constexpr double surprise = 0.02, solver_tolerance = 1e-4;
constexpr double damping_ratio = 0.2;

/// Numbers that are the same with every library.
class Dice {
 public:
  explicit Dice(unsigned seed) : random_(seed) {}
  double uniform() { return (static_cast<double>(random_() >> 11) + 0.5) * 0x1p-53; }
  double gaussian() {
    const double u = uniform(), v = uniform();
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
  }
  Vec3 vector() {
    const double x = gaussian(), y = gaussian(), z = gaussian();
    return Vec3(x, y, z);
  }

 private:
  std::mt19937_64 random_;
};

/// A smooth motion of three numbers without a rhythm.
class Wave {
 public:
  Wave(double size, Dice& dice) {
    constexpr double hertz[] = {0.7, 1.5, 3.0}, share[] = {0.8, 0.45, 0.15};
    for (std::size_t k = 0; k < 3; ++k) {
      parts_[k].amplitude = size * share[k] / std::numbers::sqrt3 * dice.vector();
      parts_[k].frequency = 2 * std::numbers::pi * hertz[k] * (0.7 + 0.6 * dice.uniform());
      parts_[k].phase = 2 * std::numbers::pi * dice.uniform();
    }
  }
  Vec3 at(double time) const {
    Vec3 sum = Vec3::Zero();
    for (const Part& part : parts_) sum += part.amplitude * std::sin(part.frequency * time + part.phase);
    return sum;
  }

 private:
  struct Part {
    Vec3 amplitude;
    double frequency, phase;
  };
  std::array<Part, 3> parts_;
};

Quat turned_by(const Vec3& w) {
  const double angle = w.norm();
  return angle > 1e-12 ? Quat(Eigen::AngleAxisd(angle, w / angle)) : Quat::Identity();
}

/// How far the poses are from the first of them in one parameter, root mean square.
double spread_of(const ParameterGroup& group, std::span<const std::vector<double>> poses) {
  double squares = 0;
  for (const std::vector<double>& p : poses)
    squares += std::pow(group_distance(group, p.data(), poses.front().data()), 2);
  return std::sqrt(squares / static_cast<double>(poses.size()));
}

/// Joints turn by so much at least [rad], also those that no known pose has turned: others will.
constexpr double least_turn = 0.25;

/// One stretch of made-up motion: waves for all parameters, around a pose.
class MadeUpRun {
 public:
  MadeUpRun(const PoseLayout& layout, const MadeUpMotion& motion, std::size_t number)
      : layout_(layout),
        base_(motion.poses[number % motion.poses.size()]),
        dice_(motion.seed + static_cast<unsigned>(number)),
        shift_(0.05 * motion.height, dice_),
        turn_(0.2, dice_),
        frame_(motion.frame),
        order_(groups_by_name(layout)) {
    for (const std::size_t g : order_) {
      const ParameterGroup& group = layout.groups[g];
      double size = spread_of(group, motion.poses);
      if (group.kind == ParameterKind::rotation) size = std::clamp(size, least_turn, 0.5);
      if (group.kind == ParameterKind::scalar || group.kind == ParameterKind::scale) size = 0;
      waves_.emplace_back(size, dice_);
    }
  }

  std::vector<double> pose(double time) const {
    std::vector<double> p = base_;
    for (std::size_t k = 0; k < waves_.size(); ++k) {
      const ParameterGroup& group = layout_.groups[order_[k]];
      double* values = p.data() + group.first;
      const Vec3 w = waves_[k].at(time);
      if (group.kind == ParameterKind::rotation) {
        const Quat q = unit_quaternion(values) * turned_by(w);
        std::copy_n(q.coeffs().data(), 4, values);
      } else if (group.kind == ParameterKind::translation) {
        for (int i = 0; i < 3; ++i) values[i] += w[i];
      }
    }
    return p;
  }
  RigidTransform placement(double time) const {
    return frame_ * RigidTransform{shift_.at(time), turned_by(turn_.at(time))} * frame_.inverse();
  }

 private:
  const PoseLayout& layout_;
  const std::vector<double>& base_;
  Dice dice_;
  Wave shift_, turn_;
  RigidTransform frame_;
  std::vector<std::size_t> order_;  ///< of the groups
  std::vector<Wave> waves_;         ///< in that order
};

/// Root mean square of the vertices' accelerations over some moments of the motion.
double acceleration_of(const Rig& rest, const MadeUpRun& run, double seconds) {
  constexpr int moments = 4;
  constexpr double h = MotionRun::step;
  double squares = 0, count = 0;
  for (int k = 0; k < moments; ++k) {
    const double time = seconds * (k + 0.5) / moments;
    std::array<std::vector<Vec3>, 3> x;
    for (int i = 0; i < 3; ++i) {
      const RigidTransform place = run.placement(time + (i - 1) * h);
      x[to_size(i)] = evaluate_all(rest, run.pose(time + (i - 1) * h));
      for (Vec3& point : x[to_size(i)]) point = place * point;
    }
    for (std::size_t v = 0; v < x[0].size(); ++v, ++count)
      squares += ((x[2][v] - 2 * x[1][v] + x[0][v]) / (h * h)).squaredNorm();
  }
  return std::sqrt(squares / std::max(1.0, count));
}

/// Acceleration of every vertex in the middle of three moments, seen from its turned neighbourhood.
VecX turned_acceleration(const TaughtBody& body, const MotionRun& run, std::size_t k,
                         std::vector<DrivenPoint>& points) {
  const std::size_t middle = std::clamp<std::size_t>(k, 1, run.length() - 2);
  std::array<std::vector<Vec3>, 3> x;
  for (std::size_t i = 0; i < 3; ++i) x[i] = evaluate_all(*body.rest, run.poses[middle + i - 1]);
  const std::vector<Eigen::Vector4d> turns = vertex_rotations(body.mesh, x[1]);
  VecX result(3 * std::ssize(turns));
  const bool first = points.empty();
  points.resize(turns.size());
  const double h = run.time_step();
  FleshDrive drive(teaching_settings(body, h));
  for (std::size_t v = 0; v < turns.size(); ++v) {
    const auto at = [&](std::size_t i) -> Vec3 { return run.placements[middle + i - 1] * x[i][v]; };
    const Vec3 a = drive((at(2) - 2 * at(1) + at(0)) / (h * h), points[v], first);
    const Quat turn = run.placements[middle].rotation * unit_quaternion(turns[v].data());
    result.segment<3>(3 * static_cast<Eigen::Index>(v)) = turn.conjugate() * a;
  }
  return result;
}

/// Displacements as each vertex' own turned neighbourhood sees them.
VecX turned_back(const FullPoseDynamics& full) {
  VecX u = full.displacements();
  for (std::size_t v = 0; v < full.rotations().size(); ++v) {
    auto at = u.segment<3>(3 * static_cast<Eigen::Index>(v));
    at = (full.rotations()[v].transpose() * at).eval();
  }
  return u;
}

/// The shapes of one run, one moment per column; none where it flies apart.
TaughtShapes simulate_run(const TaughtBody& body, const MotionRun& run) {
  TaughtShapes shapes;
  Result<FullPoseDynamics> full = FullPoseDynamics::create(body.mesh, body.material, body.fixed, body.rest,
                                                           teaching_settings(body, run.time_step()), body.frames);
  if (!full.ok()) return shapes;
  full->set_surprise(surprise);
  const Result<ElasticBody> elastic = ElasticBody::create(body.mesh, body.material);
  if (!elastic.ok()) return shapes;
  std::vector<VecX> kept;
  std::vector<DrivenPoint> points;
  for (std::size_t k = 0; k < run.length(); ++k) {
    const SoftStepReport report =
        body.frames != nullptr
            ? full->step(run.placements[k], run.poses[k])
            : full->push(elastic->consistent_mass() * VecX(-turned_acceleration(body, run, k, points)));
    const bool broken = report.recovered;
    const double farthest = full->displacements().cwiseAbs().maxCoeff();
    if (broken || !(farthest <= 0.5 * body.extent)) break;
    if (k < to_size(settling * run.finer) || k % to_size(run.every) != 0) continue;
    kept.push_back(body.frames != nullptr ? turned_back(*full) : full->displacements());
    shapes.poses.push_back(run.poses[k]);
    shapes.clips.push_back(run.clip);
  }
  shapes.displacements.resize(3 * static_cast<Eigen::Index>(body.mesh.vertices.size()), std::ssize(kept));
  for (std::size_t k = 0; k < kept.size(); ++k) shapes.displacements.col(static_cast<Eigen::Index>(k)) = kept[k];
  return shapes;
}

}  // namespace

SoftStepSettings teaching_settings(const TaughtBody& body, double time_step) {
  const RayleighDamping damping = rayleigh_damping(body.frequency, damping_ratio);
  SoftStepSettings settings;
  settings.solver_tolerance = solver_tolerance;
  settings.most_acceleration = body.most_acceleration;
  settings.exaggeration = body.exaggeration;
  settings.flesh_frequency = body.frequency;
  settings.time_step = time_step;
  settings.mass_damping = damping.mass;
  settings.stiffness_damping = damping.stiffness;
  return settings;
}

std::vector<MotionRun> made_up_runs(const Rig& rest, const MadeUpMotion& motion) {
  std::vector<MotionRun> runs;
  const double seconds = motion.length * MotionRun::step;
  for (int number = 0; number < motion.runs && !motion.poses.empty(); ++number) {
    const MadeUpRun made(rest.layout(), motion, to_size(number));
    double rate = 1;
    if (motion.acceleration > 0)
      rate =
          std::clamp(std::sqrt(motion.acceleration / std::max(1e-9, acceleration_of(rest, made, seconds))), 0.25, 2.0);
    MotionRun& run = runs.emplace_back();
    for (int k = 0; k < motion.length; ++k) {
      const double time = rate * k * MotionRun::step;
      run.placements.push_back(made.placement(time));
      run.poses.push_back(made.pose(time));
    }
  }
  return runs;
}

TaughtShapes simulate_runs(const TaughtBody& body, std::span<const MotionRun> runs, Progress& progress) {
  std::vector<TaughtShapes> each(runs.size());
  parallel_for(std::ssize(runs), 1, [&](std::int64_t k) {
    if (!progress.cancelled()) each[to_size(k)] = simulate_run(body, runs[to_size(k)]);
  });
  TaughtShapes all;
  Eigen::Index count = 0;
  for (const TaughtShapes& part : each) count += part.count();
  all.displacements.resize(3 * static_cast<Eigen::Index>(body.mesh.vertices.size()), count);
  count = 0;
  for (std::size_t k = 0; k < each.size(); ++k) {
    const TaughtShapes& part = each[k];
    if (part.count() == 0) continue;
    all.runs.insert(all.runs.end(), to_size(part.count()), static_cast<int>(k));
    all.displacements.middleCols(count, part.count()) = part.displacements;
    count += part.count();
    all.poses.insert(all.poses.end(), part.poses.begin(), part.poses.end());
    all.clips.insert(all.clips.end(), part.clips.begin(), part.clips.end());
  }
  return all;
}

}  // namespace supple
