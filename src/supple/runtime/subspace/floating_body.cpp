// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/subspace/floating_body.h"

#include "supple/math/dense/decompositions.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

Status check_body(const FloatingSettings& s) {
  if (!(s.time_step > 0) || !std::isfinite(s.time_step)) return input_error("the time step must be positive");
  if (!s.gravity.allFinite()) return input_error("gravity must be finite");
  if (!(s.mass_damping >= 0) || !(s.stiffness_damping >= 0) || !(s.drag >= 0))
    return input_error("damping must not be negative");
  if (s.max_iterations < 1 || s.max_corrections < 1) return input_error("at least one iteration is needed");
  if (s.max_point_forces < 0) return input_error("the number of point forces must not be negative");
  return {};
}

Status check_body(const SubspaceModel& model) {
  SUPPLE_RETURN_IF_ERROR(check_subspace_model(model));
  if (model.anchored())
    return input_error("the subspace model has fixed vertices; build one without them to let it move freely");
  return {};
}

Eigen::Quaterniond rotation_of(const Vec3& vector) {
  const double angle = vector.norm();
  const double scale = angle > 1e-8 ? std::sin(angle / 2) / angle : 0.5;
  Eigen::Quaterniond result;
  result.w() = std::cos(angle / 2);
  result.vec() = scale * vector;
  return result;
}

/// Q − 1 without cancellation.
Mat3 turning_of(const Eigen::Quaterniond& Q) {
  const Mat3 e = cross_matrix(Q.vec());
  return 2 * Q.w() * e + 2 * e * e;
}

}  // namespace

// ---- creation and state ---------------------------------------------------------------------------------------------

Result<FloatingBody> FloatingBody::create(const SubspaceModel& model, const FloatingSettings& settings) {
  SUPPLE_RETURN_IF_ERROR(check_body(settings));
  SUPPLE_RETURN_IF_ERROR(check_body(model));
  FloatingBody body;
  body.settings_ = settings;
  body.inertia_ = FloatingInertia(mass_moments(model));
  body.forces_ = ReducedForces<double>(model);
  const int r = model.size();
  MatX A(6 + r, 6 + r);
  const VecX zero = VecX::Zero(r);
  body.moments_ = body.inertia_.moments_at(zero);
  body.inertia_.mass_matrix(zero, body.moments_, A);
  const VecX scale = A.diagonal().cwiseSqrt().cwiseInverse();
  if (!(smallest_pivot(scale.asDiagonal() * A * scale.asDiagonal()) > 1e-10)) {
    return input_error("the basis contains rigid motions or depends on itself; rebuild it without fixed vertices");
  }
  std::vector<Index> all(model.surface.rest_positions.size());
  for (std::size_t v = 0; v < all.size(); ++v) all[v] = static_cast<Index>(v);
  body.surface_rows_ = BasisRows<double>(model.surface.basis, all);
  body.surface_rest_ = model.surface.rest_positions;
  body.point_forces_.reserve(to_size(settings.max_point_forces));
  body.world_load_ = body.body_load_ = FloatingLoad::zero(r);
  body.kept_ = std::exp(-0.5 * settings.drag * settings.time_step);
  body.system_.setZero(6 + r, 6 + r);
  body.stiffness_.setZero(r, r);
  body.rest_stiffness_.setZero(r, r);
  body.forces_.evaluate(zero.data());
  for (int b = 0; b < r; ++b) {
    for (int a = 0; a < r; ++a) body.rest_stiffness_(a, b) = body.forces_.stiffness()[to_size(pair_index(a, b))];
  }
  body.factor_.resize(6 + r);
  for (VecX* scratch : {&body.known_, &body.correction_, &body.residual_, &body.loads_}) scratch->setZero(6 + r);
  for (VecX* scratch :
       {&body.linearized_q_, &body.force_, &body.stiff_force_, &body.mass_force_, &body.middle_, &body.difference_})
    scratch->setZero(r);
  body.state_.q = body.state_.deformation_momentum = body.increment_.q = zero;
  body.end_moments_ = body.moments_;
  body.reset();
  return body;
}

void FloatingBody::reset(const Vec3& position, const Eigen::Quaterniond& orientation) {
  state_.position = position;
  state_.orientation = orientation.normalized();
  state_.linear_momentum.setZero();
  state_.angular_momentum.setZero();
  state_.q.setZero();
  state_.deformation_momentum.setZero();
  state_.time = 0.0;
  place_frame();
}

void FloatingBody::set_state(const FloatingState& state) {
  SUPPLE_ASSERT(static_cast<int>(state.q.size()) == size() &&
                static_cast<int>(state.deformation_momentum.size()) == size());
  state_ = state;
  place_frame();
}

void FloatingBody::set_state(const FloatingState& state, const FloatingIncrement& guess) {
  SUPPLE_ASSERT(static_cast<int>(guess.q.size()) == size());
  set_state(state);
  increment_ = guess;
}

void FloatingBody::exchange(StateBytes& bytes) {
  for (Vec3* vector : {&state_.position, &state_.linear_momentum, &state_.angular_momentum}) bytes(*vector);
  bytes(state_.orientation);
  bytes(state_.time);
  for (VecX* values : {&state_.q, &state_.deformation_momentum}) bytes(values->data(), to_size(values->size()));
  if (bytes.restores()) place_frame();
  bytes(increment_.translation);
  bytes(increment_.rotation);
  bytes(increment_.q.data(), to_size(increment_.q.size()));
}

void FloatingBody::set_deformation(const VecX& q) {
  SUPPLE_ASSERT(static_cast<int>(q.size()) == size());
  const FloatingVelocity kept = velocity();
  state_.q = q;
  place_frame();
  set_velocity(kept);
}

void FloatingBody::set_velocity(const FloatingVelocity& velocity) {
  SUPPLE_ASSERT(static_cast<int>(velocity.q.size()) == size());
  VecX v(6 + size());
  v.head<3>().noalias() = rotation_.transpose() * velocity.linear;
  v.segment<3>(3).noalias() = rotation_.transpose() * velocity.angular;
  v.tail(size()) = velocity.q;
  MatX A(6 + size(), 6 + size());
  inertia_.mass_matrix(state_.q, moments_, A);
  const VecX p = A * v;
  state_.linear_momentum = rotation_ * p.head<3>();
  state_.angular_momentum = state_.position.cross(state_.linear_momentum) + rotation_ * p.segment<3>(3);
  state_.deformation_momentum = p.tail(size());
  // The guess of the next step starts from here.
  const double h = settings_.time_step;
  increment_.translation = h * v.head<3>();
  increment_.rotation = rotation_of(h * v.segment<3>(3));
  increment_.q = h * velocity.q;
}

/// What follows from the state alone. Increments of the step before are forgotten.
void FloatingBody::place_frame() {
  rotation_ = state_.orientation.toRotationMatrix();
  moments_ = inertia_.moments_at(state_.q);
  const VecX v = mass_solution(momenta());
  const double h = settings_.time_step;
  increment_.translation = h * v.head<3>();
  increment_.rotation = rotation_of(h * v.segment<3>(3));
  increment_.q = h * v.tail(size());
  clear_loads();
}

void FloatingBody::clear_loads() {
  point_forces_.clear();
  if (!loaded_) return;
  world_load_.set_zero();
  body_load_.set_zero();
  loaded_ = false;
}

VecX FloatingBody::momenta() const {
  VecX p(6 + size());
  const Vec3 spin = state_.angular_momentum - state_.position.cross(state_.linear_momentum);
  p.head<3>().noalias() = rotation_.transpose() * state_.linear_momentum;
  p.segment<3>(3).noalias() = rotation_.transpose() * spin;
  p.tail(size()) = state_.deformation_momentum;
  return p;
}

VecX FloatingBody::mass_solution(const VecX& momenta) const {
  MatX A(6 + size(), 6 + size());
  inertia_.mass_matrix(state_.q, moments_, A);
  return solve_symmetric(A, momenta);
}

FloatingVelocity FloatingBody::velocity() const {
  const VecX v = mass_solution(momenta());
  return {rotation_ * v.head<3>(), rotation_ * v.segment<3>(3), v.tail(size())};
}

double FloatingBody::kinetic_energy() const {
  const VecX p = momenta();
  return 0.5 * p.dot(mass_solution(p));
}

double FloatingBody::elastic_energy() {
  forces_.evaluate(state_.q.data());
  return forces_.energy();
}

Vec3 FloatingBody::center_of_mass() const {
  return state_.position + rotation_ * inertia_.first_moment(state_.q) / inertia_.mass();
}

double FloatingBody::total_energy() {
  return kinetic_energy() + elastic_energy() - inertia_.mass() * settings_.gravity.dot(center_of_mass());
}

Vec3 FloatingBody::displaced(int vertex, const VecX& q) const {
  return surface_rest_[to_size(vertex)] + surface_rows_.displacement(vertex, q.data());
}

void FloatingBody::surface_positions(std::span<Vec3> positions) const {
  SUPPLE_ASSERT(positions.size() == surface_rest_.size());
  for (std::size_t v = 0; v < positions.size(); ++v)
    positions[v] = state_.position + rotation_ * displaced(static_cast<int>(v), state_.q);
}

bool FloatingBody::add_force(int vertex, const Vec3& force) {
  SUPPLE_ASSERT(vertex >= 0 && vertex < surface_rows_.point_count());
  if (point_forces_.size() == point_forces_.capacity()) return false;
  point_forces_.push_back({vertex, force});
  return true;
}

void FloatingBody::add_load(const FloatingLoad& load, LoadFrame frame) {
  (frame == LoadFrame::world ? world_load_ : body_load_).add(load);
  loaded_ = true;
}

// ---- the step -------------------------------------------------------------------------------------------------------

/// Gravity and all other loads as generalised forces in a frame.
void FloatingBody::add_loads(const Mat3& R, const VecX& q, VecX& generalised) const {
  const Vec3 g = R.transpose() * settings_.gravity;
  generalised.head<3>() += inertia_.mass() * g;
  generalised.segment<3>(3) += inertia_.first_moment(q).cross(g);
  generalised.tail(size()).noalias() += inertia_.shape_moments().transpose() * g;
  for (const PointForce& load : point_forces_) {
    const Vec3 f = R.transpose() * load.force;
    generalised.head<3>() += f;
    generalised.segment<3>(3) += displaced(load.vertex, q).cross(f);
    const double newtons[3] = {f.x(), f.y(), f.z()};
    surface_rows_.add_force(load.vertex, newtons, {generalised.data() + 6, to_size(size())});
  }
  if (!loaded_) return;
  world_load_.add_generalised(R, q, generalised);
  body_load_.add_generalised(Mat3::Identity(), q, generalised);
}

void FloatingBody::begin_step(double share_at_start) {
  const double h = settings_.time_step;
  share_at_start_ = share_at_start;
  loads_.setZero();
  add_loads(rotation_, state_.q, loads_);
  const Vec3 spin = state_.angular_momentum - state_.position.cross(state_.linear_momentum);
  known_.head<3>().noalias() = kept_ * h * (rotation_.transpose() * state_.linear_momentum);
  known_.segment<3>(3).noalias() = kept_ * h * (rotation_.transpose() * spin);
  known_.tail(size()) = kept_ * h * state_.deformation_momentum;
  known_ += share_at_start * h * h * loads_;
  turning_ = turning_of(increment_.rotation);
}

void FloatingBody::linearize() {
  const int r = size();
  linearized_q_ = increment_.q;
  middle_ = state_.q + 0.5 * linearized_q_;
  forces_.evaluate(middle_.data());
  const double* pair = forces_.stiffness().data();
  for (int b = 0; b < r; ++b) {
    for (int a = 0; a <= b; ++a) stiffness_(a, b) = stiffness_(b, a) = *pair++;
  }
  force_ = Eigen::Map<const VecX>(forces_.force().data(), r);
  fill_system(stiffness_);
}

void FloatingBody::use_rest_stiffness() { fill_system(rest_stiffness_); }

void FloatingBody::fill_system(const MatX& stiffness) {
  const double h = settings_.time_step;
  const int r = size();
  inertia_.mass_matrix(state_.q, moments_, system_);
  const double damping = h / 2 * settings_.stiffness_damping + h * h / 4;
  auto block = system_.block(6, 6, r, r);
  block += damping * stiffness + h / 2 * settings_.mass_damping * inertia_.mass_matrix();
}

void FloatingBody::residual(Eigen::Ref<VecX> result) {
  const double h = settings_.time_step;
  const int r = size();
  const Vec3& d = increment_.translation;
  const VecX& dq = increment_.q;
  inertia_.advance_moments(moments_, dq, end_moments_);
  const Vec3 s0 = inertia_.first_moment(state_.q);
  result = known_;
  // ∫ w,  ∫ y₀ × w,  ∫ φᵀ w
  result.head<3>() -=
      inertia_.mass() * d + turning_ * (s0 + inertia_.shape_moments() * dq) + inertia_.shape_moments() * dq;
  result.segment<3>(3) -= s0.cross(d) + axial(inertia_.second_moment(state_.q, end_moments_) * turning_.transpose());
  for (int a = 0; a < r; ++a) result.segment<3>(3) += dq[a] * axial(moments_.col(a + 1).reshaped(3, 3));
  const Eigen::Map<const Eigen::Matrix<double, 9, 1>> D(turning_.data());
  mass_force_.noalias() = inertia_.mass_matrix() * dq;
  result.tail(r).noalias() -= inertia_.shape_moments().transpose() * d;
  result.tail(r).noalias() -= end_moments_.rightCols(r).transpose() * D;
  result.tail(r) -= (1 + h / 2 * settings_.mass_damping) * mass_force_;
  // Elastic and damping forces, linear in Δq around the last evaluation.
  difference_ = h * h / 4 * (dq - linearized_q_) + h / 2 * settings_.stiffness_damping * dq;
  stiff_force_.noalias() = stiffness_ * difference_;
  stiff_force_ += h * h / 2 * force_;
  result.tail(r) -= stiff_force_;
  motion_ = std::abs(known_.head<3>().dot(d) + 2 * known_.segment<3>(3).dot(increment_.rotation.vec()) +
                     known_.tail(r).dot(dq));
}

void FloatingBody::advance(const Eigen::Ref<const VecX>& correction) {
  increment_.translation += correction.head<3>();
  increment_.rotation = (rotation_of(correction.segment<3>(3)) * increment_.rotation).normalized();
  increment_.q += correction.tail(size());
  turning_ = turning_of(increment_.rotation);
}

double FloatingBody::negligible_motion() const {
  const double tiny = 1e-13 * inertia_.gyration_radius();
  return inertia_.mass() * tiny * tiny;
}

bool FloatingBody::factorize() {
  for (int b = 0; b < system_.cols(); ++b) std::copy_n(system_.col(b).data(), system_.rows(), factor_.column(b));
  return factor_.factorize();
}

FloatingReport FloatingBody::step() {
  FloatingReport report;
  begin_step();
  for (; report.iterations < settings_.max_iterations; ++report.iterations) {
    linearize();
    if (!factorize()) {
      use_rest_stiffness();
      factorize();
    }
    int corrections = 0;
    double size2 = 0;
    bool small = false;
    for (; corrections < settings_.max_corrections && !small; ++corrections) {
      residual(residual_);
      correction_ = residual_;
      factor_.solve(correction_.data());
      advance(correction_);
      size2 = std::abs(correction_.dot(residual_));
      small = size2 <= settings_.tolerance * settings_.tolerance * motion_ + negligible_motion();
    }
    report.correction = motion_ > 0 ? std::sqrt(size2 / motion_) : 0.0;
    report.converged = small;
    if (small && corrections == 1) break;
  }
  report.recovered = !finish_step();
  return report;
}

/// What loads do to the world's momenta in some time, in a given pose.
void FloatingBody::load_impulses(Vec3& impulse, Vec3& angular_impulse, const Vec3& c, const Mat3& R, const VecX& q,
                                 double duration) const {
  const double m = inertia_.mass();
  impulse += duration * m * settings_.gravity;
  angular_impulse += duration * (m * c + R * inertia_.first_moment(q)).cross(settings_.gravity);
  for (const PointForce& load : point_forces_) {
    impulse += duration * load.force;
    angular_impulse += duration * (c + R * displaced(load.vertex, q)).cross(load.force);
  }
  if (!loaded_) return;
  const Vec3 force = world_load_.force + R * body_load_.force;
  const Vec3 torque =
      axial(R * world_load_.first_moment(q).transpose()) + R * axial(body_load_.first_moment(q).transpose());
  impulse += duration * force;
  angular_impulse += duration * (c.cross(force) + torque);
}

bool FloatingBody::finish_step(const Vec3& impulse, const Vec3& angular_impulse) {
  const double h = settings_.time_step;
  const int r = size();
  residual(residual_);  // leaves M̃Δq, the elastic impulse and the moments of the final increment
  Vec3 linear = impulse, angular = angular_impulse;
  load_impulses(linear, angular, state_.position, rotation_, state_.q, share_at_start_ * h);
  // π₁ = ∫ φᵀQᵀw / h − …,  Qᵀw = Qᵀd + (1 − Qᵀ) y₀ + U Δq
  const Mat3 back = turning_.transpose();
  const Vec3 d = increment_.translation + back * increment_.translation;
  const Eigen::Map<const Eigen::Matrix<double, 9, 1>> D(back.data());
  middle_.noalias() = inertia_.shape_moments().transpose() * d;
  middle_.noalias() -= moments_.rightCols(r).transpose() * D;
  middle_ += (1 - h / 2 * settings_.mass_damping) * mass_force_ - stiff_force_;

  const Vec3 position = state_.position + rotation_ * increment_.translation;
  const Eigen::Quaterniond orientation = (state_.orientation * increment_.rotation).normalized();
  const Mat3 R = orientation.toRotationMatrix();
  difference_ = state_.q + increment_.q;
  load_impulses(linear, angular, position, R, difference_, (1 - share_at_start_) * h);
  loads_.setZero();
  add_loads(R, difference_, loads_);
  middle_ = middle_ / h + (1 - share_at_start_) * h * loads_.tail(r);
  clear_loads();
  if (!middle_.allFinite() || !difference_.allFinite() || !position.allFinite() || !R.allFinite() ||
      !linear.allFinite() || !angular.allFinite()) {
    increment_.translation.setZero();
    increment_.rotation.setIdentity();
    increment_.q.setZero();
    return false;
  }
  state_.position = position;
  state_.orientation = orientation;
  state_.linear_momentum = kept_ * (kept_ * state_.linear_momentum + linear);
  state_.angular_momentum = kept_ * (kept_ * state_.angular_momentum + angular);
  state_.q = difference_;
  state_.deformation_momentum = kept_ * middle_;
  state_.time += h;
  rotation_ = R;
  inertia_.moments_at(state_.q, moments_);  // from the state alone, so that a saved one goes on with the same bits
  return true;
}

}  // namespace supple
