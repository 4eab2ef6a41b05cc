// SPDX-License-Identifier: Apache-2.0
// Order in time on a nonlinear problem without closed form: a cantilever shaken sideways, large rotations, all modes
// resolved. With the error against a far finer run of a second-order scheme on the same mass matrix,
//   Newmark (¼, ½): 2,  Newmark with γ > ½: 1,  backward Euler: 1,  central differences: 2.
#include "supple/fem/dynamics.h"
#include "supple/fem/loads.h"

#include "support/bodies.h"

#include <numbers>

namespace supple::time_order_test {
namespace {

constexpr double duration = 0.4;

VecX final_displacement(ElementKind kind, MaterialModel model, DynamicsSettings settings, int steps) {
  const ElasticBody body = box_body(kind, {.size = Vec3(1, 0.25, 0.25), .cells = {4, 1, 1}}, model);
  settings.time_step = duration / steps;
  settings.newton_tolerance = 1e-11;
  settings.max_newton_iterations = 20;
  FullDynamics dynamics = must(FullDynamics::create(body, left_face(body), settings));
  DynamicsState state = dynamics.rest_state();
  // Shaken by a gravity that comes and goes smoothly, so that the highest modes follow instead of ringing.
  const VecX weight = gravity_force(body, Vec3(3, 5, -30));
  EXPECT_TRUE(dynamics.initialize(state, VecX::Zero(body.dof_count())).ok());
  for (int k = 1; k <= steps; ++k) {
    const double strength = std::pow(std::sin(std::numbers::pi * k / steps), 2);
    EXPECT_FALSE(dynamics.step(state, strength * weight).recovered);
  }
  return state.u;
}

class TimeOrder : public testing::TestWithParam<ElementKind> {
 protected:
  /// Errors of runs with `steps`, twice and four times as many, against a reference whose own error is negligible.
  void expect_order(const DynamicsSettings& settings, double expected, int steps, const DynamicsSettings& reference) {
    for (const MaterialModel model : {MaterialModel::stvk, MaterialModel::stable_neo_hookean}) {
      const VecX exact = final_displacement(GetParam(), model, reference, 12'800);
      measured(std::string(to_string(model)) + " deflection", exact.lpNorm<Eigen::Infinity>());
      EXPECT_GT(exact.lpNorm<Eigen::Infinity>(), 0.2) << "the deflection should be large";
      const auto error = [&](int count) {
        return (final_displacement(GetParam(), model, settings, count) - exact).norm();
      };
      const double order = order_of(error(2 * steps), error(4 * steps));
      measured(std::string(to_string(model)) + " order", order);
      EXPECT_NEAR(order, expected, 0.1);
    }
  }
  const DynamicsSettings newmark{.integrator = Integrator::newmark};
  const DynamicsSettings explicit_scheme{.integrator = Integrator::central_differences};
};

TEST_P(TimeOrder, NewmarkIsOfSecondOrder) { expect_order(newmark, 2, 200, newmark); }
TEST_P(TimeOrder, NewmarkWithNumericalDampingIsOfFirstOrder) {
  expect_order({.integrator = Integrator::newmark, .newmark_beta = 0.3025, .newmark_gamma = 0.6}, 1, 400, newmark);
}
TEST_P(TimeOrder, BackwardEulerIsOfFirstOrder) {
  expect_order({.integrator = Integrator::backward_euler}, 1, 800, newmark);
}
TEST_P(TimeOrder, CentralDifferencesAreOfSecondOrder) { expect_order(explicit_scheme, 2, 200, explicit_scheme); }

INSTANTIATE_TEST_SUITE_P(All, TimeOrder, testing::ValuesIn(all_elements),
                         [](const auto& info) { return element_name(info.param); });

}  // namespace
}  // namespace supple::time_order_test
