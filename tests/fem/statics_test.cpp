// SPDX-License-Identifier: Apache-2.0
// Failures and behaviour of the static solver; its accuracy is checked in tests/verification.
#include "supple/fem/statics.h"

#include "supple/fem/loads.h"
#include "support/bodies.h"

#include <limits>

namespace supple::statics_test {
namespace {

const BoxSpec bar{.size = Vec3(1, 0.3, 0.3), .cells = {6, 2, 2}};

std::string complaint(const Result<StaticsResult>& result) {
  EXPECT_FALSE(result.ok());
  return result.ok() ? "" : result.error().message;
}

TEST(Statics, RefuseABodyThatCanFloatAway) {
  const ElasticBody body = box_body(ElementKind::tet, bar, MaterialModel::stvk);
  const VecX weight = gravity_force(body, Vec3(0, 0, -1));
  for (const auto& fixed : {std::vector<Index>{}, std::vector<Index>{0}, std::vector<Index>{0, 1, 2}}) {
    EXPECT_NE(complaint(solve_static(body, fixed, weight)).find("fix at least three"), std::string::npos);
  }
  EXPECT_TRUE(solve_static(body, std::vector<Index>{0, 6, 7}, weight).ok());
}

TEST(Statics, SayHowFarTheyCame) {
  const ElasticBody body = box_body(ElementKind::brick, bar, MaterialModel::neo_hookean);
  const VecX weight = gravity_force(body, Vec3(0, 0, -9.81));
  const auto hurried = solve_static(body, left_face(body), weight, {.max_halvings = 2, .max_iterations = 1});
  EXPECT_NE(complaint(hurried).find("no equilibrium was found beyond 0.0 % of the load"), std::string::npos);
  VecX infinite = weight;
  infinite[3 * 6] = std::numeric_limits<double>::infinity();
  EXPECT_NE(complaint(solve_static(body, left_face(body), infinite)).find("finite"), std::string::npos);
}

TEST(Statics, TellWhenTheAnswerIsInsideOut) {
  // Compressed St. Venant-Kirchhoff gives way beyond |P| = E / (3√3); what balances a larger load is inside out.
  BoxSpec column{.size = Vec3(1, 1, 1), .cells = {2, 2, 2}};
  column.material.poisson = 0;
  const ElasticBody body = box_body(ElementKind::tet, column, MaterialModel::stvk);
  const auto squeeze = [&](double pressure) {
    VecX load = VecX::Zero(body.dof_count());
    for (const Index v : vertices_where(body, [](const Vec3& X) { return X[0] > 1 - 1e-9; }))
      load[3 * v] = -pressure * column.material.young / 9;
    return solve_static(body, left_face(body), load);
  };
  EXPECT_GT(must(squeeze(0.1)).smallest_volume_ratio, 0.5);
  const Result<StaticsResult> crushed = squeeze(0.6);
  if (crushed.ok()) {
    EXPECT_LT(crushed->smallest_volume_ratio, 0);
  } else {
    EXPECT_NE(complaint(crushed).find("% of the load"), std::string::npos);
  }
}

TEST(Statics, RefuseNonsense) {
  const ElasticBody body = box_body(ElementKind::tet, bar, MaterialModel::stvk);
  const VecX weight = gravity_force(body, Vec3(0, 0, -1));
  EXPECT_NE(complaint(solve_static(body, left_face(body), weight, {.load_steps = 0})).find("load step"),
            std::string::npos);
  EXPECT_NE(complaint(solve_static(body, std::vector<Index>{999}, weight)).find("999"), std::string::npos);
}

TEST(Statics, NoLoadMeansNoDisplacement) {
  const ElasticBody body = box_body(ElementKind::tet, bar, MaterialModel::stvk);
  const StaticsResult result = must(solve_static(body, left_face(body), VecX::Zero(body.dof_count())));
  EXPECT_EQ(result.u.norm(), 0);
  EXPECT_EQ(result.residual, 0);
}

TEST(Statics, LoadStepsAndSolversDoNotChangeTheAnswer) {
  const ElasticBody body = box_body(ElementKind::brick, bar, MaterialModel::stable_neo_hookean);
  const VecX weight = gravity_force(body, Vec3(0, 2, -9.81));
  const auto fixed = left_face(body);
  const StaticsResult once = must(solve_static(body, fixed, weight));
  const StaticsResult often = must(solve_static(body, fixed, weight, {.load_steps = 7}));
  StaticsSettings iterative;
  iterative.linear = {.method = LinearMethod::conjugate_gradients};
  const StaticsResult by_cg = must(solve_static(body, fixed, weight, iterative));
  EXPECT_GT(once.u.lpNorm<Eigen::Infinity>(), 0.02);
  EXPECT_EQ(often.load_steps, 7);
  EXPECT_LT((once.u - often.u).norm(), 1e-7 * once.u.norm());
  EXPECT_LT((once.u - by_cg.u).norm(), 1e-7 * once.u.norm());
  // At equilibrium the residual really is small, over the free vertices.
  VecX r = weight - force_at(body, once.u);
  for (const Index v : fixed) r.segment<3>(3 * v).setZero();
  EXPECT_LT(r.norm(), 1e-8 * weight.norm());
  EXPECT_NEAR(once.energy, body.energy(once.u), 1e-12 * once.energy);
}

TEST(Statics, QuadraticConvergenceNeedsFewIterations) {
  const ElasticBody body = box_body(ElementKind::tet, bar, MaterialModel::linear);
  const StaticsResult result = must(solve_static(body, left_face(body), gravity_force(body, Vec3(0, 0, -9.81))));
  EXPECT_EQ(result.newton_iterations, 1) << "linear elasticity takes one";
}

}  // namespace
}  // namespace supple::statics_test
