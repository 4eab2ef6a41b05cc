// SPDX-License-Identifier: Apache-2.0
#include "samples/swing.h"

#include "supple/fem/dynamics.h"
#include "supple/mesh/bounds.h"
#include "supple/offline/forces/cubic_forces.h"
#include "supple/runtime/subspace/subspace_dynamics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace supple {
namespace {

constexpr int newton_iterations = 20;

double push_at(const SwingSettings& settings, double time) {
  if (time >= settings.push_seconds) return 0;
  return settings.force * std::sin(std::numbers::pi * time / settings.push_seconds);
}

int step_count(const SwingSettings& settings) {
  return static_cast<int>(std::lround(settings.seconds / settings.time_step));
}

VecX unit_push(const std::vector<Index>& grabbed, Eigen::Index size) {
  VecX push = VecX::Zero(size);
  for (const Index v : grabbed) push[3 * v + 1] = 1.0 / static_cast<double>(grabbed.size());
  return push;
}

/// The extreme of |y| around sample `k`, by the parabola through its neighbours.
double parabola_top(const std::vector<double>& y, std::size_t k) {
  if (k == 0 || k + 1 >= y.size()) return std::abs(y[k]);
  const double curvature = y[k - 1] - 2 * y[k] + y[k + 1], slope = (y[k + 1] - y[k - 1]) / 2;
  return std::abs(curvature == 0 ? y[k] : y[k] - slope * slope / (2 * curvature));
}

double mean(const std::vector<double>& values, std::size_t count) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += values[i];
  return sum / static_cast<double>(count);
}

}  // namespace

std::vector<Index> grabbed_vertices(const SubspaceSample& scene, double along) {
  const std::vector<Vec3>& places = scene.bricks.vertices;
  std::vector<double> from_fixed(places.size(), std::numeric_limits<double>::infinity());
  for (std::size_t v = 0; v < places.size(); ++v)
    for (const Index f : scene.fixed_vertices)
      from_fixed[v] = std::min(from_fixed[v], (places[v] - places[to_size(f)]).norm());
  const double wanted = along * *std::max_element(from_fixed.begin(), from_fixed.end());
  std::size_t farthest = 0;
  for (std::size_t v = 1; v < places.size(); ++v)
    if (std::abs(from_fixed[v] - wanted) < std::abs(from_fixed[farthest] - wanted)) farthest = v;
  const double reach = 0.03 * bounds_of(places).size().norm();
  std::vector<Index> grabbed;
  Vec3 middle = Vec3::Zero();
  for (std::size_t v = 0; v < places.size(); ++v) {
    if ((places[v] - places[farthest]).norm() > reach) continue;
    grabbed.push_back(static_cast<Index>(v));
    middle += places[v];
  }
  middle /= static_cast<double>(grabbed.size());
  const auto distance = [&](Index v) { return (places[to_size(v)] - middle).norm(); };
  std::iter_swap(grabbed.begin(), std::min_element(grabbed.begin(), grabbed.end(),
                                                   [&](Index a, Index b) { return distance(a) < distance(b); }));
  return grabbed;
}

Result<SketchRecording> sketch_pull(const SubspaceSample& scene, const ElasticBody& body, const Modes& modes, int steps,
                                    double along) {
  ScriptedPull script{.vertices = grabbed_vertices(scene, along), .path = {}, .steps = steps};
  const bool lies = scene.name == "spoon" || scene.name == "bridge";  // along x; the others stand or hang along y
  const double reach = along * (scene.name == "spoon" ? 0.8 : 0.1);
  for (const Vec3& direction : {Vec3(lies ? 0 : 1, lies ? 1 : 0, 0), Vec3(0, 0, 1)}) {
    script.path.push_back({direction, reach});
    script.path.push_back({-direction, reach});
  }
  return scripted_pull(body, modes, script);
}

Result<Swing> swing_full(const SubspaceSample& scene, const ElasticBody& body, const SwingSettings& settings) {
  Result<FullDynamics> dynamics = FullDynamics::create(body, scene.fixed_vertices,
                                                       {.time_step = settings.time_step,
                                                        .stiffness_damping = settings.stiffness_damping,
                                                        .max_newton_iterations = newton_iterations,
                                                        .newton_tolerance = 1e-5,
                                                        .newton_growth = std::numeric_limits<double>::infinity()});
  SUPPLE_RETURN_IF_ERROR(dynamics);
  const std::vector<Index> grabbed = grabbed_vertices(scene);
  const VecX push = unit_push(grabbed, body.dof_count());
  const int steps = step_count(settings);
  Swing swing;
  swing.shapes.resize(body.dof_count(), steps);
  DynamicsState state = dynamics->rest_state();
  for (int k = 0; k < steps; ++k) {
    const double time = (k + 1) * settings.time_step;
    const StepReport report = dynamics->step(state, push_at(settings, time) * push);
    if (!report.converged) return failure("the full swing did not converge; take a shorter time step or push less");
    swing.time.push_back(time);
    swing.height.push_back(state.u[3 * grabbed[0] + 1]);
    swing.shapes.col(k) = state.u;
  }
  return swing;
}

Result<Swing> swing_reduced(const SubspaceSample& scene, const MatX& basis, const SwingSettings& settings) {
  const Result<SubspaceModel> model = build_subspace_model(scene.bricks, basis);
  SUPPLE_RETURN_IF_ERROR(model);
  auto dynamics = SubspaceDynamics<double>::create(*model, {.time_step = settings.time_step,
                                                            .stiffness_damping = settings.stiffness_damping,
                                                            .max_iterations = newton_iterations});
  SUPPLE_RETURN_IF_ERROR(dynamics);
  const std::vector<Index> grabbed = grabbed_vertices(scene);
  const VecX push = basis.transpose() * unit_push(grabbed, basis.rows());
  const VecX height = basis.row(3 * grabbed[0] + 1).transpose();
  Swing swing;
  for (int k = 0; k < step_count(settings); ++k) {
    const double time = (k + 1) * settings.time_step;
    const VecX force = push_at(settings, time) * push;
    if (dynamics->step({force.data(), to_size(force.size())}).recovered)
      return failure("the reduced swing broke down; take a shorter time step or push less");
    swing.time.push_back(time);
    swing.height.push_back(height.dot(Eigen::Map<const VecX>(dynamics->state().q.data(), basis.cols())));
  }
  return swing;
}

SwingMeasure measure_swing(const Swing& swing) {
  SwingMeasure measure;
  const std::vector<double>&t = swing.time, &y = swing.height;
  std::size_t top = 0;
  double largest = 0;
  for (const double value : y) largest = std::max(largest, std::abs(value));
  for (std::size_t k = 0; k + 1 < y.size(); ++k) {
    if (std::abs(y[k]) > std::abs(y[top])) top = k;
    // Ripples around zero don't count: a half-swing reaches a tenth of the largest height.
    if (y[k] * y[k + 1] > 0 || y[k + 1] == 0 || std::abs(y[top]) < 0.1 * largest) continue;
    measure.crossings.push_back(t[k] + (t[k + 1] - t[k]) * y[k] / (y[k] - y[k + 1]));
    measure.extremes.push_back(parabola_top(y, top));
    top = k + 1;
  }
  return measure;
}

Result<SwingComparison> compare_swings(const Swing& reference, const Swing& swing) {
  const SwingMeasure ours = measure_swing(swing), theirs = measure_swing(reference);
  const std::size_t count = std::min(ours.crossings.size(), theirs.crossings.size());
  if (count < 2 || swing.height.size() != reference.height.size())
    return failure("the swings are too short, or not equally long, to be compared");
  const auto frequency = [&](const SwingMeasure& m) {
    return 0.5 * static_cast<double>(count - 1) / (m.crossings[count - 1] - m.crossings[0]);
  };
  SwingComparison result;
  result.amplitude = mean(ours.extremes, count);
  result.frequency = frequency(ours);
  result.amplitude_error = result.amplitude / mean(theirs.extremes, count) - 1;
  result.frequency_error = result.frequency / frequency(theirs) - 1;
  const auto size = static_cast<Eigen::Index>(swing.height.size());
  const Eigen::Map<const VecX> a(reference.height.data(), size), b(swing.height.data(), size);
  result.rms_error = (b - a).norm() / a.norm();
  return result;
}

}  // namespace supple
