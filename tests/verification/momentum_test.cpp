// SPDX-License-Identifier: Apache-2.0
// Momentum of a free body that flies, spins and deforms: p = Σ M v and L = Σ x × M v stay as they are.
//   central differences   both to rounding: the forces at x have no resultant and no torque, the scheme is symplectic
//   Newmark (¼, ½)        p to the solver's tolerance; L only with an error O(h²), whose order is measured
#include "supple/fem/dynamics.h"

#include "support/bodies.h"

namespace supple::momentum_test {
namespace {

struct Momentum {
  Vec3 linear = Vec3::Zero();
  Vec3 angular = Vec3::Zero();
};

Momentum momentum(const FullDynamics& dynamics, const DynamicsState& state) {
  const ElasticBody& body = dynamics.body();
  const bool lumped = dynamics.settings().integrator == Integrator::central_differences;
  const VecX p = lumped ? VecX(body.lumped_mass().cwiseProduct(state.v)) : body.consistent_mass() * state.v;
  Momentum result;
  for (Index v = 0; v < body.vertex_count(); ++v) {
    const Vec3 x = rest_position(body, v) + state.u.segment<3>(3 * v);
    result.linear += p.segment<3>(3 * v);
    result.angular += x.cross(p.segment<3>(3 * v));
  }
  return result;
}

/// The largest over the whole flight.
struct Drift {
  double linear, angular, deformation;
};

Drift drift_of(ElementKind kind, MaterialModel model, DynamicsSettings settings, double duration) {
  const ElasticBody body =
      box_body(kind, {.size = Vec3(1, 0.7, 0.4), .cells = {3, 2, 2}, .distortion = 0.15, .heterogeneous = true}, model);
  settings.newton_tolerance = 1e-12;
  settings.max_newton_iterations = 30;
  FullDynamics dynamics = must(FullDynamics::create(body, {}, settings));
  DynamicsState state = dynamics.rest_state();
  const Vec3 spin(1, -2, 3);
  state.v = displacement(
      body, [&](const Vec3& X) -> Vec3 { return Vec3(1, 2, -1) + spin.cross(X) + 2 * X[0] * Vec3(X[0], X[2], 0); });
  const VecX none = VecX::Zero(body.dof_count());
  EXPECT_TRUE(dynamics.initialize(state, none).ok());
  const Momentum before = momentum(dynamics, state);
  Drift drift{0, 0, 0};
  const int steps = static_cast<int>(std::lround(duration / settings.time_step));
  for (int k = 0; k < steps; ++k) {
    EXPECT_FALSE(dynamics.step(state, none).recovered);
    const Momentum now = momentum(dynamics, state);
    drift.linear = std::max(drift.linear, (now.linear - before.linear).norm() / before.linear.norm());
    drift.angular = std::max(drift.angular, (now.angular - before.angular).norm() / before.angular.norm());
    drift.deformation = std::max(drift.deformation, body.energy(state.u) / dynamics.kinetic_energy(state));
  }
  return drift;
}

class MomentumTest : public testing::TestWithParam<ElementKind> {};

TEST_P(MomentumTest, CentralDifferencesKeepBothToRounding) {
  for (const MaterialModel model : {MaterialModel::corotational, MaterialModel::stvk, MaterialModel::neo_hookean,
                                    MaterialModel::stable_neo_hookean}) {
    const Drift drift =
        drift_of(GetParam(), model, {.integrator = Integrator::central_differences, .time_step = 5e-4}, 0.5);
    EXPECT_GT(drift.deformation, 0.01) << "the body hardly deforms, so the test shows little";
    measured(std::string(to_string(model)) + " linear", drift.linear);
    measured(std::string(to_string(model)) + " angular", drift.angular);
    EXPECT_LT(drift.linear, 1e-12);
    EXPECT_LT(drift.angular, 1e-12);
  }
}

TEST_P(MomentumTest, NewmarkKeepsLinearAndLosesAngularAtSecondOrder) {
  const auto drift = [&](double h) {
    return drift_of(GetParam(), MaterialModel::stvk, {.integrator = Integrator::newmark, .time_step = h}, 0.24);
  };
  const Drift coarse = drift(0.004), middle = drift(0.002), fine = drift(0.001);
  const double order = order_of(middle.angular, fine.angular);
  measured("linear", std::max({coarse.linear, middle.linear, fine.linear}));
  measured("angular at h = 0.001", fine.angular);
  measured("order", order);
  EXPECT_LT(std::max({coarse.linear, middle.linear, fine.linear}), 1e-10);
  EXPECT_NEAR(order, 2, 0.15);
  EXPECT_LT(fine.angular, middle.angular);
  EXPECT_LT(middle.angular, coarse.angular);
}

INSTANTIATE_TEST_SUITE_P(All, MomentumTest, testing::ValuesIn(all_elements),
                         [](const auto& info) { return element_name(info.param); });

}  // namespace
}  // namespace supple::momentum_test
