// SPDX-License-Identifier: Apache-2.0
#include "supple/fem/linear_solver.h"

#include "support/bodies.h"
#include "support/dense_truth.h"

namespace supple::linear_solver_test {
namespace {

class LinearSolverTest : public testing::TestWithParam<LinearMethod> {
 protected:
  ElasticBody body =
      box_body(ElementKind::tet, {.cells = {4, 3, 3}, .distortion = 0.2, .heterogeneous = true}, MaterialModel::stvk);
  FreeVertices free = must(FreeVertices::create(body, left_face(body)));
  LinearSettings settings{.method = GetParam(), .cg_tolerance = 1e-12};

  VecX dense_solution(const BlockMatrix& A, const VecX& b) const {
    const MatX lower = A.to_sparse_lower(free.vertices());
    return free.expand(truth::solve_symmetric(lower, free.restrict(b)));
  }
};

TEST_P(LinearSolverTest, AgreesWithADenseSolver) {
  LinearSolver solver(free, settings);
  EXPECT_EQ(solver.is_direct(), GetParam() == LinearMethod::direct);
  VecX x;
  for (const unsigned seed : {1u, 2u}) {  // the second matrix reuses the analysis of the first
    const BlockMatrix K = stiffness_at(body, 0.02 * seed * random_vector(body.dof_count(), seed));
    const VecX b = random_vector(body.dof_count(), 7 + seed);
    const LinearReport report = solver.solve(K, b, x);
    ASSERT_TRUE(report.solved());
    const VecX expected = dense_solution(K, b);
    EXPECT_LT((x - expected).norm(), 1e-9 * expected.norm());
    for (const Index v : left_face(body)) EXPECT_EQ(x.segment<3>(3 * v).norm(), 0);
    if (GetParam() == LinearMethod::conjugate_gradients) {
      EXPECT_GT(report.iterations, 5);
      EXPECT_LE(report.residual, 1e-12);
    }
  }
}

TEST_P(LinearSolverTest, SaysWhenTheMatrixIsIndefinite) {
  LinearSolver solver(free, settings);
  BlockMatrix A = stiffness_at(body, VecX::Zero(body.dof_count()));
  A.combine(1, -1e5, body.consistent_mass());
  VecX x;
  EXPECT_EQ(solver.solve(A, random_vector(body.dof_count(), 1), x).outcome, LinearReport::Outcome::indefinite);
}

TEST_P(LinearSolverTest, GivesZeroForZero) {
  LinearSolver solver(free, settings);
  VecX x;
  ASSERT_TRUE(solver.solve(body.consistent_mass(), VecX::Zero(body.dof_count()), x).solved());
  EXPECT_EQ(x.size(), body.dof_count());
  EXPECT_EQ(x.norm(), 0);
}

INSTANTIATE_TEST_SUITE_P(Methods, LinearSolverTest,
                         testing::Values(LinearMethod::direct, LinearMethod::conjugate_gradients));

TEST(ConjugateGradients, StartFromTheGuessAndKnowTheirLimits) {
  const ElasticBody body = box_body(ElementKind::brick, {.cells = {6, 4, 4}}, MaterialModel::stvk);
  const FreeVertices free = must(FreeVertices::create(body, left_face(body)));
  const BlockMatrix K = stiffness_at(body, VecX::Zero(body.dof_count()));
  const VecX b = random_vector(body.dof_count(), 1);
  LinearSolver solver(free, {.method = LinearMethod::conjugate_gradients, .cg_tolerance = 1e-10});
  VecX x;
  const LinearReport cold = solver.solve(K, b, x);
  ASSERT_TRUE(cold.solved());
  const VecX solution = x;
  const LinearReport warm = solver.solve(K, b, x);
  EXPECT_TRUE(warm.solved());
  EXPECT_LE(warm.iterations, 2) << "the guess already is the solution";
  EXPECT_LT((x - solution).norm(), 1e-8 * solution.norm());

  LinearSolver hurried(free, {.method = LinearMethod::conjugate_gradients, .cg_max_iterations = 3});
  VecX rough;
  const LinearReport stopped = hurried.solve(K, b, rough);
  EXPECT_EQ(stopped.outcome, LinearReport::Outcome::not_converged);
  EXPECT_EQ(stopped.iterations, 3);
  VecX r = b - K * rough;
  VecX right = b;
  free.clear_fixed(r);
  free.clear_fixed(right);
  EXPECT_NEAR(stopped.residual, r.norm() / right.norm(), 1e-9);
}

TEST(LinearSolver, ChoosesBySize) {
  const ElasticBody body = box_body(ElementKind::tet, {.cells = {3, 3, 3}}, MaterialModel::stvk);
  const FreeVertices free = must(FreeVertices::create(body, {}));
  EXPECT_TRUE(LinearSolver(free, {.direct_limit = 192}).is_direct());
  EXPECT_FALSE(LinearSolver(free, {.direct_limit = 191}).is_direct());
}

}  // namespace
}  // namespace supple::linear_solver_test
