// SPDX-License-Identifier: Apache-2.0
#include "supple/fem/dynamics.h"

#include "supple/fem/rounding.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace supple {

/// acceleration = ca Δu + a_known, velocity = cv Δu + v_known at the end of the step.
struct FullDynamics::Scheme {
  double ca, cv;
  VecX a_known, v_known;

  static Scheme of(const DynamicsSettings& s, const DynamicsState& state) {
    const double h = s.time_step;
    if (s.integrator == Integrator::backward_euler) {
      return {1 / (h * h), 1 / h, state.v * (-1 / h), VecX::Zero(state.v.size())};
    }
    const double b = s.newmark_beta;
    const double g = s.newmark_gamma;
    return {1 / (b * h * h), g / (b * h), -(state.v / (b * h) + (1 / (2 * b) - 1) * state.a),
            (1 - g / b) * state.v + h * (1 - g / (2 * b)) * state.a};
  }
};

struct FullDynamics::Scratch {
  BlockMatrix K, system;
  VecX force, residual, increment, product;
};

namespace {

Status check(const DynamicsSettings& s) {
  if (!(s.time_step > 0) || !std::isfinite(s.time_step)) {
    return input_error(fmt::format("the time step is {:g} s, but must be positive", s.time_step));
  }
  if (!(s.newmark_beta > 0) || !(s.newmark_gamma >= 0.5)) {
    return input_error(
        fmt::format("Newmark needs beta > 0 and gamma >= 0.5 (below that it adds energy), not {:g} and {:g}",
                    s.newmark_beta, s.newmark_gamma));
  }
  if (!(s.mass_damping >= 0) || !(s.stiffness_damping >= 0)) return input_error("damping must not be negative");
  if (s.max_newton_iterations < 1) return input_error("at least one Newton iteration is needed");
  if (!(s.newton_growth >= 1)) return input_error("the growth that Newton's method allows must be at least 1");
  return {};
}

/// The highest frequency ω of M⁻¹ K at rest by power iteration [rad/s].
double highest_frequency(const ElasticBody& body, const FreeVertices& free) {
  BlockMatrix K = body.make_matrix();
  VecX force;
  body.internal_force_and_stiffness(VecX::Zero(body.dof_count()), force, K);
  // A start vector without symmetries, so that no mode is left out.
  VecX x(body.dof_count());
  for (Eigen::Index k = 0; k < x.size(); ++k) x[k] = std::sin(1.0 + 12.9898 * static_cast<double>(k));
  double lambda = 0;
  VecX y;
  for (int iteration = 0; iteration < 100; ++iteration) {
    free.clear_fixed(x);
    x.normalize();
    K.multiply(x, y);
    for (const Index v : free.vertices()) y.segment<3>(3 * v) /= body.lumped_mass()[3 * v];
    free.clear_fixed(y);
    lambda = y.norm();
    x = y;
  }
  return std::sqrt(lambda);
}

/// h ≤ 2/ω (√(1 + ξ²) − ξ) with the damping ratio ξ of the highest mode (Belytschko et al., Nonlinear Finite Elements).
double stability_limit(double omega, const DynamicsSettings& s) {
  const double ratio = 0.5 * (s.mass_damping / omega + s.stiffness_damping * omega);
  // Power iteration approaches ω from below; a few per cent make up for it.
  return 0.95 * 2 / omega * (std::sqrt(1 + ratio * ratio) - ratio);
}

}  // namespace

FullDynamics::FullDynamics(const ElasticBody& body, FreeVertices free, const DynamicsSettings& settings)
    : body_(body),
      settings_(settings),
      solver_(std::move(free), settings.linear),
      scratch_(std::make_shared<Scratch>()) {
  scratch_->K = body.make_matrix();
  scratch_->system = body.make_matrix();
}

Result<FullDynamics> FullDynamics::create(const ElasticBody& body, std::span<const Index> fixed,
                                          const DynamicsSettings& settings) {
  SUPPLE_RETURN_IF_ERROR(check(settings));
  Result<FreeVertices> free = FreeVertices::create(body, fixed);
  SUPPLE_RETURN_IF_ERROR(free);
  FullDynamics dynamics(body, std::move(free).value(), settings);
  if (settings.integrator == Integrator::central_differences) {
    dynamics.stable_step_ = stability_limit(highest_frequency(body, dynamics.solver_.free()), settings);
    if (settings.time_step > dynamics.stable_step_) {
      return input_error(
          fmt::format("the time step of {:g} s is beyond the stability limit of central differences for this "
                      "mesh; use at most {:.3g} s, or an implicit integrator",
                      settings.time_step, dynamics.stable_step_));
    }
  }
  return dynamics;
}

DynamicsState FullDynamics::rest_state() const {
  const VecX zero = VecX::Zero(body_.dof_count());
  return {.u = zero, .v = zero, .a = zero, .time = 0.0};
}

Status FullDynamics::initialize(DynamicsState& state, const VecX& external_force) {
  if (settings_.integrator == Integrator::central_differences) {
    update_explicit_acceleration(state, state.v, external_force);
    return {};
  }
  Scratch& s = *scratch_;
  body_.internal_force_and_stiffness(state.u, s.force, s.K);
  s.residual = external_force - s.force - settings_.stiffness_damping * (s.K * state.v) -
               settings_.mass_damping * (body_.consistent_mass() * state.v);
  LinearSettings mass_settings = settings_.linear;
  mass_settings.method = LinearMethod::conjugate_gradients;  // the mass matrix is so well conditioned that CG wins
  mass_settings.cg_tolerance = 1e-12;
  LinearSolver mass_solver(solver_.free(), mass_settings);
  state.a.resize(0);
  if (!mass_solver.solve(body_.consistent_mass(), s.residual, state.a).solved()) {
    return failure("the initial acceleration could not be computed: the mass matrix is singular");
  }
  return {};
}

StepReport FullDynamics::step(DynamicsState& state, const VecX& external_force) {
  return settings_.integrator == Integrator::central_differences ? explicit_step(state, external_force)
                                                                 : implicit_step(state, external_force);
}

/// Leaves K in scratch.K and r in scratch.residual.
void FullDynamics::evaluate_residual(const Scheme& scheme, const DynamicsState& start, const VecX& delta,
                                     const VecX& external_force, HessianProjection projection) {
  Scratch& s = *scratch_;
  body_.internal_force_and_stiffness(start.u + delta, s.force, s.K, projection);
  const VecX a = scheme.ca * delta + scheme.a_known;
  const VecX v = scheme.cv * delta + scheme.v_known;
  s.residual = external_force - s.force - body_.consistent_mass() * (a + settings_.mass_damping * v);
  if (settings_.stiffness_damping > 0) {
    s.K.multiply(v, s.product);
    s.residual -= settings_.stiffness_damping * s.product;
  }
  solver_.free().clear_fixed(s.residual);
}

/// Solves (ca M + cv D + K) increment = residual; falls back to projected element Hessians when that is indefinite.
bool FullDynamics::solve_for_increment(const Scheme& scheme, const DynamicsState& start, const VecX& delta,
                                       const VecX& external_force, StepReport& report) {
  Scratch& s = *scratch_;
  for (const bool retry : {false, true}) {
    if (retry) evaluate_residual(scheme, start, delta, external_force, HessianProjection::positive_semidefinite);
    s.system = s.K;
    s.system.combine(1 + scheme.cv * settings_.stiffness_damping, scheme.ca + scheme.cv * settings_.mass_damping,
                     body_.consistent_mass());
    s.increment.setZero(s.residual.size());
    const LinearReport linear = solver_.solve(s.system, s.residual, s.increment);
    report.linear_iterations += linear.iterations;
    if (linear.solved()) return true;
    if (linear.outcome == LinearReport::Outcome::not_converged) return s.increment.allFinite();
  }
  return false;
}

/// The part of |r| that rounding alone makes: no Newton iteration gets below it.
double FullDynamics::rounding_of_residual(const Scheme& scheme, const DynamicsState& start,
                                          const VecX& external_force) const {
  const double elastic = force_rounding(body_, solver_.free(), scratch_->K, start.u);
  const double inertia =
      body_.lumped_mass().cwiseProduct(scheme.a_known + settings_.mass_damping * scheme.v_known).norm();
  return elastic + std::numeric_limits<double>::epsilon() * (inertia + external_force.norm());
}

StepReport FullDynamics::implicit_step(DynamicsState& state, const VecX& external_force) {
  const Scheme scheme = Scheme::of(settings_, state);
  Scratch& s = *scratch_;
  StepReport report;
  VecX delta = VecX::Zero(state.u.size());
  evaluate_residual(scheme, state, delta, external_force, settings_.projection);
  const double first = s.residual.norm();
  double current = first;
  const double target =
      std::max(settings_.newton_tolerance * first, rounding_of_residual(scheme, state, external_force));
  const auto done = [&] { return current <= target; };
  const bool single = settings_.max_newton_iterations == 1;
  while (!done() && report.newton_iterations < settings_.max_newton_iterations) {
    if (!solve_for_increment(scheme, state, delta, external_force, report)) break;
    ++report.newton_iterations;
    delta += s.increment;
    if (single) break;
    // Halve a step that makes things worse, or leaves the domain of the energy; keep the last try otherwise.
    for (int halving = 0;; ++halving) {
      evaluate_residual(scheme, state, delta, external_force, settings_.projection);
      const double next = s.residual.norm();
      if (halving == 10 || (std::isfinite(next) && next < settings_.newton_growth * current)) break;
      s.increment *= 0.5;
      delta -= s.increment;
    }
    current = s.residual.norm();
  }
  const VecX v = scheme.cv * delta + scheme.v_known;
  const VecX a = scheme.ca * delta + scheme.a_known;
  if (report.newton_iterations == 0 && !done()) report.recovered = true;
  if (!delta.allFinite() || !v.allFinite() || !std::isfinite(current)) report.recovered = true;
  if (report.recovered) return report;
  report.converged = single || done();
  report.residual = first > 0 ? current / first : 0.0;
  state.u += delta;
  state.v = v;
  state.a = a;
  solver_.free().clear_fixed(state.v);
  solver_.free().clear_fixed(state.a);
  state.time += settings_.time_step;
  return report;
}

void FullDynamics::update_explicit_acceleration(DynamicsState& state, const VecX& velocity,
                                                const VecX& external_force) {
  Scratch& s = *scratch_;
  const VecX& mass = body_.lumped_mass();
  if (settings_.stiffness_damping > 0) {
    body_.internal_force_and_stiffness(state.u, s.force, s.K);
    s.K.multiply(velocity, s.product);
    s.force += settings_.stiffness_damping * s.product;
  } else {
    body_.internal_force(state.u, s.force);
  }
  state.a = (external_force - s.force).cwiseQuotient(mass.cwiseMax(1e-300)) - settings_.mass_damping * velocity;
  solver_.free().clear_fixed(state.a);
}

StepReport FullDynamics::explicit_step(DynamicsState& state, const VecX& external_force) {
  const double h = settings_.time_step;
  const DynamicsState before = state;
  VecX half = state.v + 0.5 * h * state.a;
  solver_.free().clear_fixed(half);
  state.u += h * half;
  update_explicit_acceleration(state, half, external_force);
  state.v = half + 0.5 * h * state.a;
  state.time += h;
  StepReport report;
  report.converged = state.u.allFinite() && state.v.allFinite();
  if (!report.converged) {
    state = before;
    report.recovered = true;
  }
  return report;
}

double FullDynamics::kinetic_energy(const DynamicsState& state) const {
  if (settings_.integrator == Integrator::central_differences) {
    return 0.5 * state.v.cwiseAbs2().dot(body_.lumped_mass());
  }
  return 0.5 * state.v.dot(body_.consistent_mass() * state.v);
}

}  // namespace supple
