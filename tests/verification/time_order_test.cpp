// SPDX-License-Identifier: Apache-2.0
// Order in time on a nonlinear problem without closed form: a cantilever thrown sideways, large rotations, all modes
// resolved. With the error against a far finer run of the same scheme,
//   Newmark (¼, ½): 2,  Newmark with γ > ½: 1,  backward Euler: 1,  central differences: 2.
#include "supple/fem/dynamics.h"

#include "support/bodies.h"

namespace supple {
namespace {

constexpr double duration = 0.3;

VecX final_displacement(ElementKind kind, MaterialModel model, DynamicsSettings settings, int steps) {
  const ElasticBody body = box_body(kind, {.size = Vec3(1, 0.25, 0.25), .cells = {4, 1, 1}}, model);
  settings.time_step = duration / steps;
  settings.newton_tolerance = 1e-11;
  settings.max_newton_iterations = 20;
  FullDynamics dynamics = must(FullDynamics::create(body, left_face(body), settings));
  DynamicsState state = dynamics.rest_state();
  state.v = displacement(body, [](const Vec3& X) { return Vec3(0, 0.5 * X[0] * X[0], 3 * X[0] * X[0]); });
  const VecX none = VecX::Zero(body.dof_count());
  EXPECT_TRUE(dynamics.initialize(state, none).ok());
  for (int k = 0; k < steps; ++k) EXPECT_FALSE(dynamics.step(state, none).recovered);
  return state.u;
}

class TimeOrder : public testing::TestWithParam<ElementKind> {
 protected:
  void expect_order(const DynamicsSettings& settings, double expected, int first_steps, int reference_factor) {
    for (const MaterialModel model : {MaterialModel::stvk, MaterialModel::stable_neo_hookean}) {
      const VecX reference = final_displacement(GetParam(), model, settings, first_steps * reference_factor);
      EXPECT_GT(reference.lpNorm<Eigen::Infinity>(), 0.2) << "the deflection should be large";
      const auto error = [&](int steps) {
        return (final_displacement(GetParam(), model, settings, steps) - reference).norm();
      };
      const double e1 = error(first_steps), e2 = error(2 * first_steps), e4 = error(4 * first_steps);
      // The reference itself errs by e / factor^p, which is taken out of the slope.
      const double order = order_of(e1 - e2, e2 - e4);
      measured(std::string(to_string(model)) + " order", order);
      measured(std::string(to_string(model)) + " plain slope", order_of(e2, e4));
      EXPECT_NEAR(order, expected, 0.1);
    }
  }
};

TEST_P(TimeOrder, NewmarkIsOfSecondOrder) { expect_order({.integrator = Integrator::newmark}, 2, 200, 32); }
TEST_P(TimeOrder, NewmarkWithNumericalDampingIsOfFirstOrder) {
  expect_order({.integrator = Integrator::newmark, .newmark_beta = 0.3025, .newmark_gamma = 0.6}, 1, 400, 32);
}
TEST_P(TimeOrder, BackwardEulerIsOfFirstOrder) { expect_order({.integrator = Integrator::backward_euler}, 1, 800, 16); }
TEST_P(TimeOrder, CentralDifferencesAreOfSecondOrder) {
  expect_order({.integrator = Integrator::central_differences}, 2, 400, 32);
}

INSTANTIATE_TEST_SUITE_P(All, TimeOrder, testing::ValuesIn(all_elements),
                         [](const auto& info) { return element_name(info.param); });

}  // namespace
}  // namespace supple
