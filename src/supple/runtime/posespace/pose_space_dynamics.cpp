// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/posespace/pose_space_dynamics.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

template <class T>
bool all_finite(const std::vector<T>& values) {
  T sum = T(0);
  for (const T value : values) sum += value * T(0);
  return sum == T(0);
}

template <class T>
double squared_norm(const std::vector<T>& values) {
  double sum = 0;
  for (const T value : values) sum += static_cast<double>(value) * static_cast<double>(value);
  return sum;
}

}  // namespace

/// Velocity and acceleration at the end of the step as functions of Δ = q' − q:
///   backward Euler      v' = Δ/h               a' = (Δ − h v)/h²
///   Newmark (1/4, 1/2)  v' = v + h (a + a')/2  a' = 4 (Δ − h v)/h² − a
template <class T>
struct PoseSpaceDynamics<T>::Scheme {
  T h, velocity_factor, acceleration_factor;
  bool newmark;

  Scheme(const PoseSpaceSettings& settings)
      : h(static_cast<T>(settings.time_step)), newmark(settings.integrator == PoseSpaceIntegrator::newmark) {
    velocity_factor = (newmark ? T(2) : T(1)) / h;
    acceleration_factor = (newmark ? T(4) : T(1)) / (h * h);
  }
  T acceleration(T delta, T v, T a) const { return acceleration_factor * (delta - h * v) - (newmark ? a : T(0)); }
  T velocity(T delta, T v, T a, T next_a) const { return newmark ? v + h * T(0.5) * (a + next_a) : delta / h; }
};

template <class T>
Result<PoseSpaceDynamics<T>> PoseSpaceDynamics<T>::create(std::shared_ptr<const PoseSpaceModel> model,
                                                          const PoseSpaceSettings& settings) {
  if (model->size() == 0 || model->elements.empty() || model->sites.empty())
    return input_error("the character has no soft tissue; everything in it is held by bones or hard parts");
  return create(std::make_shared<const PreparedModel<T>>(std::move(model)), settings);
}

template <class T>
Result<PoseSpaceDynamics<T>> PoseSpaceDynamics<T>::create(std::shared_ptr<const PreparedModel<T>> prepared,
                                                          const PoseSpaceSettings& settings) {
  if (!(settings.time_step > 0) || settings.iterations < 1 || !(settings.stiffness_age >= 0) ||
      !(settings.mass_damping >= 0) || !(settings.stiffness_damping >= 0)) {
    return input_error(
        "a time step must be positive, damping not negative, and a step needs at least one iteration; see the "
        "settings of the simulation");
  }
  PoseSpaceDynamics dynamics;
  const PoseSpaceModel& model = *prepared->model;
  dynamics.settings_ = settings;
  dynamics.rig_workspace_ = model.rest->make_workspace(static_cast<Index>(model.points.size()));
  dynamics.frames_ = FrameField<T>(model);
  dynamics.shown_frames_ = dynamics.frames_;
  dynamics.shown_pose_ = PoseInterpolation<T>(prepared);
  dynamics.forces_ = CubatureForces<T>(prepared, stiffness_parts(settings));
  dynamics.inertia_ =
      InertialForces<T>(prepared, settings.time_step, settings.integrator == PoseSpaceIntegrator::newmark);
  dynamics.surface_ = SurfaceShape<T>(prepared);
  dynamics.positions_.resize(model.points.size());
  for (auto* values : {&dynamics.q_, &dynamics.v_, &dynamics.a_, &dynamics.force_, &dynamics.next_q_, &dynamics.next_v_,
                       &dynamics.next_a_, &dynamics.residual_, &dynamics.along_})
    values->assign(static_cast<std::size_t>(prepared->stride), T(0));
  dynamics.system_.resize(prepared->size);
  dynamics.prepared_ = std::move(prepared);
  dynamics.set_pose(model.rest->layout().neutral);
  return dynamics;
}

template <class T>
int PoseSpaceDynamics<T>::stiffness_parts(const PoseSpaceSettings& settings) {
  if (settings.iterations > 1) return 1;
  return static_cast<int>(std::clamp(settings.stiffness_age / settings.time_step + 1e-6, 1.0, 8.0));
}

template <class T>
void PoseSpaceDynamics<T>::reset() {
  for (auto* values : {&q_, &v_, &a_}) std::fill(values->begin(), values->end(), T(0));
  accelerated_ = true;
  next_part_ = CubatureForces<T>::all_parts;
  inertia_.forget();
  inertia_.restate(q_.data(), v_.data());
}

template <class T>
void PoseSpaceDynamics<T>::set_state(std::span<const T> q, std::span<const T> velocity) {
  std::copy(q.begin(), q.end(), q_.begin());
  std::copy(velocity.begin(), velocity.end(), v_.begin());
  inertia_.restate(q_.data(), v_.data());
  next_part_ = CubatureForces<T>::all_parts;
  accelerated_ = false;
}

template <class T>
T PoseSpaceDynamics<T>::kinetic_energy() {
  std::fill(along_.begin(), along_.end(), T(0));
  forces_.pose().multiply(forces_.pose().mass(), v_.data(), along_.data());
  T sum = T(0);
  for (std::size_t c = 0; c < v_.size(); ++c) sum += v_[c] * along_[c];
  return T(0.5) * sum;
}

template <class T>
void PoseSpaceDynamics<T>::set_pose(std::span<const double> p) {
  model().rest->evaluate(p, model().points, positions_, *rig_workspace_);
  frames_.update(positions_);
  forces_.set_pose(p, positions_);
  inertia_.set_pose(forces_.pose(), frames_, positions_);
}

template <class T>
void PoseSpaceDynamics<T>::add_surface_forces(const RigidTransform& placement, const SoftForces& forces, T* f) {
  for (const SurfaceForce& push : forces.surface) {
    if (push.vertex < 0 || push.vertex >= model().surface.vertex_count() || !push.force.allFinite()) continue;
    surface_.add_force(forces_.pose(), frames_, push.vertex, placement.rotation.conjugate() * push.force, f);
  }
}

template <class T>
bool PoseSpaceDynamics<T>::find_acceleration(T mass_damping) {
  const PoseInterpolation<T>& pose = forces_.pose();
  std::fill(residual_.begin(), residual_.end(), T(0));
  forces_.evaluate(q_.data());
  forces_.add_force(residual_.data());
  std::fill(along_.begin(), along_.end(), T(0));
  forces_.multiply_stiffness(v_.data(), along_.data());
  for (std::size_t c = 0; c < q_.size(); ++c)
    residual_[c] = force_[c] - residual_[c] - static_cast<T>(settings_.stiffness_damping) * along_[c];
  std::copy(pose.mass(), pose.mass() + prepared_->triangle(), system_.column(0));
  if (!system_.factorize()) return false;
  system_.solve(residual_.data());
  for (std::size_t c = 0; c < q_.size(); ++c) a_[c] = residual_[c] - mass_damping * v_[c];
  accelerated_ = true;
  return true;
}

template <class T>
bool PoseSpaceDynamics<T>::solve(const Scheme& scheme, T mass_damping, PoseSpaceReport& report) {
  const auto beta = static_cast<T>(settings_.stiffness_damping);
  const PoseInterpolation<T>& pose = forces_.pose();
  double first = 0;
  next_q_ = q_;
  for (int iteration = 0; iteration < settings_.iterations; ++iteration) {
    for (std::size_t c = 0; c < q_.size(); ++c) {
      const T delta = next_q_[c] - q_[c];
      next_a_[c] = scheme.acceleration(delta, v_[c], a_[c]);
      next_v_[c] = scheme.velocity(delta, v_[c], a_[c], next_a_[c]);
      along_[c] = next_a_[c] + mass_damping * next_v_[c];
      residual_[c] = -force_[c];
    }
    pose.multiply(pose.mass(), along_.data(), residual_.data());
    forces_.evaluate(next_q_.data(), next_part_);
    next_part_ = (next_part_ + 1) % forces_.parts();
    forces_.add_force(residual_.data());
    for (std::size_t c = 0; c < q_.size(); ++c) along_[c] = beta * next_v_[c];
    forces_.multiply_stiffness(along_.data(), residual_.data());
    const double norm = std::sqrt(squared_norm(residual_));
    if (iteration == 0) first = norm;
    report.residual = first > 0 ? norm / first : 0;
    std::fill(system_.column(0), system_.column(0) + prepared_->triangle(), T(0));
    pose.add_scaled(scheme.acceleration_factor + mass_damping * scheme.velocity_factor, pose.mass(), system_.column(0));
    forces_.add_stiffness(T(1) + beta * scheme.velocity_factor, system_.column(0));
    if (!system_.factorize()) return false;
    system_.solve(residual_.data());
    for (int c = 0; c < size(); ++c) next_q_[static_cast<std::size_t>(c)] -= residual_[static_cast<std::size_t>(c)];
  }
  for (std::size_t c = 0; c < q_.size(); ++c) {
    const T delta = next_q_[c] - q_[c];
    next_a_[c] = scheme.acceleration(delta, v_[c], a_[c]);
    next_v_[c] = scheme.velocity(delta, v_[c], a_[c], next_a_[c]);
  }
  return all_finite(next_q_) && all_finite(next_v_) && all_finite(next_a_);
}

template <class T>
PoseSpaceReport PoseSpaceDynamics<T>::step(const RigidTransform& placement, std::span<const double> p,
                                           const SoftForces& forces) {
  PoseSpaceReport report;
  set_pose(p);
  std::fill(force_.begin(), force_.end(), T(0));
  inertia_.add_force(placement, forces, force_.data());
  add_surface_forces(placement, forces, force_.data());
  // Air that all mass feels alike: D̃ += drag · M̃, stable however strong.
  const auto mass_damping = static_cast<T>(settings_.mass_damping + std::max(0.0, forces.drag));
  const bool started = accelerated_ || find_acceleration(mass_damping);
  if (started && all_finite(force_) && solve(Scheme(settings_), mass_damping, report)) {
    std::swap(q_, next_q_);
    std::swap(v_, next_v_);
    std::swap(a_, next_a_);
    inertia_.remember(placement, q_.data(), a_.data());
  } else {
    report = {.residual = 0.0, .recovered = true};
    reset();
  }
  return report;
}

template <class T>
void PoseSpaceDynamics<T>::surface_displacements(const RigidTransform& placement, std::span<const double> p,
                                                 std::span<const T> q, std::span<Vec3> displacements) {
  model().rest->evaluate(p, model().points, positions_, *rig_workspace_);
  shown_frames_.update(positions_);
  shown_pose_.update(p);
  surface_.displacements(shown_pose_, shown_frames_, q.data(), placement.rotation.toRotationMatrix().template cast<T>(),
                         displacements);
}

template class PoseSpaceDynamics<float>;
template class PoseSpaceDynamics<double>;

}  // namespace supple
