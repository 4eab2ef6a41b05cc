// SPDX-License-Identifier: Apache-2.0
// The motion of a body that nothing holds: it falls, flies and turns, and bends in its frame.
//
// Forces and tractions keep their direction in the world and are reduced once, whatever pose they will act in
// (runtime/subspace/floating_load.h). A pressure is taken from the deformed surface at the start of each step and turns
// with the body during the step. Loads that have a beginning or an end act in the steps whose middle lies between: the
// impulse of a load of whole steps is exact at any step size.
#include "supple/fem/loads.h"
#include "supple/pipeline/object/scene_motion.h"
#include "supple/runtime/subspace/state_archive.h"

namespace supple {
namespace {

/// The loads of a scene but for gravity, which the body knows itself.
class FreeLoads {
 public:
  explicit FreeLoads(const SceneBody& body) : body_(body) {
    for (const SelectedForce& load : body.forces) {
      VecX force = VecX::Zero(body.body.dof_count());
      for (const Index v : load.vertices) add_point_force(force, v, load.newtons);
      timed_.push_back({reduce_load(*body.model, force), load.window});
    }
    for (const SelectedTraction& load : body.tractions) {
      VecX force = VecX::Zero(body.body.dof_count());
      add_traction(force, body.body, load.triangles, load.pascals);
      timed_.push_back({reduce_load(*body.model, force), load.window});
    }
  }

  /// Lets what acts at `time` act during the next step.
  void apply(double time, FloatingBody& floating) const {
    for (const TimedLoad& timed : timed_)
      if (timed.window.contains(time)) floating.add_load(timed.load);
    if (body_.has_pressure()) floating.add_load(pressures(time, floating.state().q), LoadFrame::body);
  }

 private:
  struct TimedLoad {
    FloatingLoad load;
    TimeWindow window;
  };

  /// In the frame, where the body is deformed but neither moved nor turned.
  FloatingLoad pressures(double time, const VecX& q) const {
    const VecX u = body_.model->basis * q;
    VecX force = VecX::Zero(u.size());
    for (const SelectedPressure& load : body_.pressures)
      if (load.window.contains(time)) add_pressure(force, body_.body, u, load.triangles, load.pascals);
    return reduce_load(*body_.model, force);
  }

  const SceneBody& body_;
  std::vector<TimedLoad> timed_;
};

/// α of a scene damps all motion, as it does in full space, where D = α M + β K doesn't know a frame.
FloatingSettings free_settings(const Scene& scene) {
  const DynamicsSettings& d = scene.dynamics;
  FloatingSettings settings;
  settings.time_step = d.time_step;
  settings.gravity = scene.gravity;
  settings.drag = d.mass_damping;
  settings.stiffness_damping = d.stiffness_damping;
  settings.max_iterations = d.max_newton_iterations;
  settings.tolerance = d.newton_tolerance;
  settings.max_point_forces = 0;
  return settings;
}

Error nothing_holds(const Scene& scene) {
  return input_error(scene.name +
                     ": nothing holds the model, so a static load has no answer; build it with fixed vertices, or make "
                     "the scene dynamic");
}

class FreeMotion final : public SceneMotion {
 public:
  FreeMotion(const Scene& scene, const SceneBody& body, FloatingBody floating)
      : scene_(scene), body_(body), loads_(body), floating_(std::move(floating)) {}

  std::vector<std::string> warnings() const override {
    const DynamicsSettings& d = scene_.dynamics;
    if (d.integrator == Integrator::newmark && d.newmark_beta == 0.25 && d.newmark_gamma == 0.5) return {};
    return {"a free object has a time integrator of its own; integrator, newmark_beta and newmark_gamma are not used"};
  }

  Status resume(const std::filesystem::path& path) override { return resume_floating_state(path, floating_); }

  MotionReport step(double time) override {
    loads_.apply(time - 0.5 * scene_.dynamics.time_step, floating_);
    const FloatingReport report = floating_.step();
    return {.iterations = report.iterations,
            .residual = report.correction,
            .converged = report.converged || scene_.dynamics.max_newton_iterations == 1,
            .recovered = report.recovered};
  }

  Result<MotionReport> find_equilibrium() override { return nothing_holds(scene_); }

  double time() const override { return floating_.state().time; }

  VecX displacements() const override {
    const FloatingState& state = floating_.state();
    VecX u = in_frame();
    for (Index v = 0; v < body_.model->vertex_count(); ++v) {
      const Vec3& rest = body_.model->rest_positions[to_size(v)];
      u.segment<3>(3 * v) = state.position + floating_.rotation() * Vec3(u.segment<3>(3 * v)) - rest;
    }
    return u;
  }

  /// ẋ = ċ + ω × R y + R U q̇
  VecX velocities() const override {
    const FloatingVelocity velocity = floating_.velocity();
    const VecX y = in_frame();
    VecX v = body_.model->basis * velocity.q;
    for (Index k = 0; k < body_.model->vertex_count(); ++k) {
      const Vec3 arm = floating_.rotation() * y.segment<3>(3 * k);
      v.segment<3>(3 * k) =
          velocity.linear + velocity.angular.cross(arm) + floating_.rotation() * Vec3(v.segment<3>(3 * k));
    }
    return v;
  }

  double kinetic_energy() const override { return floating_.kinetic_energy(); }
  double elastic_energy() override { return floating_.elastic_energy(); }

  std::vector<Vec3> surface_positions() const override {
    std::vector<Vec3> positions(floating_.surface_rest().size());
    floating_.surface_positions(positions);
    return positions;
  }

  std::string encode_state() const override { return encode_floating_state(floating_); }

 private:
  /// y = X + U q of all vertices.
  VecX in_frame() const { return body_.body.rest_positions() + body_.model->basis * floating_.state().q; }

  const Scene& scene_;
  const SceneBody& body_;
  FreeLoads loads_;
  FloatingBody floating_;
};

}  // namespace

Result<std::unique_ptr<SceneMotion>> make_free_motion(const Scene& scene, const SceneBody& body) {
  if (!scene.dynamic) return nothing_holds(scene);
  Result<FloatingBody> floating = FloatingBody::create(*body.model, free_settings(scene));
  if (!floating.ok()) return in_scene(scene, {}, floating.error());
  return std::unique_ptr<SceneMotion>(std::make_unique<FreeMotion>(scene, body, std::move(*floating)));
}

}  // namespace supple
