// SPDX-License-Identifier: Apache-2.0
// Patch test: the surface of a box with an irregular mesh inside is displaced by u = (F − I) X. A homogeneous body then
// deforms homogeneously, and both elements can represent that: the vertices inside must follow to rounding.
// The inner vertices are found by Newton's method from a start far from the answer.
#include "supple/fem/linear_solver.h"

#include "support/bodies.h"

namespace supple::patch_test {
namespace {

class PatchTest : public EveryBody {};

TEST_P(PatchTest, InnerVerticesFollowTheSurfaceExactly) {
  const BoxSpec spec{.size = Vec3(1, 1.5, 0.8), .cells = {3, 4, 3}, .distortion = 0.25};
  const ElasticBody body = box_body(kind(), spec, model());
  Mat3 F;
  F << 1.15, 0.2, 0, -0.1, 0.9, 0.15, 0.05, 0, 1.1;
  const VecX exact = homogeneous(body, F);
  const auto surface = vertices_where(body, [&](const Vec3& X) { return on_surface(X, spec.size); });
  const FreeVertices inner = must(FreeVertices::create(body, surface));
  ASSERT_EQ(inner.count(), 2 * 3 * 2);
  LinearSolver solver(inner, {.method = LinearMethod::direct});

  VecX u = exact + inner.expand(0.02 * random_vector(3 * inner.count(), 5));
  ASSERT_GT(body.smallest_volume_ratio(u), 0);
  BlockMatrix K = body.make_matrix();
  VecX f, step;
  int iterations = 0;
  for (double change = 1; change > 1e-13 && iterations < 20; ++iterations) {
    body.internal_force_and_stiffness(u, f, K);
    ASSERT_TRUE(solver.solve(K, -f, step).solved());
    u += step;
    change = step.lpNorm<Eigen::Infinity>();
  }
  const double error = (u - exact).lpNorm<Eigen::Infinity>();
  measured("error", error);
  EXPECT_LT(error, 1e-12);
  if (model() == MaterialModel::linear) {
    EXPECT_LE(iterations, 2) << "linear elasticity needs one solve and its check";
  }
}

SUPPLE_FOR_EVERY_BODY(PatchTest);

}  // namespace
}  // namespace supple::patch_test
