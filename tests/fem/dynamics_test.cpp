// SPDX-License-Identifier: Apache-2.0
// Behaviour at the edges; what the integrators converge to is checked in tests/verification.
#include "supple/fem/dynamics.h"

#include "supple/fem/loads.h"
#include "supple/fem/statics.h"
#include "support/bodies.h"
#include "support/dense_truth.h"

#include <limits>

namespace supple::dynamics_test {
namespace {

std::string complaint(const DynamicsSettings& settings) {
  const ElasticBody body = box_body(ElementKind::tet, {}, MaterialModel::stvk);
  const auto dynamics = FullDynamics::create(body, left_face(body), settings);
  return dynamics.ok() ? "" : dynamics.error().message;
}

TEST(Dynamics, RefuseSettingsOutOfRange) {
  EXPECT_EQ(complaint({}), "");
  EXPECT_NE(complaint({.time_step = 0}).find("time step"), std::string::npos);
  EXPECT_NE(complaint({.time_step = std::nan("")}).find("time step"), std::string::npos);
  EXPECT_NE(complaint({.newmark_beta = 0}).find("beta"), std::string::npos);
  EXPECT_NE(complaint({.newmark_gamma = 0.4}).find("gamma"), std::string::npos);
  EXPECT_NE(complaint({.mass_damping = -1}).find("damping"), std::string::npos);
  EXPECT_NE(complaint({.stiffness_damping = std::nan("")}).find("damping"), std::string::npos);
  EXPECT_NE(complaint({.max_newton_iterations = 0}).find("Newton"), std::string::npos);
  EXPECT_NE(complaint({.newton_growth = 0.5}).find("Newton"), std::string::npos);
  EXPECT_NE(complaint({.newton_growth = std::nan("")}).find("Newton"), std::string::npos);
  const std::string unstable = complaint({.integrator = Integrator::central_differences, .time_step = 1});
  EXPECT_NE(unstable.find("stability limit"), std::string::npos);
}

/// 2/ω_max of the lumped-mass body, by a dense solver.
double true_stability_limit(const ElasticBody& body, const FreeVertices& free) {
  const MatX lower = stiffness_at(body, VecX::Zero(body.dof_count())).to_sparse_lower(free.vertices());
  const MatX K = lower.selfadjointView<Eigen::Lower>();
  const MatX M = free.restrict(body.lumped_mass()).asDiagonal();
  return 2 / std::sqrt(truth::eigenvalues(K, M).maxCoeff());
}

TEST(Dynamics, KnowTheStabilityLimitOfCentralDifferences) {
  for (const ElementKind kind : all_elements) {
    for (const bool heterogeneous : {false, true}) {
      const BoxSpec spec{
          .cells = {4, 3, 4}, .distortion = 0.25, .distort_surface = true, .heterogeneous = heterogeneous};
      const ElasticBody body = box_body(kind, spec, MaterialModel::stvk);
      const auto fixed = left_face(body);
      const double limit = true_stability_limit(body, must(FreeVertices::create(body, fixed)));
      const FullDynamics dynamics =
          must(FullDynamics::create(body, fixed, {.integrator = Integrator::central_differences, .time_step = 1e-6}));
      EXPECT_LE(dynamics.stable_time_step(), limit) << "an unstable step would be allowed";
      EXPECT_GT(dynamics.stable_time_step(), 0.85 * limit) << "stable steps are refused";
    }
  }
}

class EveryIntegrator : public testing::TestWithParam<Integrator> {
 protected:
  ElasticBody body = box_body(ElementKind::tet, {.size = Vec3(1, 0.4, 0.4), .cells = {4, 2, 2}}, MaterialModel::stvk);
  std::vector<Index> fixed = left_face(body);
  VecX weight = gravity_force(body, Vec3(0, 0, -9.81));
  DynamicsSettings settings{.integrator = GetParam(),
                            .time_step = GetParam() == Integrator::central_differences ? 2e-4 : 0.01};
};

TEST_P(EveryIntegrator, RestStaysAtRest) {
  FullDynamics dynamics = must(FullDynamics::create(body, fixed, settings));
  DynamicsState state = dynamics.rest_state();
  const VecX none = VecX::Zero(body.dof_count());
  ASSERT_TRUE(dynamics.initialize(state, none).ok());
  for (int k = 0; k < 5; ++k) {
    const StepReport report = dynamics.step(state, none);
    EXPECT_TRUE(report.converged);
    EXPECT_EQ(report.newton_iterations, 0);
  }
  EXPECT_EQ(state.u.norm() + state.v.norm() + state.a.norm(), 0);
}

TEST_P(EveryIntegrator, EquilibriumIsKeptAndCallsItselfConverged) {
  const StaticsResult equilibrium = must(solve_static(body, fixed, weight, {.tolerance = 1e-11}));
  FullDynamics dynamics = must(FullDynamics::create(body, fixed, settings));
  DynamicsState state = dynamics.rest_state();
  state.u = equilibrium.u;
  ASSERT_TRUE(dynamics.initialize(state, weight).ok());
  for (int k = 0; k < 20; ++k) {
    const StepReport report = dynamics.step(state, weight);
    EXPECT_TRUE(report.converged) << "step " << k << ", residual " << report.residual;
    EXPECT_LE(report.newton_iterations, 1);
  }
  EXPECT_LT((state.u - equilibrium.u).norm(), 1e-9 * equilibrium.u.norm());
}

TEST_P(EveryIntegrator, FixedVerticesStay) {
  settings.stiffness_damping = 1e-4;
  FullDynamics dynamics = must(FullDynamics::create(body, fixed, settings));
  DynamicsState state = dynamics.rest_state();
  ASSERT_TRUE(dynamics.initialize(state, weight).ok());
  for (int k = 0; k < 10; ++k) ASSERT_TRUE(dynamics.step(state, weight).converged);
  EXPECT_GT(state.u.norm(), 0);
  for (const Index v : fixed) EXPECT_EQ(state.u.segment<3>(3 * v).norm() + state.v.segment<3>(3 * v).norm(), 0);
}

INSTANTIATE_TEST_SUITE_P(All, EveryIntegrator,
                         testing::Values(Integrator::backward_euler, Integrator::newmark,
                                         Integrator::central_differences));

TEST(Dynamics, ComeToRestInStaticEquilibrium) {
  const ElasticBody body =
      box_body(ElementKind::brick, {.size = Vec3(1, 0.4, 0.4), .cells = {4, 2, 2}}, MaterialModel::stable_neo_hookean);
  const auto fixed = left_face(body);
  const VecX weight = gravity_force(body, Vec3(0, 0, -9.81));
  FullDynamics dynamics = must(FullDynamics::create(body, fixed,
                                                    {.integrator = Integrator::backward_euler,
                                                     .time_step = 0.1,
                                                     .stiffness_damping = 0.02,
                                                     .max_newton_iterations = 40}));
  DynamicsState state = dynamics.rest_state();
  ASSERT_TRUE(dynamics.initialize(state, weight).ok());
  for (int k = 0; k < 200; ++k) ASSERT_TRUE(dynamics.step(state, weight).converged);
  const StaticsResult equilibrium = must(solve_static(body, fixed, weight));
  EXPECT_LT((state.u - equilibrium.u).norm(), 1e-6 * equilibrium.u.norm());
}

TEST(Dynamics, ConvergeWithStiffnessDampingAtTheCurrentState) {
  // The Newton matrix leaves out ∂(K v)/∂u; it must converge all the same.
  const ElasticBody body =
      box_body(ElementKind::tet, {.size = Vec3(1, 0.3, 0.3), .cells = {5, 2, 2}}, MaterialModel::stvk);
  FullDynamics dynamics = must(FullDynamics::create(
      body, left_face(body), {.time_step = 0.01, .stiffness_damping = 0.01, .max_newton_iterations = 30}));
  DynamicsState state = dynamics.rest_state();
  state.v = displacement(body, [](const Vec3& X) { return Vec3(0, 0, 5 * X[0] * X[0]); });
  const VecX none = VecX::Zero(body.dof_count());
  ASSERT_TRUE(dynamics.initialize(state, none).ok());
  for (int k = 0; k < 10; ++k) EXPECT_TRUE(dynamics.step(state, none).converged);
}

TEST(Dynamics, SolversAgree) {
  const ElasticBody body = box_body(ElementKind::tet, {.cells = {4, 3, 3}}, MaterialModel::stvk);
  const VecX weight = gravity_force(body, Vec3(0, 0, -9.81));
  const auto run = [&](LinearMethod method) {
    DynamicsSettings settings{.time_step = 0.01, .newton_tolerance = 1e-10};
    settings.linear = {.method = method, .cg_tolerance = 1e-10};
    FullDynamics dynamics = must(FullDynamics::create(body, left_face(body), settings));
    DynamicsState state = dynamics.rest_state();
    EXPECT_TRUE(dynamics.initialize(state, weight).ok());
    for (int k = 0; k < 10; ++k) EXPECT_TRUE(dynamics.step(state, weight).converged);
    return state.u;
  };
  const VecX direct = run(LinearMethod::direct);
  EXPECT_LT((run(LinearMethod::conjugate_gradients) - direct).norm(), 1e-7 * direct.norm());
}

// A thin strip that falls: after the first iteration it is stretched, and |r| is larger than before.
TEST(Dynamics, ThinBodiesConvergeFastWhenTheResidualMayGrow) {
  const ElasticBody strip = box_body(ElementKind::brick,
                                     {.size = Vec3(1, 0.1, 0.005),
                                      .cells = {20, 2, 1},
                                      .material = {.name = "rubber", .young = 1e6, .poisson = 0.3, .density = 1000}},
                                     MaterialModel::stvk);
  const VecX weight = gravity_force(strip, Vec3(0, 0, -9.81));
  const auto run = [&](double growth, int iterations, bool& converged) {
    FullDynamics dynamics = must(FullDynamics::create(
        strip, left_face(strip),
        {.time_step = 0.1, .max_newton_iterations = iterations, .newton_tolerance = 1e-6, .newton_growth = growth}));
    DynamicsState state = dynamics.rest_state();
    converged = true;
    for (int k = 0; k < 3; ++k) converged = dynamics.step(state, weight).converged && converged;
    return state.u;
  };
  bool freely = false, halved_soon = false, halved = false;
  const VecX free_growth = run(std::numeric_limits<double>::infinity(), 8, freely);
  run(2, 8, halved_soon);
  const VecX careful = run(2, 1000, halved);
  EXPECT_TRUE(freely);
  EXPECT_FALSE(halved_soon);
  EXPECT_TRUE(halved);
  EXPECT_GT(careful.lpNorm<Eigen::Infinity>(), 0.3);
  EXPECT_LT((free_growth - careful).norm(), 1e-4 * careful.norm());
}

TEST(Dynamics, UndoAStepThatBreaksDown) {
  const ElasticBody body = box_body(ElementKind::tet, {}, MaterialModel::neo_hookean);
  FullDynamics dynamics = must(FullDynamics::create(body, left_face(body), {}));
  DynamicsState state = dynamics.rest_state();
  VecX poison = VecX::Zero(body.dof_count());
  poison[80] = std::nan("");
  const StepReport report = dynamics.step(state, poison);
  EXPECT_FALSE(report.converged);
  EXPECT_TRUE(report.recovered);
  EXPECT_EQ(state.u.norm() + state.v.norm(), 0);
  EXPECT_EQ(state.time, 0);
}

}  // namespace
}  // namespace supple::dynamics_test
