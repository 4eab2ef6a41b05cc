// SPDX-License-Identifier: Apache-2.0
// The same bits for any number of threads: forces, matrices, a solve by conjugate gradients, modes, a simulation.
#include "supple/base/parallel.h"
#include "supple/fem/dynamics.h"
#include "supple/fem/loads.h"
#include "supple/fem/modes.h"

#include "support/bodies.h"

#include <cstring>

namespace supple::determinism_test {
namespace {

/// Runs `compute` with 1, 2, 3 and 8 threads; all results (vectors of numbers) must equal the first, bit by bit.
template <class Compute>
void expect_same_bits(const Compute& compute) {
  struct Restore {
    int before = thread_count();
    ~Restore() { set_thread_count(before); }
  } restore;
  set_thread_count(1);
  const VecX first = compute();
  ASSERT_GT(first.size(), 0);
  ASSERT_TRUE(first.allFinite());
  for (const int threads : {2, 3, 8}) {
    set_thread_count(threads);
    const VecX other = compute();
    ASSERT_EQ(other.size(), first.size());
    EXPECT_EQ(std::memcmp(first.data(), other.data(), sizeof(double) * to_size(first.size())), 0)
        << threads << " threads";
  }
}

class Determinism : public EveryBody {
 protected:
  // Enough elements for many clusters, and rows for more than one chunk.
  BoxSpec spec{
      .size = Vec3(2, 1, 1), .cells = {20, 8, 8}, .distortion = 0.2, .distort_surface = true, .heterogeneous = true};
};

TEST_P(Determinism, ForceStiffnessEnergyAndHessianProduct) {
  expect_same_bits([&]() -> VecX {
    const ElasticBody body = box_body(kind(), spec, model());
    const VecX u = large_deformation(body, 1, 0.005);
    BlockMatrix K = body.make_matrix();
    VecX f;
    body.internal_force_and_stiffness(u, f, K);
    const Eigen::Map<const VecX> values(K.values().data(), static_cast<Eigen::Index>(K.values().size()));
    const VecX Ku = K * u;
    const VecX h = body.hessian_product(u, f, Ku);
    VecX all(1 + f.size() + Ku.size() + h.size() + values.size());
    all << body.energy(u), f, Ku, h, values;
    return all;
  });
}
SUPPLE_FOR_EVERY_BODY(Determinism);

class DeterminismOfSolvers : public testing::TestWithParam<ElementKind> {
 protected:
  BoxSpec spec{.size = Vec3(2, 1, 1), .cells = {16, 8, 8}, .heterogeneous = true};
};

TEST_P(DeterminismOfSolvers, ConjugateGradients) {
  spec.cells = {22, 18, 18};  // above 16384 unknowns, so that sums have several chunks
  expect_same_bits([&]() -> VecX {
    const ElasticBody body = box_body(GetParam(), spec, MaterialModel::stvk);
    LinearSolver solver(must(FreeVertices::create(body, left_face(body))),
                        {.method = LinearMethod::conjugate_gradients});
    VecX x;
    EXPECT_TRUE(
        solver.solve(stiffness_at(body, VecX::Zero(body.dof_count())), gravity_force(body, Vec3(0, 0, -9.81)), x)
            .solved());
    return x;
  });
}

TEST_P(DeterminismOfSolvers, Modes) {
  expect_same_bits([&]() -> VecX {
    const ElasticBody body = box_body(GetParam(), spec, MaterialModel::stvk);
    const supple::Modes modes = must(compute_modes(body, left_face(body), {.count = 8}));
    VecX all(modes.eigenvalues.size() + modes.shapes.size());
    all << modes.eigenvalues, modes.shapes.reshaped();
    return all;
  });
}

TEST_P(DeterminismOfSolvers, TenStepsOfNewmark) {
  expect_same_bits([&]() -> VecX {
    const ElasticBody body = box_body(GetParam(), spec, MaterialModel::stable_neo_hookean);
    FullDynamics dynamics =
        must(FullDynamics::create(body, left_face(body), {.stiffness_damping = 0.001, .max_newton_iterations = 2}));
    DynamicsState state = dynamics.rest_state();
    const VecX weight = gravity_force(body, Vec3(0, 0, -9.81));
    EXPECT_TRUE(dynamics.initialize(state, weight).ok());
    for (int k = 0; k < 10; ++k) dynamics.step(state, weight);
    VecX all(2 * state.u.size());
    all << state.u, state.v;
    return all;
  });
}

INSTANTIATE_TEST_SUITE_P(All, DeterminismOfSolvers, testing::ValuesIn(all_elements),
                         [](const auto& info) { return element_name(info.param); });

}  // namespace
}  // namespace supple::determinism_test
