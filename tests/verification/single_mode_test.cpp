// SPDX-License-Identifier: Apache-2.0
// One vibration mode of a linear body is an oscillator, q'' + 2δ q' + ω² q = 0, for which every integrator has a closed
// form. The body starts in its mode, u = φ, v = 0, and after n steps must be exactly there:
//   Newmark (β, γ = ½)    u_n = cos(nθ) φ,  2 − 2 cos θ = (ωh)² / (1 + β (ωh)²)
//   central differences   u_n = cos(nθ) φ,  2 − 2 cos θ = (ωh)²                       with the lumped-mass mode
//   backward Euler        q² ω² + q'² shrinks by 1 / (1 + (ωh)²) in each step
//   Newmark (¼, ½) with Rayleigh damping: the trapezoidal rule (I − hA/2)⁻¹(I + hA/2) of A = (0 1; −ω² −2δ),
//   2δ = α + β_K ω², whose decay rate tends to δ as h²
// Energy (kinetic + elastic − work of a constant load) is constant under Newmark (¼, ½), whatever modes move.
#include "supple/fem/dynamics.h"
#include "supple/fem/loads.h"
#include "supple/fem/modes.h"

#include "support/bodies.h"
#include "support/dense_truth.h"

#include <Eigen/LU>

#include <numbers>

namespace supple::single_mode_test {
namespace {

struct Oscillator {
  VecX shape;
  double omega;
};

class SingleMode : public testing::TestWithParam<ElementKind> {
 protected:
  ElasticBody body =
      box_body(GetParam(), {.size = Vec3(1, 0.4, 0.3), .cells = {4, 2, 2}, .distortion = 0.1, .heterogeneous = true},
               MaterialModel::linear);
  std::vector<Index> fixed = left_face(body);
  VecX no_load = VecX::Zero(body.dof_count());

  Oscillator consistent_mode(Eigen::Index k) const {
    const Modes modes = must(compute_modes(body, fixed, {.count = 6}));
    return {modes.shapes.col(k), 2 * std::numbers::pi * modes.frequencies[k]};
  }
  /// With the row-sum mass, by a dense solver.
  Oscillator lumped_mode(Eigen::Index k) const {
    const FreeVertices free = must(FreeVertices::create(body, fixed));
    const MatX K = stiffness_at(body, no_load).to_sparse_lower(free.vertices()).selfadjointView<Eigen::Lower>() *
                   MatX::Identity(3 * free.count(), 3 * free.count());
    const MatX M = free.restrict(body.lumped_mass()).asDiagonal();
    const truth::Eigenpairs modes = truth::eigenpairs(K, M);
    return {free.expand(modes.vectors.col(k)), std::sqrt(modes.values[k])};
  }
  FullDynamics dynamics(DynamicsSettings settings) const {
    settings.max_newton_iterations = 1;  // the problem is linear: one solve is exact
    return must(FullDynamics::create(body, fixed, settings));
  }
  DynamicsState start(FullDynamics& dynamics, const VecX& shape) const {
    DynamicsState state = dynamics.rest_state();
    state.u = shape;
    EXPECT_TRUE(dynamics.initialize(state, no_load).ok());
    return state;
  }
  /// Largest |u_n − cos(nθ) φ| / |φ| over some periods.
  double error_against_cosine(const Oscillator& mode, const DynamicsSettings& settings, double theta) const {
    FullDynamics stepper = dynamics(settings);
    DynamicsState state = start(stepper, mode.shape);
    double error = 0;
    for (int n = 1; n <= 60; ++n) {
      stepper.step(state, no_load);
      error = std::max(error, (state.u - std::cos(n * theta) * mode.shape).norm() / mode.shape.norm());
    }
    return error;
  }
};

TEST_P(SingleMode, NewmarkHasItsClosedForm) {
  const Oscillator mode = consistent_mode(2);
  const double theta = 2 * std::atan(0.25);  // β = ¼ makes it tan(θ/2) = ωh/2
  const double error =
      error_against_cosine(mode, {.integrator = Integrator::newmark, .time_step = 0.5 / mode.omega}, theta);
  measured("error", error);
  EXPECT_LT(error, 1e-8);
}

TEST_P(SingleMode, ConditionallyStableNewmarkHasItsClosedForm) {
  const Oscillator mode = consistent_mode(2);
  const double h = 1e-3;
  for (const double beta : {1.0 / 6, 1.0 / 12}) {
    const double square = std::pow(mode.omega * h, 2);
    const DynamicsSettings settings{.integrator = Integrator::newmark, .time_step = h, .newmark_beta = beta};
    const double error = error_against_cosine(mode, settings, std::acos(1 - 0.5 * square / (1 + beta * square)));
    measured("error", error);
    EXPECT_LT(error, 1e-8);
  }
}

TEST_P(SingleMode, CentralDifferencesHaveTheirClosedForm) {
  const Oscillator mode = lumped_mode(2);
  const double h = 1e-3;
  const double error = error_against_cosine(mode, {.integrator = Integrator::central_differences, .time_step = h},
                                            2 * std::asin(0.5 * mode.omega * h));
  measured("error", error);
  EXPECT_LT(error, 1e-9);
}

TEST_P(SingleMode, BackwardEulerLosesEnergyAtItsKnownRate) {
  const Oscillator mode = consistent_mode(1);
  const double h = 0.3 / mode.omega;
  FullDynamics stepper = dynamics({.integrator = Integrator::backward_euler, .time_step = h});
  DynamicsState state = start(stepper, mode.shape);
  double before = body.energy(state.u);
  double worst = 0;
  for (int n = 0; n < 30; ++n) {
    stepper.step(state, no_load);
    const double energy = body.energy(state.u) + stepper.kinetic_energy(state);
    worst = std::max(worst, std::abs(energy / before * (1 + 0.09) - 1));
    before = energy;
  }
  measured("error of the energy ratio", worst);
  EXPECT_LT(worst, 1e-7);
}

/// State (q, q') after n steps of the trapezoidal rule from (1, 0).
Eigen::Vector2d trapezoidal(double omega, double delta, double h, int n) {
  Eigen::Matrix2d A;
  A << 0, 1, -omega * omega, -2 * delta;
  const Eigen::Matrix2d I = Eigen::Matrix2d::Identity();
  const Eigen::Matrix2d step = (I - 0.5 * h * A).inverse() * (I + 0.5 * h * A);
  Eigen::Vector2d y(1, 0);
  for (int k = 0; k < n; ++k) y = (step * y).eval();
  return y;
}

TEST_P(SingleMode, RayleighDampingDecaysAtItsRate) {
  const Oscillator mode = consistent_mode(0);
  const double alpha = 0.06 * mode.omega, beta = 0.04 / mode.omega;
  const double delta = 0.5 * (alpha + beta * mode.omega * mode.omega);
  const double damped = std::sqrt(mode.omega * mode.omega - delta * delta);
  const VecX M_shape = body.consistent_mass() * mode.shape;  // φᵀMφ = 1
  const double duration = 12 / mode.omega;
  std::vector<double> rate_errors;
  for (const int steps : {100, 200}) {
    const double h = duration / steps;
    FullDynamics stepper =
        dynamics({.integrator = Integrator::newmark, .time_step = h, .mass_damping = alpha, .stiffness_damping = beta});
    DynamicsState state = start(stepper, mode.shape);
    for (int n = 0; n < steps; ++n) stepper.step(state, no_load);
    const double q = M_shape.dot(state.u), p = M_shape.dot(state.v);
    const Eigen::Vector2d expected = trapezoidal(mode.omega, delta, h, steps);
    EXPECT_NEAR(q, expected[0], 1e-8);
    EXPECT_NEAR(p / mode.omega, expected[1] / mode.omega, 1e-8);
    // q(t) = A e^{−δt} cos(ω_d t + φ): the amplitude follows from q and q'.
    const auto amplitude = [&](double q_, double p_) { return std::hypot(q_, (p_ + delta * q_) / damped); };
    const double rate = -std::log(amplitude(q, p) / amplitude(1, 0)) / duration;
    rate_errors.push_back(std::abs(rate / delta - 1));
  }
  measured("decay rate error at 105 steps per period", rate_errors[1]);
  measured("order", order_of(rate_errors[0], rate_errors[1]));
  EXPECT_LT(rate_errors[1], 2e-3);
  EXPECT_NEAR(order_of(rate_errors[0], rate_errors[1]), 2, 0.05);
}

TEST_P(SingleMode, NewmarkKeepsTheEnergyOfAnyLinearMotion) {
  const VecX weight = gravity_force(body, Vec3(0, 0, -9.81));
  FullDynamics stepper = dynamics({.integrator = Integrator::newmark, .time_step = 0.02});
  DynamicsState state = stepper.rest_state();
  state.v = random_vector(body.dof_count(), 3);
  for (const Index v : fixed) state.v.segment<3>(3 * v).setZero();
  ASSERT_TRUE(stepper.initialize(state, weight).ok());
  const auto energy = [&] { return stepper.kinetic_energy(state) + body.energy(state.u) - weight.dot(state.u); };
  const double before = energy();
  double drift = 0;
  for (int n = 0; n < 300; ++n) {
    stepper.step(state, weight);
    drift = std::max(drift, std::abs(energy() / before - 1));
  }
  measured("largest energy drift in 300 steps", drift);
  EXPECT_LT(drift, 1e-10);
}

INSTANTIATE_TEST_SUITE_P(All, SingleMode, testing::ValuesIn(all_elements),
                         [](const auto& info) { return element_name(info.param); });

}  // namespace
}  // namespace supple::single_mode_test
