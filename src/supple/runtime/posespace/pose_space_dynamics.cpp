// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/posespace/pose_space_dynamics.h"

#include "supple/math/simd/lanes.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstring>

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
  if (!(settings.time_step > 0) || settings.iterations < 1 || !(settings.mass_damping >= 0) ||
      !(settings.stiffness_damping >= 0)) {
    return input_error(
        "a time step must be positive, damping not negative, and a step needs at least one iteration; see the "
        "settings of the simulation");
  }
  PoseSpaceDynamics dynamics;
  const PoseSpaceModel& model = *prepared->model;
  dynamics.settings_ = settings;
  dynamics.rig_workspace_ = model.rest->make_workspace(static_cast<Index>(model.points.size()));
  const auto shown_sites = prepared->surface->site_vertices.size();
  dynamics.shown_workspace_ = model.rest->make_workspace(static_cast<Index>(shown_sites));
  dynamics.shown_positions_.resize(shown_sites);
  dynamics.frames_ = FrameField<T>(model.sites);
  dynamics.shown_frames_ = FrameField<T>(prepared->surface->sites);
  dynamics.shown_pose_ = PoseFactors<T>(prepared);
  dynamics.forces_ = CubatureForces<T>(prepared);
  dynamics.inertia_ =
      InertialForces<T>(prepared, settings.time_step, settings.integrator == PoseSpaceIntegrator::newmark);
  dynamics.inertia_.drive = FleshDrive(settings);
  dynamics.surface_ = SurfaceShape<T>(prepared);
  dynamics.positions_.resize(model.points.size());
  for (auto* values : {&dynamics.q_, &dynamics.v_, &dynamics.a_, &dynamics.force_, &dynamics.next_q_, &dynamics.next_v_,
                       &dynamics.next_a_, &dynamics.residual_, &dynamics.along_, &dynamics.elastic_, &dynamics.trial_})
    values->assign(to_size(prepared->stride), T(0));
  dynamics.detail_ = LevelOfDetail(prepared->patches, PreparedModel<T>::width);
  dynamics.mass_ = KeptCholesky<T>(prepared->size);
  dynamics.system_ = StepSystem<T>(*prepared);
  dynamics.prepared_ = std::move(prepared);
  dynamics.set_pose(model.rest->layout().neutral);
  return dynamics;
}

template <class T>
void PoseSpaceDynamics<T>::reset() {
  for (auto* values : {&q_, &v_, &a_}) std::fill(values->begin(), values->end(), T(0));
  energy_ = T(0);
  accelerated_ = true;
  system_.forget();
  inertia_.forget();
  inertia_.restate(q_.data(), v_.data());
}

template <class T>
void PoseSpaceDynamics<T>::set_state(std::span<const T> q, std::span<const T> velocity) {
  std::copy(q.begin(), q.end(), q_.begin());
  std::copy(velocity.begin(), velocity.end(), v_.begin());
  detail_.kept().clear_others(q_.data());
  detail_.kept().clear_others(v_.data());
  energy_ = forces_.energy(q_.data());
  inertia_.restate(q_.data(), v_.data());
  accelerated_ = false;
  system_.forget();
}

template <class T>
void PoseSpaceDynamics<T>::exchange(StateBytes& bytes) {
  for (auto* values : {&q_, &v_, &a_}) bytes(*values);
  bytes(energy_);
  bytes(accelerated_);
  detail_.exchange(bytes);
  system_.exchange(bytes);
  inertia_.exchange(bytes);
  if (!bytes.restores()) return;
  forces_.keep(detail_.kept());
  inertia_.keep(detail_.kept());
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
  posed_at_.assign(p.begin(), p.end());
  frames_.update(positions_);
  forces_.set_pose(p, positions_, &frames_);
  inertia_.set_pose(forces_.pose(), frames_, positions_);
}

template <class T>
void PoseSpaceDynamics<T>::add_surface_forces(const RigidTransform& placement, const SoftForces& forces, T* f) {
  for (const SurfaceForce& push : forces.surface) {
    if (push.vertex < 0 || push.vertex >= model().surface.vertex_count() || !push.force.allFinite()) continue;
    surface_.add_force(forces_.pose().basis(), frames_, push.vertex, placement.rotation.conjugate() * push.force, f);
  }
}

template <class T>
bool PoseSpaceDynamics<T>::find_acceleration(T mass_damping) {
  const PoseInterpolation<T>& pose = forces_.pose();
  std::fill(residual_.begin(), residual_.end(), T(0));
  forces_.evaluate(q_.data());
  forces_.add_force(residual_.data());
  forces_.multiply_rest(static_cast<T>(settings_.stiffness_damping), v_.data(), residual_.data());
  for (std::size_t c = 0; c < q_.size(); ++c) residual_[c] = force_[c] - residual_[c];
  std::copy(pose.mass(), pose.mass() + prepared_->triangle(), mass_.matrix());
  if (!mass_.factorize(pose.kept())) return false;
  mass_.solve(pose.kept(), residual_.data());
  for (std::size_t c = 0; c < q_.size(); ++c) a_[c] = residual_[c] - mass_damping * v_[c];
  accelerated_ = true;
  return true;
}

template <class T>
void PoseSpaceDynamics<T>::find_rates(const Scheme& scheme) {
  for (std::size_t c = 0; c < q_.size(); ++c) {
    const T delta = next_q_[c] - q_[c];
    next_a_[c] = scheme.acceleration(delta, v_[c], a_[c]);
    next_v_[c] = scheme.velocity(delta, v_[c], a_[c], next_a_[c]);
  }
}

/// residual_ ← M̃ (a' + α v') + β Λ̃ v' + f̃(q') − f̃_ext, elastic_ ← f̃(q'). Returns the elastic energy.
template <class T>
T PoseSpaceDynamics<T>::find_residual(const Scheme& scheme, T mass_damping) {
  const PoseInterpolation<T>& pose = forces_.pose();
  find_rates(scheme);
  for (std::size_t c = 0; c < q_.size(); ++c) along_[c] = next_a_[c] + mass_damping * next_v_[c];
  std::fill(residual_.begin(), residual_.end(), T(0));
  pose.multiply(pose.mass(), along_.data(), residual_.data());
  forces_.multiply_rest(static_cast<T>(settings_.stiffness_damping), next_v_.data(), residual_.data());
  const T energy = forces_.evaluate(next_q_.data());
  std::fill(elastic_.begin(), elastic_.end(), T(0));
  forces_.add_force(elastic_.data());
  for (std::size_t c = 0; c < q_.size(); ++c) residual_[c] += elastic_[c] - force_[c];
  return energy;
}

/// next_q_ ← where flesh comes to when it goes on as it did, as long as that takes little of its energy: then little is
/// left to Newton's method, and what conjugate gradients leave is part of the forces' work only, not of the motion.
/// Otherwise next_q_ ← q, and they have to be more precise. Returns the elastic energy there, as find_residual() does.
template <class T>
T PoseSpaceDynamics<T>::start(const Scheme& scheme, T mass_damping) {
  for (std::size_t c = 0; c < q_.size(); ++c) next_q_[c] = q_[c] + scheme.h * v_[c];
  const T energy = find_residual(scheme, mass_damping);
  const T work = std::abs(scheme.h * dot(force_.data(), v_.data(), prepared_->stride));
  precision_ = T(5e-3);
  if (energy <= energy_ + T(0.1) * kinetic_energy() + work + forces_.energy_noise()) return energy;
  next_q_ = q_;
  precision_ = T(5e-4);
  return find_residual(scheme, mass_damping);
}

/// Moves next_q_ against along_, which solves the step's equations for the residual, not so far that what it minimises
///   φ(q') = ½ Δᵀ (c_M M̃ + c_Λ Λ̃) Δ + bᵀ Δ + W(q'),   ∇φ = residual
/// would grow.
template <class T>
typename PoseSpaceDynamics<T>::Descent PoseSpaceDynamics<T>::descend(T& energy) {
  const int n = prepared_->stride;
  const T expected = T(-0.5) * dot(along_.data(), residual_.data(), n);
  const bool audible = -expected > forces_.energy_noise();
  T slope = T(0), curvature = T(0);
  if (audible) {
    slope = T(2) * expected + dot(along_.data(), elastic_.data(), n);
    curvature = system_.inertia(forces_, along_.data());
  }
  // Where stiffness nearly vanishes Newton's method wants to go very far.
  for (T length = T(1); length > T(1e-6); length *= T(0.3)) {
    for (std::size_t c = 0; c < next_q_.size(); ++c) trial_[c] = next_q_[c] - length * along_[c];
    T change = expected, there = energy;
    if (audible) {
      there = forces_.energy_along(-length);
      change = length * slope + T(0.5) * length * length * curvature + there - energy;
    }
    if (!(change <= forces_.energy_noise())) continue;
    energy = there;
    std::swap(next_q_, trial_);
    return std::abs(change - expected) <= T(0.2) * std::abs(expected) ? Descent::expected : Descent::surprising;
  }
  return Descent::none;
}

template <class T>
bool PoseSpaceDynamics<T>::solve(const Scheme& scheme, T mass_damping, PoseSpaceReport& report) {
  constexpr int more = 4;  // iterations, where the first went too far
  T energy = start(scheme, mass_damping);
  double first = 0;
  int planned = settings_.iterations;
  for (int iteration = 0; iteration < planned; ++iteration) {
    if (iteration > 0) energy = find_residual(scheme, mass_damping);
    if (!(energy < forces_.absurd_energy())) return false;
    const double norm = std::sqrt(squared_norm(residual_));
    if (iteration == 0) first = norm;
    report.residual = first > 0 ? norm / first : 0;
    const int solver_iterations = system_.solve(forces_, residual_.data(), along_.data(), precision_);
    if (solver_iterations < 0) return false;
    report.solver_iterations += solver_iterations;
    const Descent descent = descend(energy);
    if (descent == Descent::none && iteration == 0) return false;
    if (descent == Descent::none) break;
    if (descent == Descent::surprising)
      planned = std::min(std::max(planned, iteration + 2), settings_.iterations + more);
  }
  energy_ = energy;
  find_rates(scheme);
  return all_finite(next_q_) && all_finite(next_v_) && all_finite(next_a_);
}

template <class T>
bool PoseSpaceDynamics<T>::begin_frame(const RigidTransform& placement, std::span<const double> p, int substeps,
                                       const Scheme& scheme, T mass_damping) {
  if (detail_.begin_frame()) {
    forces_.keep(detail_.kept());
    inertia_.keep(detail_.kept());
    system_.forget();
  }
  set_pose(p);
  inertia_.begin_frame(placement, substeps);
  const T damping = static_cast<T>(settings_.stiffness_damping) * scheme.velocity_factor;
  forces_.set_damping(damping);
  return system_.set(forces_.pose(), scheme.acceleration_factor + mass_damping * scheme.velocity_factor, damping);
}

template <class T>
bool PoseSpaceDynamics<T>::substep(int number, const RigidTransform& placement, const SoftForces& forces,
                                   const Scheme& scheme, T mass_damping, PoseSpaceReport& report) {
  inertia_.begin_substep(number);
  std::fill(force_.begin(), force_.end(), T(0));
  inertia_.add_force(forces, force_.data());
  add_surface_forces(placement, forces, force_.data());
  detail_.kept().clear_others(force_.data());
  if (!accelerated_ && !find_acceleration(mass_damping)) return false;
  if (!all_finite(force_) || !solve(scheme, mass_damping, report)) return false;
  std::swap(q_, next_q_);
  std::swap(v_, next_v_);
  std::swap(a_, next_a_);
  detail_.fade(settings_.time_step, q_.data(), v_.data(), a_.data());
  inertia_.remember(q_.data(), a_.data());
  return true;
}

template <class T>
PoseSpaceReport PoseSpaceDynamics<T>::step(const RigidTransform& placement, std::span<const double> p,
                                           const SoftForces& forces, int substeps) {
  PoseSpaceReport report;
  substeps = std::max(1, substeps);
  const Scheme scheme(settings_);
  // Air that all mass feels alike: D̃ += drag · M̃, stable however strong.
  const auto mass_damping = static_cast<T>(settings_.mass_damping + std::max(0.0, forces.drag));
  inertia_.drive.violence = 0;
  bool fine = begin_frame(placement, p, substeps, scheme, mass_damping);
  for (int k = 1; fine && k <= substeps; ++k) fine = substep(k, placement, forces, scheme, mass_damping, report);
  if (fine) {
    inertia_.end_frame();
    report.violence = inertia_.drive.violence;
    return report;
  }
  reset();
  return {.residual = 0.0, .recovered = true};
}

template <class T>
void PoseSpaceDynamics<T>::surface_displacements(const RigidTransform& placement, std::span<const double> p,
                                                 std::span<const T> q, std::span<Vec3> displacements) {
  show_pose(p);
  surface_.displacements(shown_pose_, shown_frames_, q.data(), placement.rotation.toRotationMatrix().template cast<T>(),
                         displacements);
}

template <class T>
void PoseSpaceDynamics<T>::surface_displacements(const RigidTransform& placement, std::span<const double> p,
                                                 std::span<const T> q, std::span<Eigen::Vector3f> displacements) {
  show_pose(p);
  surface_.displacements(shown_pose_, shown_frames_, q.data(), placement.rotation.toRotationMatrix().template cast<T>(),
                         displacements);
}

template <class T>
void PoseSpaceDynamics<T>::surface_displacements(std::span<const Picture> pictures) {
  assert(pictures.size() <= shown_together);
  std::array<SurfaceShape<T>*, shown_together> shapes{};
  std::array<SurfacePicture<T>, shown_together> shown;
  bool of_one = true;
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    PoseSpaceDynamics& one = *pictures[i].character;
    one.show_pose(pictures[i].p);
    shapes[i] = &one.surface_;
    shown[i] = {&one.shown_pose_, &one.shown_frames_, one.q_.data(),
                pictures[i].placement.rotation.toRotationMatrix().template cast<T>(), pictures[i].displacements};
    of_one = of_one && one.prepared_ == pictures[0].character->prepared_;
  }
  const std::size_t at_once = of_one ? pictures.size() : 1;
  for (std::size_t i = 0; i < pictures.size(); i += at_once)
    SurfaceShape<T>::displacements({&shapes[i], at_once}, {&shown[i], at_once});
}

template <class T>
void PoseSpaceDynamics<T>::show_pose(std::span<const double> p) {
  if (p.size() == posed_at_.size() && std::memcmp(p.data(), posed_at_.data(), p.size_bytes()) == 0) {
    shown_frames_.take(frames_);
    shown_pose_.take(forces_.pose().basis());
    return;
  }
  model().rest->evaluate(p, prepared_->surface->site_vertices, shown_positions_, *shown_workspace_);
  shown_frames_.update(shown_positions_);
  shown_pose_.update(p);
}

template class PoseSpaceDynamics<float>;
template class PoseSpaceDynamics<double>;

}  // namespace supple
