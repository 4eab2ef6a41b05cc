// SPDX-License-Identifier: Apache-2.0
// The reduced integrators against the full-space ones in a complete basis, against closed forms, and their promises:
// no allocation in step, no NaN out, the same motion at any display rate.
#include "supple/runtime/subspace/subspace_dynamics.h"
#include "supple/runtime/subspace/basis_rows.h"

#include "supple/fem/dynamics.h"
#include "supple/fem/modes.h"
#include "supple/fem/statics.h"
#include "supple/mesh/box.h"
#include "supple/offline/forces/cubic_forces.h"
#include "supple/runtime/step_clock.h"

#include "runtime/allocation_counter.h"

#include <gtest/gtest.h>

namespace supple::subspace_dynamics_test {
namespace {

struct Specimen {
  TetMesh mesh;
  std::vector<Index> fixed;
  ElasticBody body;
  Modes modes;
  SubspaceModel model;
};

/// A short cantilever and its first `count` modes.
Specimen specimen(int count) {
  TetMesh mesh = make_tet_box(Vec3(0.4, 0.1, 0.1), {4, 1, 1});
  set_uniform_material(mesh, {"soft", 1e5, 0.3, 1000});
  std::vector<Index> fixed;
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
    if (mesh.vertices[v].x() < 1e-9) fixed.push_back(static_cast<Index>(v));
  }
  ElasticBody body = ElasticBody::create(mesh, MaterialModel::stvk).value();
  Modes modes = compute_modes(body, fixed, {.count = count}).value();
  SubspaceModel model = build_subspace_model(mesh, modes.shapes).value();
  return {mesh, fixed, body, modes, model};
}

VecX tip_load(const Specimen& s, double newtons) {
  VecX load = VecX::Zero(s.body.dof_count());
  for (std::size_t v = 0; v < s.mesh.vertices.size(); ++v) {
    if (s.mesh.vertices[v].x() > 0.4 - 1e-9) load[static_cast<Eigen::Index>(3 * v + 1)] = -newtons / 4;
  }
  return load;
}

template <class T>
std::vector<T> reduced(const Specimen& s, const VecX& load) {
  const VecX f = s.model.basis.transpose() * load;
  return {f.data(), f.data() + f.size()};
}

template <class T>
VecX displacement(const Specimen& s, const SubspaceDynamics<T>& dynamics) {
  const auto& q = dynamics.state().q;
  VecX values(static_cast<Eigen::Index>(q.size()));
  for (std::size_t k = 0; k < q.size(); ++k) values[static_cast<Eigen::Index>(k)] = static_cast<double>(q[k]);
  return s.model.basis * values;
}

/// With all 48 modes the subspace is the whole space: both must walk the same path.
void expect_same_path(SubspaceIntegrator reduced_scheme, Integrator full_scheme, double time_step, int steps) {
  const Specimen s = specimen(48);
  const VecX load = tip_load(s, 8.0);
  SubspaceSettings settings{.integrator = reduced_scheme,
                            .time_step = time_step,
                            .mass_damping = 0.5,
                            .stiffness_damping = 0.002,
                            .max_iterations = 20,
                            .tolerance = 1e-11};
  auto dynamics = SubspaceDynamics<double>::create(s.model, settings).value();
  DynamicsSettings full_settings;
  full_settings.integrator = full_scheme;
  full_settings.time_step = time_step;
  full_settings.mass_damping = 0.5;
  full_settings.stiffness_damping = 0.002;
  full_settings.max_newton_iterations = 20;
  full_settings.newton_tolerance = 1e-11;
  FullDynamics full = FullDynamics::create(s.body, s.fixed, full_settings).value();
  DynamicsState state = full.rest_state();
  const std::vector<double> f = reduced<double>(s, load);
  for (int k = 0; k < steps; ++k) {
    EXPECT_FALSE(dynamics.step(f).recovered);
    full.step(state, load);
  }
  EXPECT_GT(state.u.cwiseAbs().maxCoeff(), 0.05) << "the beam must move far for this to mean something";
  EXPECT_LT((displacement(s, dynamics) - state.u).norm(), 1e-7 * state.u.norm());
}

TEST(SubspaceDynamics, NewmarkFollowsTheFullSimulationInACompleteBasis) {
  expect_same_path(SubspaceIntegrator::newmark, Integrator::newmark, 0.01, 30);
}

TEST(SubspaceDynamics, BackwardEulerFollowsTheFullSimulationInACompleteBasis) {
  expect_same_path(SubspaceIntegrator::backward_euler, Integrator::backward_euler, 0.01, 30);
}

TEST(SubspaceDynamics, StaticSolveFindsTheFullEquilibriumInACompleteBasis) {
  const Specimen s = specimen(48);
  const VecX load = tip_load(s, 1.0);
  const StaticsResult full = solve_static(s.body, s.fixed, load).value();
  auto dynamics = SubspaceDynamics<double>::create(s.model, {.tolerance = 1e-7}).value();
  const SubspaceReport report = dynamics.solve_static(reduced<double>(s, load));
  EXPECT_LT(report.residual, 1e-7);  // newtons; stiffnesses are 1e8 times larger
  EXPECT_LT((displacement(s, dynamics) - full.u).norm(), 1e-8 * full.u.norm());
}

TEST(SubspaceDynamics, CentralDifferencesConserveEnergyAndCutTheirStep) {
  const Specimen s = specimen(6);
  SubspaceSettings settings{
      .integrator = SubspaceIntegrator::central_differences, .time_step = 1e-4, .max_substeps = 1000};
  auto dynamics = SubspaceDynamics<double>::create(s.model, settings).value();
  SubspaceState<double> state = dynamics.state();
  state.velocity[0] = 0.1;
  dynamics.set_state(state);
  const std::vector<double> none(6, 0.0);
  const double before = dynamics.kinetic_energy();
  for (int k = 0; k < 2000; ++k) ASSERT_FALSE(dynamics.step(none).recovered);
  EXPECT_NEAR(dynamics.kinetic_energy() + dynamics.elastic_energy(), before, 1e-4 * before);
  // A step far beyond the limit is cut into many.
  settings.time_step = 10 * dynamics.stable_time_step();
  auto coarse = SubspaceDynamics<double>::create(s.model, settings).value();
  coarse.set_state(state);
  EXPECT_GE(coarse.step(none).iterations, 9);
}

TEST(SubspaceDynamics, SinglePrecisionFollowsDouble) {
  const Specimen s = specimen(10);
  const VecX load = tip_load(s, 1.0);
  const SubspaceSettings settings{.time_step = 0.005, .stiffness_damping = 0.001};
  auto exact = SubspaceDynamics<double>::create(s.model, settings).value();
  auto single = SubspaceDynamics<float>::create(s.model, settings).value();
  const std::vector<double> f = reduced<double>(s, load);
  const std::vector<float> g = reduced<float>(s, load);
  for (int k = 0; k < 100; ++k) {
    exact.step(f);
    single.step(g);
  }
  const VecX expected = displacement(s, exact);
  EXPECT_LT((displacement(s, single) - expected).norm(), 1e-3 * expected.norm());
}

TEST(SubspaceDynamics, StepAllocatesNothing) {
  const Specimen s = specimen(12);
  const std::vector<double> f = reduced<double>(s, tip_load(s, 1.0));
  for (const auto integrator :
       {SubspaceIntegrator::newmark, SubspaceIntegrator::backward_euler, SubspaceIntegrator::central_differences}) {
    auto dynamics =
        SubspaceDynamics<double>::create(s.model, {.integrator = integrator, .time_step = 1e-3, .max_iterations = 3})
            .value();
    dynamics.step(f);
    const long before = allocation_count();
    for (int k = 0; k < 10; ++k) dynamics.step(f);
    dynamics.solve_static(f);
    EXPECT_EQ(allocation_count() - before, 0);
  }
}

TEST(SubspaceDynamics, NoNaNLeaves) {
  const Specimen s = specimen(5);
  auto dynamics = SubspaceDynamics<double>::create(s.model, {}).value();
  std::vector<double> bad(5, 1.0);
  for (const double value :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1e300}) {
    bad[2] = value;
    const SubspaceReport report = dynamics.step(bad);
    for (const double q : dynamics.state().q) EXPECT_TRUE(std::isfinite(q));
    EXPECT_EQ(report.recovered, !std::isfinite(value));
  }
  dynamics.reset();
  EXPECT_EQ(dynamics.state().q, std::vector<double>(5, 0.0));
}

TEST(SubspaceDynamics, BadSettingsAndMaterialsAreRefused) {
  Specimen s = specimen(3);
  EXPECT_FALSE(SubspaceDynamics<double>::create(s.model, {.time_step = 0}).ok());
  EXPECT_FALSE(SubspaceDynamics<double>::create(s.model, {.newmark_gamma = 0.2}).ok());
  s.model.groups[0].material.poisson = 0.5;
  EXPECT_FALSE(SubspaceDynamics<double>::create(s.model, {}).ok());
}

TEST(BasisRows, GiveDisplacementsAndTakeForcesOfChosenPoints) {
  const Specimen s = specimen(11);
  const std::vector<Index> points = {7, 0, 19, 3};
  const BasisRows<double> rows(s.model.basis, points);
  const VecX q = VecX::LinSpaced(11, -1.0, 2.0);
  const VecX u = s.model.basis * q;
  std::vector<double> shown(12);
  const std::vector<double> coordinates(q.data(), q.data() + q.size());
  std::vector<double> force(11, 0.5);
  const double newtons[3] = {1.0, -2.0, 3.0};
  const long before = allocation_count();
  rows.displacements(coordinates, shown);
  rows.add_force(2, newtons, force);
  EXPECT_EQ(allocation_count() - before, 0);
  for (std::size_t k = 0; k < points.size(); ++k) {
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_NEAR(shown[3 * k + i], u[3 * points[k] + static_cast<Index>(i)], 1e-13 * u.norm());
  }
  VecX full = VecX::Zero(s.body.dof_count());
  full.segment<3>(3 * 19) = Vec3(1, -2, 3);
  const VecX expected = s.model.basis.transpose() * full + VecX::Constant(11, 0.5);
  for (std::size_t c = 0; c < force.size(); ++c)
    EXPECT_NEAR(force[c], expected[static_cast<Index>(c)], 1e-13 * expected.norm());
}

TEST(StepClock, ShowsTheSameMotionAtAnyDisplayRate) {
  // A "simulation" that counts its steps: shown time must equal display time at any rate.
  for (const double rate : {24.0, 30.0, 59.94, 144.0, 1234.5}) {
    StepClock clock(0.001);
    double simulated = 0, previous = 0;
    for (int frame = 1; frame <= 500; ++frame) {
      const int steps = clock.advance(1 / rate);
      for (int k = 0; k < steps; ++k) previous = simulated, simulated += 0.001;
      const double shown = (1 - clock.fraction()) * previous + clock.fraction() * simulated;
      EXPECT_NEAR(shown, frame / rate, 1e-9) << rate;
    }
  }
}

TEST(StepClock, ForgetsLongPauses) {
  StepClock clock(0.001, 50);
  EXPECT_EQ(clock.advance(10.0), 50);
  EXPECT_EQ(clock.advance(0.001), 1);
  EXPECT_EQ(clock.advance(-1.0), 0);
}

}  // namespace
}  // namespace supple::subspace_dynamics_test
