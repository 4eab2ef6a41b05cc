// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/posespace/pose_space_dynamics.h"

#include <cmath>

namespace supple {
namespace {

/// Three padded rows per point.
template <class T>
std::vector<T> padded_rows(const MatX& basis, std::size_t stride) {
  std::vector<T> rows(static_cast<std::size_t>(basis.rows()) * stride, T(0));
  for (Eigen::Index i = 0; i < basis.rows(); ++i)
    for (Eigen::Index c = 0; c < basis.cols(); ++c)
      rows[static_cast<std::size_t>(i) * stride + static_cast<std::size_t>(c)] = static_cast<T>(basis(i, c));
  return rows;
}

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
  if (!(settings.time_step > 0) || settings.iterations < 1 || !(settings.mass_damping >= 0) ||
      !(settings.stiffness_damping >= 0)) {
    return input_error(
        "a time step must be positive, damping not negative, and a step needs at least one iteration; see the "
        "settings of the simulation");
  }
  PoseSpaceDynamics dynamics;
  dynamics.settings_ = settings;
  dynamics.rig_workspace_ = model->rest->make_workspace(static_cast<Index>(model->points.size()));
  dynamics.frames_ = FrameField<T>(*model);
  dynamics.shown_frames_ = dynamics.frames_;
  dynamics.forces_ = CubatureForces<T>(*model);
  dynamics.positions_.resize(model->points.size());
  dynamics.shown_positions_ = dynamics.positions_;
  dynamics.rotations_.assign(model->vertices.size(), Eigen::Matrix<T, 3, 3>::Identity());
  const auto stride = static_cast<std::size_t>(dynamics.forces_.stride());
  MatX inertial(3 * static_cast<Eigen::Index>(model->vertices.size()), model->size());
  for (std::size_t k = 0; k < model->vertices.size(); ++k)
    inertial.middleRows<3>(3 * static_cast<Eigen::Index>(k)) = model->basis.middleRows<3>(3 * model->vertices[k].point);
  dynamics.inertial_basis_ = padded_rows<T>(inertial, stride);
  dynamics.surface_basis_ = padded_rows<T>(model->surface.basis, stride);
  dynamics.accelerations_.resize(model->vertices.size());
  dynamics.last_.resize(model->vertices.size());
  dynamics.before_last_.resize(model->vertices.size());
  for (auto* values : {&dynamics.q_, &dynamics.v_, &dynamics.a_, &dynamics.force_, &dynamics.next_q_, &dynamics.next_v_,
                       &dynamics.next_a_, &dynamics.residual_, &dynamics.past_q_, &dynamics.twice_q_,
                       &dynamics.elastic_, &dynamics.linear_})
    values->assign(stride, T(0));
  for (Index c = 0; c < model->size(); ++c)
    dynamics.linear_[static_cast<std::size_t>(c)] = (T(1) - cubature_share) * static_cast<T>(model->stiffness[c]);
  dynamics.system_.resize(model->size());
  dynamics.model_ = std::move(model);
  return dynamics;
}

template <class T>
void PoseSpaceDynamics<T>::reset() {
  for (auto* values : {&q_, &v_, &a_}) std::fill(values->begin(), values->end(), T(0));
  accelerated_ = true;
  known_ = 0;
}

template <class T>
void PoseSpaceDynamics<T>::set_state(std::span<const T> q, std::span<const T> velocity) {
  std::copy(q.begin(), q.end(), q_.begin());
  std::copy(velocity.begin(), velocity.end(), v_.begin());
  for (std::size_t c = 0; c < q_.size(); ++c) past_q_[c] = q_[c] - static_cast<T>(settings_.time_step) * v_[c];
  accelerated_ = false;
}

template <class T>
T PoseSpaceDynamics<T>::elastic_energy() {
  T linear = T(0);
  for (std::size_t c = 0; c < q_.size(); ++c) linear += linear_[c] * q_[c] * q_[c];
  return cubature_share * forces_.energy(q_.data()) + T(0.5) * linear;
}

template <class T>
T PoseSpaceDynamics<T>::kinetic_energy() const {
  return static_cast<T>(0.5 * squared_norm(v_));
}

template <class T>
void PoseSpaceDynamics<T>::pose_points(std::span<const double> p) {
  model_->rest->evaluate(p, model_->points, positions_, *rig_workspace_);
  frames_.update(positions_);
  for (std::size_t k = 0; k < rotations_.size(); ++k)
    rotations_[k] = frames_.blend(model_->point_frames[static_cast<std::size_t>(model_->vertices[k].point)]);
}

template <class T>
Vec3 PoseSpaceDynamics<T>::basis_times(Index vertex, const T* q) const {
  const auto stride = static_cast<std::size_t>(forces_.stride());
  const T* rows = inertial_basis_.data() + 3 * static_cast<std::size_t>(vertex) * stride;
  using Row = Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, 1>>;
  const auto length = static_cast<Eigen::Index>(stride);
  Vec3 result;
  for (std::size_t i = 0; i < 3; ++i)
    result[static_cast<Eigen::Index>(i)] = Row(rows + i * stride, length).dot(Row(q, length));
  return result;
}

template <class T>
void PoseSpaceDynamics<T>::add_basis_transposed(const T* rows, const Vec3& force, T* f) const {
  const int stride = forces_.stride();
  const T x = static_cast<T>(force[0]), y = static_cast<T>(force[1]), z = static_cast<T>(force[2]);
  for (int c = 0; c < stride; ++c) f[c] += rows[c] * x + rows[stride + c] * y + rows[2 * stride + c] * z;
}

/// Of an inertial cubature vertex, at the end of the step; `shift` is that of the placement over three moments.
template <class T>
Vec3 PoseSpaceDynamics<T>::acceleration(Index vertex, const Vec3& rest, const Mat3& B, const Vec3& shift) {
  const auto k = static_cast<std::size_t>(vertex);
  const double h = settings_.time_step;
  const Vec3 a = (rest - 2 * last_[k].rest + before_last_[k].rest + shift -
                  (last_[k].rotation - B) * basis_times(vertex, twice_q_.data()) +
                  (before_last_[k].rotation - B) * basis_times(vertex, past_q_.data())) /
                 (h * h);
  const bool continued = known_ >= 3 && settings_.integrator == PoseSpaceIntegrator::newmark;
  const Vec3 before = accelerations_[k];
  accelerations_[k] = a;
  if (!continued) return a;
  // Where keys are joined by lines the acceleration is a row of spikes, which must not be continued.
  const bool smooth = (a - before).norm() < 0.5 * std::min(a.norm(), before.norm());
  return smooth ? Vec3(2 * a - before) : a;
}

template <class T>
void PoseSpaceDynamics<T>::add_inertia(const RigidTransform& placement, const SoftForces& forces, T* f) {
  const double h = settings_.time_step;
  const Mat3 W = placement.rotation.toRotationMatrix();
  const Vec3 shift =
      known_ >= 2 ? Vec3(placement.translation - 2 * last_translation_ + before_last_translation_) : Vec3::Zero();
  const T ahead = settings_.integrator == PoseSpaceIntegrator::newmark && accelerated_ ? static_cast<T>(h * h) : T(0);
  for (std::size_t c = 0; c < q_.size(); ++c) twice_q_[c] = T(2) * q_[c] + ahead * a_[c];
  for (std::size_t k = 0; k < model_->vertices.size(); ++k) {
    const CubatureVertex& vertex = model_->vertices[k];
    const auto point = static_cast<std::size_t>(vertex.point);
    const Mat3 B = W * rotations_[k].template cast<double>();
    const Vec3 rest = W * positions_[point];
    Vec3 a = -forces.gravity;
    if (known_ >= 2) a += acceleration(static_cast<Index>(k), rest, B, shift);
    if (forces.drag > 0 && known_ >= 1) {
      // Of the rig alone: what the flesh itself moves with is lost by damping_, implicitly.
      const Vec3 velocity = (rest - last_[k].rest + placement.translation - last_translation_) / h;
      a -= forces.drag * (forces.wind - velocity);
    }
    const T* rows = inertial_basis_.data() + 3 * k * static_cast<std::size_t>(forces_.stride());
    add_basis_transposed(rows, B.transpose() * a * -vertex.weight, f);
  }
}

template <class T>
void PoseSpaceDynamics<T>::add_surface_forces(const RigidTransform& placement, const SoftForces& forces, T* f) {
  for (const SurfaceForce& push : forces.surface) {
    if (push.vertex < 0 || push.vertex >= model_->surface.vertex_count() || !push.force.allFinite()) continue;
    const auto v = static_cast<std::size_t>(push.vertex);
    const Mat3 R = frames_.blend(model_->surface.frames[v]).template cast<double>();
    const Vec3 local = R.transpose() * (placement.rotation.conjugate() * push.force);
    add_basis_transposed(surface_basis_.data() + 3 * v * static_cast<std::size_t>(forces_.stride()), local, f);
  }
}

template <class T>
void PoseSpaceDynamics<T>::remember_motion(const RigidTransform& placement) {
  std::swap(last_, before_last_);
  before_last_translation_ = last_translation_;
  last_translation_ = placement.translation;
  const Mat3 W = placement.rotation.toRotationMatrix();
  for (std::size_t k = 0; k < model_->vertices.size(); ++k) {
    const auto point = static_cast<std::size_t>(model_->vertices[k].point);
    last_[k].rest = W * positions_[point];
    last_[k].rotation = W * rotations_[k].template cast<double>();
  }
  known_ = std::min(known_ + 1, 3);
}

template <class T>
void PoseSpaceDynamics<T>::find_acceleration() {
  std::fill(residual_.begin(), residual_.end(), T(0));
  forces_.evaluate(q_.data(), v_.data(), static_cast<T>(settings_.stiffness_damping));
  forces_.add_force(residual_.data());
  for (std::size_t c = 0; c < q_.size(); ++c) {
    const T linear = linear_[c] * (q_[c] + static_cast<T>(settings_.stiffness_damping) * v_[c]);
    a_[c] = force_[c] - damping_ * v_[c] - cubature_share * residual_[c] - linear;
  }
  accelerated_ = true;
}

template <class T>
bool PoseSpaceDynamics<T>::solve(const Scheme& scheme, PoseSpaceReport& report) {
  const T alpha = damping_;
  const auto beta = static_cast<T>(settings_.stiffness_damping);
  double first = 0;
  next_q_ = q_;
  for (int iteration = 0; iteration < settings_.iterations; ++iteration) {
    for (std::size_t c = 0; c < q_.size(); ++c) {
      const T delta = next_q_[c] - q_[c];
      next_a_[c] = scheme.acceleration(delta, v_[c], a_[c]);
      next_v_[c] = scheme.velocity(delta, v_[c], a_[c], next_a_[c]);
      residual_[c] = next_a_[c] + alpha * next_v_[c] - force_[c];
    }
    forces_.evaluate(next_q_.data(), next_v_.data(), beta);
    std::fill(elastic_.begin(), elastic_.end(), T(0));
    forces_.add_force(elastic_.data());
    for (std::size_t c = 0; c < q_.size(); ++c)
      residual_[c] += cubature_share * elastic_[c] + linear_[c] * (next_q_[c] + beta * next_v_[c]);
    const double norm = std::sqrt(squared_norm(residual_));
    if (iteration == 0) first = norm;
    report.residual = first > 0 ? norm / first : 0;
    for (int j = 0; j < size(); ++j) {
      T* column = system_.column(j);
      std::fill(column, column + forces_.stride(), T(0));
      column[j] = scheme.acceleration_factor + alpha * scheme.velocity_factor +
                  linear_[static_cast<std::size_t>(j)] * (T(1) + beta * scheme.velocity_factor);
    }
    forces_.add_stiffness(cubature_share * (T(1) + beta * scheme.velocity_factor), system_);
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
  pose_points(p);
  forces_.set_pose(positions_);
  std::fill(force_.begin(), force_.end(), T(0));
  damping_ = static_cast<T>(settings_.mass_damping + (forces.drag > 0 ? forces.drag : 0.0));
  add_inertia(placement, forces, force_.data());
  add_surface_forces(placement, forces, force_.data());
  if (!accelerated_) find_acceleration();
  const Scheme scheme(settings_);
  if (all_finite(force_) && solve(scheme, report)) {
    past_q_ = q_;
    std::swap(q_, next_q_);
    std::swap(v_, next_v_);
    std::swap(a_, next_a_);
    remember_motion(placement);
  } else {
    report = {.residual = 0.0, .recovered = true};
    reset();
  }
  return report;
}

template <class T>
void PoseSpaceDynamics<T>::surface_displacements(const RigidTransform& placement, std::span<const double> p,
                                                 std::span<const T> q, std::span<Vec3> displacements) {
  model_->rest->evaluate(p, model_->points, shown_positions_, *rig_workspace_);
  shown_frames_.update(shown_positions_);
  std::copy(q.begin(), q.end(), next_q_.begin());
  const auto stride = static_cast<std::size_t>(forces_.stride());
  const Eigen::Matrix<T, 3, 3> W = placement.rotation.toRotationMatrix().template cast<T>();
  using Row = Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, 1>>;
  const Row coordinates(next_q_.data(), static_cast<Eigen::Index>(stride));
  for (std::size_t v = 0; v < displacements.size(); ++v) {
    const T* rows = surface_basis_.data() + 3 * v * stride;
    Eigen::Matrix<T, 3, 1> u;
    for (int i = 0; i < 3; ++i)
      u[i] = Row(rows + static_cast<std::size_t>(i) * stride, static_cast<Eigen::Index>(stride)).dot(coordinates);
    displacements[v] = (W * (shown_frames_.blend(model_->surface.frames[v]) * u)).template cast<double>();
  }
}

template class PoseSpaceDynamics<float>;
template class PoseSpaceDynamics<double>;

}  // namespace supple
