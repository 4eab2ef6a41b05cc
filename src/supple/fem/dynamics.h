// SPDX-License-Identifier: Apache-2.0
// Full-space dynamics: M a + D(u) v + f(u) = f_ext in time, with Rayleigh damping D = α M + β K(u).
//
// The implicit schemes write velocity and acceleration at the end of a step as linear functions of Δu and solve
//   r(Δu) = f_ext − M a(Δu) − D v(Δu) − f(u + Δu) = 0
// by Newton's method with the system matrix c_a M + c_v D + K:
//   backward Euler   v = Δu / h                     a = Δu / h² − v₀ / h
//   Newmark (β, γ)   v = γ/(βh) Δu + (1 − γ/β) v₀ + h (1 − γ/2β) a₀
//                    a = Δu/(βh²) − v₀/(βh) − (1/2β − 1) a₀
// A body that bends far in one step is stretched by the first iteration, which sees no rotation: |r| rises by orders of
// magnitude and falls in the next. A thin body needs that freedom (newton_growth = ∞); halving would creep.
// Central differences are explicit and use the lumped mass (velocity form):
//   v½ = v₀ + h/2 a₀,  u = u₀ + h v½,  a = M⁻¹(f_ext − f(u) − D v½),  v = v½ + h/2 a
#pragma once

#include "supple/fem/linear_solver.h"

namespace supple {

enum class Integrator { backward_euler, newmark, central_differences };

struct DynamicsSettings {
  Integrator integrator = Integrator::newmark;
  double time_step = 1.0 / 60;  ///< h [s]
  double newmark_beta = 0.25;
  double newmark_gamma = 0.5;
  double mass_damping = 0.0;       ///< α [1/s]
  double stiffness_damping = 0.0;  ///< β [s]
  int max_newton_iterations = 10;  ///< 1: one linear solve per step, the residual is not checked
  double newton_tolerance = 1e-8;  ///< on |r|, relative to the first residual of the step; rounding is enough
  double newton_growth = 2.0;      ///< an iteration that lets |r| grow beyond this factor is halved; see below
  HessianProjection projection = HessianProjection::none;  ///< tried anyway when the system is indefinite
  LinearSettings linear = {};
};

struct DynamicsState {
  VecX u;  ///< displacement [m]
  VecX v;  ///< velocity [m/s]
  VecX a;  ///< acceleration [m/s²]
  double time = 0.0;
};

struct StepReport {
  bool converged = false;  ///< false: the state is the one before the step when `recovered`, else the best iterate
  bool recovered = false;  ///< the step broke down (not finite, or unsolvable) and was undone
  int newton_iterations = 0;
  int linear_iterations = 0;
  double residual = 0.0;  ///< last |r| / first |r|
};

class FullDynamics {
 public:
  /// Fails on settings out of range, and on a time step beyond the stability limit of central differences.
  static Result<FullDynamics> create(const ElasticBody& body, std::span<const Index> fixed,
                                     const DynamicsSettings& settings);

  /// Gives the state in which nothing is displaced or moves, at time zero.
  DynamicsState rest_state() const;
  /// Computes the acceleration that fits u, v and the external force; call once before the first step.
  Status initialize(DynamicsState& state, const VecX& external_force);
  /// Advances by one time step under `external_force`, the force at the end of the step.
  StepReport step(DynamicsState& state, const VecX& external_force);

  double kinetic_energy(const DynamicsState& state) const;
  /// Largest stable step of central differences, from the highest frequency at rest (power iteration).
  double stable_time_step() const { return stable_step_; }
  const ElasticBody& body() const { return body_; }
  const DynamicsSettings& settings() const { return settings_; }

 private:
  FullDynamics(const ElasticBody& body, FreeVertices free, const DynamicsSettings& settings);
  StepReport implicit_step(DynamicsState& state, const VecX& external_force);
  StepReport explicit_step(DynamicsState& state, const VecX& external_force);

  struct Scheme;   // v and a as functions of Δu
  struct Scratch;  // what Newton's method needs, allocated once
  void evaluate_residual(const Scheme& scheme, const DynamicsState& start, const VecX& delta,
                         const VecX& external_force, HessianProjection projection);
  bool solve_for_increment(const Scheme& scheme, const DynamicsState& start, const VecX& delta,
                           const VecX& external_force, StepReport& report);
  double rounding_of_residual(const Scheme& scheme, const DynamicsState& start, const VecX& external_force) const;
  void update_explicit_acceleration(DynamicsState& state, const VecX& velocity, const VecX& external_force);

  ElasticBody body_;
  DynamicsSettings settings_;
  LinearSolver solver_;
  double stable_step_ = 0.0;
  std::shared_ptr<Scratch> scratch_;
};

}  // namespace supple
