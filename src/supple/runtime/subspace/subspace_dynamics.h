// SPDX-License-Identifier: Apache-2.0
// SubspaceDynamics: M̃ q̈ + D̃(q) q̇ + R̃(q) = f̃ in time, for one instance of a SubspaceModel.
//
// Rayleigh damping D̃ = α M̃ + β K̃(q). Implicit Newmark follows appendix C of the 2005 paper, with its iteration limit
// and tolerance; backward Euler and central differences are offered beside it. step() allocates nothing and never
// throws; a step that breaks down is undone and reported, so that no NaN leaves.
#pragma once

#include "supple/base/result.h"
#include "supple/math/dense/dense_cholesky.h"
#include "supple/runtime/subspace/reduced_forces.h"

#include <span>
#include <vector>

namespace supple {

enum class SubspaceIntegrator { newmark, backward_euler, central_differences };

struct SubspaceSettings {
  SubspaceIntegrator integrator = SubspaceIntegrator::newmark;
  double time_step = 1.0 / 1000;   ///< [s]
  double newmark_beta = 0.25;      ///< β̃ of appendix C
  double newmark_gamma = 0.5;      ///< γ̃
  double mass_damping = 0.0;       ///< α [1/s]
  double stiffness_damping = 0.0;  ///< β [s]
  int max_iterations = 1;          ///< j_max: Newton iterations per step
  double tolerance = 1e-9;         ///< TOL on |residual| [N in mass-orthonormal coordinates]
  int max_substeps = 64;           ///< central differences: how finely a step may be cut to stay stable
};

template <class T>
struct SubspaceState {
  std::vector<T> q, velocity, acceleration;
  double time = 0.0;
};

struct SubspaceReport {
  int iterations = 0;      ///< Newton iterations, or sub-steps of central differences
  double residual = 0.0;   ///< |residual| that was last seen
  bool recovered = false;  ///< the step broke down and was undone
};

template <class T>
class SubspaceDynamics {
 public:
  /// Fails on settings out of range and on materials out of range.
  static Result<SubspaceDynamics> create(const SubspaceModel& model, const SubspaceSettings& settings);

  int size() const { return forces_.size(); }
  const SubspaceSettings& settings() const { return settings_; }
  const SubspaceState<T>& state() const { return state_; }
  /// Goes back to rest, at time zero.
  void reset();
  /// Continues from a saved state; its sizes must fit.
  void set_state(const SubspaceState<T>& state);

  /// Gives the present state the acceleration that this force causes, as Newmark's first step wants it.
  void initialize(std::span<const T> force);
  /// Takes one step under the reduced external force f̃ (r entries), which acts at its end.
  SubspaceReport step(std::span<const T> force);
  /// The q at which R̃(q) = f̃, found from the present q by Newton's method with a line search; velocities become zero.
  SubspaceReport solve_static(std::span<const T> force, int max_iterations = 50);

  /// Largest stable step of central differences at the present q, from a bound on the highest frequency.
  double stable_time_step();
  T elastic_energy();
  T kinetic_energy() const;

 private:
  SubspaceDynamics() = default;
  SubspaceReport implicit_step(std::span<const T> force);
  SubspaceReport explicit_step(std::span<const T> force);
  void assemble_system(T mass_factor, T stiffness_factor);
  void multiply_stiffness(const T* x, T* y) const;
  void multiply_mass(const T* x, T* y) const;
  bool explicit_acceleration(std::span<const T> force, const T* velocity);
  void keep_if_finite(SubspaceReport& report);

  SubspaceSettings settings_;
  ReducedForces<T> forces_;
  std::vector<T> mass_;  ///< pairs, like the stiffness
  double smallest_mass_ = 1.0;
  DenseCholesky<T> system_;
  DenseCholesky<T> mass_factor_;
  SubspaceState<T> state_;
  SubspaceState<T> next_;
  std::vector<T> residual_, velocity_, acceleration_, product_, trial_;
};

extern template class SubspaceDynamics<float>;
extern template class SubspaceDynamics<double>;

}  // namespace supple
