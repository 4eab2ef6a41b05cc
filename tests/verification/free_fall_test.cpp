// SPDX-License-Identifier: Apache-2.0
// Free fall from rest under gravity g, a body of any material: every vertex moves alike and nothing is strained.
//   Newmark (any β, γ = ½) and central differences   u_n = ½ g t²,  v_n = g t          exact: acceleration is constant
//   backward Euler                                   u_n = g h² n(n+1)/2,  v_n = g t   exact for the discrete scheme
#include "supple/fem/dynamics.h"
#include "supple/fem/loads.h"

#include "support/bodies.h"

namespace supple::free_fall_test {
namespace {

struct Fall {
  Vec3 displacement, velocity;
  double spread;  ///< largest difference between vertices
};

Fall fall(ElementKind kind, const DynamicsSettings& settings, int steps, const Vec3& g) {
  const ElasticBody body =
      box_body(kind, {.cells = {2, 3, 2}, .distortion = 0.2, .heterogeneous = true}, MaterialModel::stable_neo_hookean);
  FullDynamics dynamics = must(FullDynamics::create(body, {}, settings));
  const VecX weight = gravity_force(body, g);
  DynamicsState state = dynamics.rest_state();
  EXPECT_TRUE(dynamics.initialize(state, weight).ok());
  for (int k = 0; k < steps; ++k) EXPECT_TRUE(dynamics.step(state, weight).converged);
  EXPECT_NEAR(state.time, steps * settings.time_step, 1e-12);
  const Eigen::Map<const Eigen::Matrix3Xd> u(state.u.data(), 3, body.vertex_count());
  const Eigen::Map<const Eigen::Matrix3Xd> v(state.v.data(), 3, body.vertex_count());
  return {u.rowwise().mean(), v.rowwise().mean(), (u.colwise() - u.col(0)).cwiseAbs().maxCoeff()};
}

void check_fall(const DynamicsSettings& settings, double discrete_factor) {
  const Vec3 g(1, -2, -9.81);
  constexpr int steps = 50;
  const double t = steps * settings.time_step;
  for (const ElementKind kind : all_elements) {
    const Fall result = fall(kind, settings, steps, g);
    const double distance = 0.5 * g.norm() * t * t;
    const double error = (result.displacement - 0.5 * t * t * discrete_factor * g).norm() / distance;
    measured(element_name(kind) + " position error", error);
    EXPECT_LT(error, 1e-9);
    EXPECT_LT((result.velocity - g * t).norm(), 1e-9 * g.norm() * t);
    EXPECT_LT(result.spread, 1e-8 * distance);
  }
}

TEST(FreeFall, NewmarkFollowsTheParabola) { check_fall({.integrator = Integrator::newmark, .time_step = 0.01}, 1); }
TEST(FreeFall, NewmarkWithLinearAccelerationFollowsTheParabola) {
  check_fall({.integrator = Integrator::newmark, .time_step = 5e-4, .newmark_beta = 1.0 / 6}, 1);
}
TEST(FreeFall, BackwardEulerFollowsItsDiscreteParabola) {
  check_fall({.integrator = Integrator::backward_euler, .time_step = 0.01}, 1 + 1.0 / 50);
}
TEST(FreeFall, CentralDifferencesFollowTheParabola) {
  check_fall({.integrator = Integrator::central_differences, .time_step = 5e-4}, 1);
}

}  // namespace
}  // namespace supple::free_fall_test
