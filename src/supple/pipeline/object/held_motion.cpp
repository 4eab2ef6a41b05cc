// SPDX-License-Identifier: Apache-2.0
// The motion of a body that is held: every load is projected onto the basis, what doesn't change only once.
#include "supple/fem/loads.h"
#include "supple/pipeline/object/scene_motion.h"
#include "supple/runtime/subspace/state_archive.h"

namespace supple {
namespace {

using HeldDynamics = SubspaceDynamics<double>;

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

SubspaceSettings held_settings(const Scene& scene, double load_scale) {
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

class HeldMotion final : public SceneMotion {
 public:
  HeldMotion(const Scene& scene, const SceneBody& body, ReducedLoads loads, HeldDynamics dynamics)
      : scene_(scene), body_(body), loads_(std::move(loads)), dynamics_(std::move(dynamics)) {}

  void begin() override { dynamics_.initialize(loads_.at(0, dynamics_.state().q)); }

  Status resume(const std::filesystem::path& path) override {
    const Result<SubspaceState<double>> state = load_subspace_state(path, dynamics_.size());
    SUPPLE_RETURN_IF_ERROR(state);
    dynamics_.set_state(*state);
    return {};
  }

  MotionReport step(double time) override {
    const SubspaceReport report = dynamics_.step(loads_.at(time, dynamics_.state().q));
    return {.iterations = report.iterations,
            .residual = relative(report.residual),
            .converged = converged(report),
            .recovered = report.recovered};
  }

  Result<MotionReport> find_equilibrium() override {
    constexpr int rounds = 40;  // the load of a pressure depends on the answer
    MotionReport sum;
    SubspaceReport report;
    for (int round = 0;; ++round) {
      const std::vector<double> before = dynamics_.state().q;
      report = dynamics_.solve_static(loads_.at(0, before), scene_.statics.max_iterations);
      sum.iterations += report.iterations;
      const double change = (as_vector(dynamics_.state().q) - as_vector(before)).norm();
      if (!body_.has_pressure() || change <= 1e-8 * as_vector(dynamics_.state().q).norm()) break;
      if (round == rounds)
        return input_error(scene_.name + ": the pressure did not settle on the deformed surface; apply less of it");
    }
    if (report.recovered || report.iterations == scene_.statics.max_iterations)
      return input_error(scene_.name + ": no equilibrium was found; apply less load, or raise newton_iterations");
    sum.residual = relative(report.residual);
    return sum;
  }

  double time() const override { return dynamics_.state().time; }
  VecX displacements() const override { return body_.model->basis * as_vector(dynamics_.state().q); }
  VecX velocities() const override { return body_.model->basis * as_vector(dynamics_.state().velocity); }
  double kinetic_energy() const override { return dynamics_.kinetic_energy(); }
  double elastic_energy() override { return dynamics_.elastic_energy(); }

  std::vector<Vec3> surface_positions() const override {
    const DisplaySurface& surface = body_.model->surface;
    const VecX u = surface.basis * as_vector(dynamics_.state().q);
    std::vector<Vec3> positions = surface.rest_positions;
    for (std::size_t v = 0; v < positions.size(); ++v) positions[v] += u.segment<3>(3 * static_cast<Eigen::Index>(v));
    return positions;
  }

  std::string encode_state() const override { return encode_subspace_state(dynamics_.state()); }

 private:
  /// Newton's method stops when the residual is small enough, or at its limit. A limit of one is a scheme of its own.
  bool converged(const SubspaceReport& report) const {
    const SubspaceSettings& settings = dynamics_.settings();
    return settings.integrator == SubspaceIntegrator::central_differences || settings.max_iterations == 1 ||
           report.iterations < settings.max_iterations || report.residual <= settings.tolerance;
  }

  double relative(double residual) const { return residual / std::max(loads_.scale(), 1e-300); }

  const Scene& scene_;
  const SceneBody& body_;
  ReducedLoads loads_;
  HeldDynamics dynamics_;
};

}  // namespace

Result<std::unique_ptr<SceneMotion>> make_held_motion(const Scene& scene, const SceneBody& body) {
  ReducedLoads loads(body);
  Result<HeldDynamics> dynamics = HeldDynamics::create(*body.model, held_settings(scene, loads.scale()));
  if (!dynamics.ok()) return in_scene(scene, {}, dynamics.error());
  return std::unique_ptr<SceneMotion>(
      std::make_unique<HeldMotion>(scene, body, std::move(loads), std::move(*dynamics)));
}

}  // namespace supple
