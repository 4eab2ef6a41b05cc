// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/subspace/subspace_dynamics.h"

#include "supple/math/dense/decompositions.h"
#include "supple/math/dense/symmetric_pairs.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace supple {
namespace {

Status check(const SubspaceSettings& s) {
  if (!(s.time_step > 0) || !std::isfinite(s.time_step)) return input_error("the time step must be positive");
  if (!(s.newmark_beta > 0 && s.newmark_beta <= 0.5) || !(s.newmark_gamma >= 0.5 && s.newmark_gamma <= 1)) {
    return input_error("Newmark needs 0 < beta <= 0.5 and 0.5 <= gamma <= 1");
  }
  if (!(s.mass_damping >= 0) || !(s.stiffness_damping >= 0)) return input_error("damping must not be negative");
  if (s.max_iterations < 1 || s.max_substeps < 1)
    return input_error("at least one iteration and one sub-step are needed");
  return {};
}

MatX mass_of(const SubspaceModel& model) {
  MatX mass = MatX::Zero(model.size(), model.size());
  for (const MaterialGroup& group : model.groups) mass += group.material.density * group.moments.reduced_mass();
  return mass;
}

template <class T>
T dot(const std::vector<T>& a, const std::vector<T>& b) {
  T sum = T(0);
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

template <class T>
bool all_finite(const std::vector<T>& values) {
  return std::all_of(values.begin(), values.end(), [](T value) { return std::isfinite(value); });
}

/// acceleration = a1 Δq − a2 q̇ − a3 q̈ and velocity = a4 Δq + a5 q̇ + a6 q̈ at the end of a step (appendix C).
struct Scheme {
  double a1, a2, a3, a4, a5, a6;

  static Scheme of(const SubspaceSettings& s) {
    const double h = s.time_step;
    if (s.integrator == SubspaceIntegrator::backward_euler) return {1 / (h * h), 1 / h, 0, 1 / h, 0, 0};
    const double b = s.newmark_beta;
    const double g = s.newmark_gamma;
    return {1 / (b * h * h), 1 / (b * h), (1 - 2 * b) / (2 * b), g / (b * h), 1 - g / b, (1 - g / (2 * b)) * h};
  }
};

}  // namespace

template <class T>
Result<SubspaceDynamics<T>> SubspaceDynamics<T>::create(const SubspaceModel& model, const SubspaceSettings& settings) {
  SUPPLE_RETURN_IF_ERROR(check(settings));
  SUPPLE_RETURN_IF_ERROR(check_subspace_model(model));
  SubspaceDynamics result;
  result.settings_ = settings;
  result.forces_ = ReducedForces<T>(model);
  const int r = model.size();
  const MatX mass = mass_of(model);
  result.smallest_mass_ = symmetric_eigenvalues(mass)[0];
  if (!(result.smallest_mass_ > 0))
    return input_error("the basis vectors are linearly dependent; rebuild the model with fewer");
  result.mass_.resize(to_size(pair_count(r)));
  result.system_.resize(r);
  result.mass_factor_.resize(r);
  for (int b = 0; b < r; ++b) {
    for (int a = 0; a <= b; ++a) {
      result.mass_[to_size(pair_index(a, b))] = static_cast<T>(mass(a, b));
      result.mass_factor_(b, a) = static_cast<T>(mass(a, b));
    }
  }
  result.mass_factor_.factorize();
  for (auto* scratch :
       {&result.residual_, &result.velocity_, &result.acceleration_, &result.product_, &result.trial_}) {
    scratch->assign(to_size(r), T(0));
  }
  result.reset();
  result.next_ = result.state_;
  return result;
}

template <class T>
void SubspaceDynamics<T>::reset() {
  const std::vector<T> zero(to_size(size()), T(0));
  state_ = {zero, zero, zero, 0.0};
}

template <class T>
void SubspaceDynamics<T>::set_state(const SubspaceState<T>& state) {
  SUPPLE_ASSERT(static_cast<int>(state.q.size()) == size());
  state_ = state;
}

template <class T>
SubspaceReport SubspaceDynamics<T>::step(std::span<const T> force) {
  SUPPLE_ASSERT(static_cast<int>(force.size()) == size());
  return settings_.integrator == SubspaceIntegrator::central_differences ? explicit_step(force) : implicit_step(force);
}

template <class T>
void SubspaceDynamics<T>::multiply_stiffness(const T* x, T* y) const {
  multiply_symmetric_pairs(forces_.stiffness().data(), size(), x, y);
}

template <class T>
void SubspaceDynamics<T>::multiply_mass(const T* x, T* y) const {
  multiply_symmetric_pairs(mass_.data(), size(), x, y);
}

/// system = mass_factor M̃ + stiffness_factor K̃; both triangles, so that nothing stale is left above the diagonal.
template <class T>
void SubspaceDynamics<T>::assemble_system(T mass_factor, T stiffness_factor) {
  const T* mass = mass_.data();
  const T* stiffness = forces_.stiffness().data();
  for (int b = 0; b < size(); ++b) {
    T* column = system_.column(b);
    for (int a = 0; a <= b; ++a) {
      const T value = mass_factor * mass[a] + stiffness_factor * stiffness[a];
      column[a] = value;
      system_(b, a) = value;
    }
    mass += b + 1;
    stiffness += b + 1;
  }
}

template <class T>
SubspaceReport SubspaceDynamics<T>::implicit_step(std::span<const T> force) {
  const Scheme s = Scheme::of(settings_);
  const auto alpha = static_cast<T>(settings_.mass_damping);
  const auto beta = static_cast<T>(settings_.stiffness_damping);
  const auto n = to_size(size());
  SubspaceReport report;
  next_.q = state_.q;
  for (int iteration = 0; iteration < settings_.max_iterations; ++iteration) {
    forces_.evaluate(next_.q.data());
    for (std::size_t k = 0; k < n; ++k) {
      const T delta = next_.q[k] - state_.q[k];
      const T a = static_cast<T>(s.a1) * delta - static_cast<T>(s.a2) * state_.velocity[k] -
                  static_cast<T>(s.a3) * state_.acceleration[k];
      velocity_[k] = static_cast<T>(s.a4) * delta + static_cast<T>(s.a5) * state_.velocity[k] +
                     static_cast<T>(s.a6) * state_.acceleration[k];
      acceleration_[k] = a + alpha * velocity_[k];
    }
    multiply_mass(acceleration_.data(), residual_.data());
    multiply_stiffness(velocity_.data(), product_.data());
    for (std::size_t k = 0; k < n; ++k)
      residual_[k] = force[k] - residual_[k] - beta * product_[k] - forces_.force()[k];
    report.residual = static_cast<double>(std::sqrt(dot(residual_, residual_)));
    if (report.residual < settings_.tolerance) break;
    assemble_system(static_cast<T>(s.a1) + static_cast<T>(s.a4) * alpha, T(1) + static_cast<T>(s.a4) * beta);
    if (!system_.factorize()) {
      report.recovered = true;
      return report;
    }
    system_.solve(residual_.data());
    for (std::size_t k = 0; k < n; ++k) next_.q[k] += residual_[k];
    ++report.iterations;
  }
  for (std::size_t k = 0; k < n; ++k) {
    const T delta = next_.q[k] - state_.q[k];
    next_.velocity[k] = static_cast<T>(s.a4) * delta + static_cast<T>(s.a5) * state_.velocity[k] +
                        static_cast<T>(s.a6) * state_.acceleration[k];
    next_.acceleration[k] = static_cast<T>(s.a1) * delta - static_cast<T>(s.a2) * state_.velocity[k] -
                            static_cast<T>(s.a3) * state_.acceleration[k];
  }
  next_.time = state_.time + settings_.time_step;
  keep_if_finite(report);
  return report;
}

/// Takes over `next_`, unless something in it is not a number.
template <class T>
void SubspaceDynamics<T>::keep_if_finite(SubspaceReport& report) {
  report.recovered = !all_finite(next_.q) || !all_finite(next_.velocity) || !all_finite(next_.acceleration);
  if (!report.recovered) std::swap(state_, next_);
}

/// next_.acceleration = M̃⁻¹ (f̃ − R̃(q) − D̃ v) at next_.q
template <class T>
bool SubspaceDynamics<T>::explicit_acceleration(std::span<const T> force, const T* velocity) {
  forces_.evaluate(next_.q.data());
  multiply_stiffness(velocity, product_.data());
  multiply_mass(velocity, residual_.data());
  for (std::size_t k = 0; k < residual_.size(); ++k) {
    next_.acceleration[k] = force[k] - forces_.force()[k] - static_cast<T>(settings_.stiffness_damping) * product_[k] -
                            static_cast<T>(settings_.mass_damping) * residual_[k];
  }
  mass_factor_.solve(next_.acceleration.data());
  return all_finite(next_.acceleration);
}

template <class T>
void SubspaceDynamics<T>::initialize(std::span<const T> force) {
  next_ = state_;
  if (explicit_acceleration(force, state_.velocity.data())) state_.acceleration = next_.acceleration;
}

template <class T>
SubspaceReport SubspaceDynamics<T>::explicit_step(std::span<const T> force) {
  // The limit falls as the object stiffens: it is asked for anew at every step, and the step is cut to stay below it.
  SubspaceReport report;
  const double wanted = std::ceil(settings_.time_step / stable_time_step());
  report.iterations = static_cast<int>(std::clamp(wanted, 1.0, static_cast<double>(settings_.max_substeps)));
  if (!(wanted <= settings_.max_substeps)) {
    report.recovered = true;
    return report;
  }
  const auto h = static_cast<T>(settings_.time_step / report.iterations);
  next_ = state_;
  for (int substep = 0; substep < report.iterations; ++substep) {
    for (std::size_t k = 0; k < velocity_.size(); ++k) {
      velocity_[k] = next_.velocity[k] + h / T(2) * next_.acceleration[k];
      next_.q[k] += h * velocity_[k];
    }
    explicit_acceleration(force, velocity_.data());
    for (std::size_t k = 0; k < velocity_.size(); ++k)
      next_.velocity[k] = velocity_[k] + h / T(2) * next_.acceleration[k];
  }
  next_.time = state_.time + settings_.time_step;
  keep_if_finite(report);
  return report;
}

template <class T>
double SubspaceDynamics<T>::stable_time_step() {
  forces_.evaluate(state_.q.data());
  // The largest eigenvalue of a symmetric matrix is at most its largest absolute row sum.
  double norm = 0;
  for (int a = 0; a < size(); ++a) {
    double sum = 0;
    for (int b = 0; b < size(); ++b)
      sum += std::abs(static_cast<double>(forces_.stiffness()[to_size(pair_index(a, b))]));
    norm = std::max(norm, sum);
  }
  const double omega = std::sqrt(norm / smallest_mass_);
  const double ratio = 0.5 * (settings_.mass_damping / omega + settings_.stiffness_damping * omega);
  return 2 / omega * (std::sqrt(1 + ratio * ratio) - ratio);
}

template <class T>
SubspaceReport SubspaceDynamics<T>::solve_static(std::span<const T> force, int max_iterations) {
  SubspaceReport report;
  next_ = state_;
  const auto potential = [&](const std::vector<T>& q) {
    forces_.evaluate(q.data());
    T work = T(0);
    for (std::size_t k = 0; k < q.size(); ++k) work += force[k] * q[k];
    return forces_.energy() - work;
  };
  T current = potential(next_.q);
  for (; report.iterations < max_iterations; ++report.iterations) {
    for (std::size_t k = 0; k < residual_.size(); ++k) residual_[k] = force[k] - forces_.force()[k];
    report.residual = static_cast<double>(std::sqrt(dot(residual_, residual_)));
    if (report.residual < settings_.tolerance) break;
    // K̃ may be indefinite far from equilibrium: add multiples of M̃ until it is not.
    T shift = T(0);
    velocity_ = residual_;
    for (int attempt = 0;; ++attempt) {
      assemble_system(shift, T(1));
      if (system_.factorize()) break;
      if (attempt == 40) {
        report.recovered = true;
        return report;
      }
      T trace = T(0);
      for (int a = 0; a < size(); ++a) trace += std::abs(forces_.stiffness()[to_size(pair_index(a, a))]);
      shift = shift > T(0) ? T(4) * shift : trace / static_cast<T>(size()) * T(1e-3);
    }
    system_.solve(velocity_.data());
    // Near the solution differences of the potential are rounding, which must not stop a good step.
    const T noise = T(64) * std::numeric_limits<T>::epsilon() * std::abs(current);
    T scale = T(1);
    for (int halving = 0; halving < 30; ++halving, scale /= T(2)) {
      for (std::size_t k = 0; k < trial_.size(); ++k) trial_[k] = next_.q[k] + scale * velocity_[k];
      const T trial_potential = potential(trial_);
      if (trial_potential <= current + noise || halving == 29) {
        current = trial_potential;
        break;
      }
    }
    next_.q = trial_;
  }
  std::fill(next_.velocity.begin(), next_.velocity.end(), T(0));
  std::fill(next_.acceleration.begin(), next_.acceleration.end(), T(0));
  keep_if_finite(report);
  return report;
}

template <class T>
T SubspaceDynamics<T>::elastic_energy() {
  forces_.evaluate(state_.q.data());
  return forces_.energy();
}

template <class T>
T SubspaceDynamics<T>::kinetic_energy() const {
  std::vector<T> product(state_.velocity.size());
  multiply_mass(state_.velocity.data(), product.data());
  return dot(product, state_.velocity) / T(2);
}

template class SubspaceDynamics<float>;
template class SubspaceDynamics<double>;

}  // namespace supple
