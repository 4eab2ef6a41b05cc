// SPDX-License-Identifier: Apache-2.0
// The shapes that bases are made of, and the metric they are chosen by.
#include "supple/offline/posespace/bases/flesh_responses.h"

#include "supple/fem/free_vertices.h"
#include "supple/offline/modes/constrained_modes.h"
#include "supple/offline/modes/mass_pca.h"
#include "supple/offline/posespace/bases/pose_bases.h"
#include "supple/offline/posespace/bases/skin_weighted_metric.h"

#include "support/bodies.h"
#include "support/soft_limb.h"

#include <Eigen/Cholesky>

namespace supple::flesh_responses_test {
namespace {

ElasticBody limb_body(const SoftLimb& limb) { return must(ElasticBody::create(limb.body.mesh, MaterialModel::flesh)); }

/// The same acceleration everywhere.
VecX uniform(const ElasticBody& body, const Vec3& a) {
  VecX result(body.dof_count());
  for (Eigen::Index v = 0; v < result.size(); v += 3) result.segment<3>(v) = a;
  return result;
}

TEST(SkinWeightedMetric, AShiftOfAllWeighsAsTheBody) {
  // Both halves of the metric see the whole mass move, whatever the skin.
  const SoftLimb limb = make_soft_limb();
  const ElasticBody body = limb_body(limb);
  const VecX u = uniform(body, Vec3(0.1, 0.2, -0.2));
  const double mass = 1000 * 0.24 * 1 * 0.2;
  for (const Embedding* skin : {static_cast<const Embedding*>(nullptr), &limb.body.embedding})
    EXPECT_NEAR(u.dot(skin_weighted_metric(body, skin) * u), mass * 0.09, 1e-9 * mass);
}

TEST(SkinWeightedMetric, SkinThatLiesOutsideCountsAtItsElement) {
  const SoftLimb limb = make_soft_limb();
  const ElasticBody body = limb_body(limb);
  const std::vector<Vec3> far = {Vec3(0, 9, 0)};
  const Embedding outside = must(embed(limb.body.mesh, far));
  ASSERT_FALSE(outside.inside(0));
  // No displacement of at most 1 counts for more than the whole mass; extrapolated it would, by far.
  VecX u = VecX::Zero(body.dof_count());
  for (std::size_t k = 0; k < 4; ++k) u[3 * outside.vertices[k]] = outside.weights[k] > 0 ? 1 : -1;
  EXPECT_GT(outside.interpolate(u).norm(), 5);
  EXPECT_LT(u.dot(skin_weighted_metric(body, &outside) * u), body.lumped_mass().sum() / 3);
}

TEST(PrincipalShapes, AreNestedOrthonormalAndBest) {
  const SoftLimb limb = make_soft_limb();
  const ElasticBody body = limb_body(limb);
  const BlockMatrix G = skin_weighted_metric(body, &limb.body.embedding);
  // Three directions of known sizes, mixed up by a rotation: the first two hold 9 + 4 of 9 + 4 + 1.
  std::srand(1);
  const MatX e = mass_orthonormalize(G, MatX::Random(body.dof_count(), 3));
  const Mat3 mix = Eigen::AngleAxisd(1.0, Vec3(1, 2, 2) / 3).toRotationMatrix();
  const MatX shapes = e * Vec3(3, 2, 1).asDiagonal() * mix;
  const MatX two = principal_shapes(G, shapes, 2), three = principal_shapes(G, shapes, 5);
  ASSERT_EQ(three.cols(), 3);
  EXPECT_LT((three.leftCols(2) - two).norm(), 1e-12);
  EXPECT_LT((two.transpose() * multiply_columns(G, two) - MatX::Identity(2, 2)).norm(), 1e-10);
  EXPECT_NEAR((two.transpose() * multiply_columns(G, shapes)).squaredNorm(), 13, 1e-9);
  EXPECT_NEAR(std::abs(two.col(0).dot(G * e.col(0))), 1, 1e-10);
}

TEST(RigAccelerations, AreThoseOfTheJointsAndOfTheWhole) {
  const SoftLimb limb = make_soft_limb();
  const auto rest = limb.rig.rig();
  const MatX a = rig_accelerations(*rest, rest->layout().neutral, 1.0);
  const std::vector<Vec3>& x = limb.body.mesh.vertices;
  // Flesh at the far end hangs on the last joint alone: a turn about axis k moves it by e_k × (x − joint).
  const Vec3 joint(0, 0.7, 0);
  std::size_t tip = 0;
  for (std::size_t v = 0; v < x.size(); ++v)
    if (x[v].y() + x[v].x() + x[v].z() > x[tip].y() + x[tip].x() + x[tip].z()) tip = v;
  for (int k = 0; k < 3; ++k) {
    const Vec3 turned = Vec3::Unit(k).cross(x[tip] - joint);
    double nearest = 1;
    for (Eigen::Index c = 0; c + 6 < a.cols(); ++c)
      nearest = std::min(nearest, (a.block<3, 1>(3 * static_cast<Eigen::Index>(tip), c) - turned).norm());
    EXPECT_LT(nearest, 0.01 * turned.norm() + 0.01) << k;  // the quotient's own error: half of 0.02 rad
  }
  for (std::size_t v = 0; v < x.size(); ++v)
    EXPECT_EQ((Vec3(a.block<3, 1>(3 * static_cast<Eigen::Index>(v), a.cols() - 5))), Vec3(0, 0.05, 0));
  EXPECT_EQ(rig_accelerations(*rest, rest->layout().neutral, 1.0, 2).cols(), 8);
}

TEST(SwayOver, RestsWhereTheLoadIsConstant) {
  // K u = −M a at all times, and the same in every run.
  const SoftLimb limb = make_soft_limb();
  const ElasticBody body = limb_body(limb);
  const VecX a = uniform(body, Vec3(3, -9.81, 1));
  const MotionRun run{a.replicate(1, MotionRun::length), {}, 0};
  const std::vector<MotionRun> runs(2, run);
  const MatX u = sway_over(body, limb.body.fixed_vertices, runs);
  ASSERT_EQ(u.cols(), 2 * MotionRun::length / 3);
  BlockMatrix K = body.make_matrix();
  VecX f(body.dof_count());
  body.internal_force_and_stiffness(VecX::Zero(body.dof_count()), f, K);
  const FreeVertices free = must(FreeVertices::create(body, limb.body.fixed_vertices));
  VecX load = body.consistent_mass() * a;
  free.clear_fixed(load);
  for (Eigen::Index c = 0; c < u.cols(); ++c) {
    VecX residual = K * u.col(c) + load;
    free.clear_fixed(residual);
    EXPECT_LT(residual.norm(), 1e-8 * load.norm());
  }
}

TEST(SwayOver, RingsAtTheFrequencyOfItsMode) {
  // Pushed along a mode, flesh sways in that mode alone; let go, it comes back through zero after a quarter of its
  // damped period and has died away by exp(−ζ ω t).
  const SoftLimb limb = make_soft_limb();
  const ElasticBody body = limb_body(limb);
  const Modes modes = must(constrained_modes({.body = body, .fixed = limb.body.fixed_vertices}, {.count = 1}));
  const double omega = std::sqrt(modes.eigenvalues[0]);
  MotionRun run{MatX::Zero(body.dof_count(), MotionRun::length), {}, 0};
  run.accelerations.col(0) = modes.shapes.col(0);
  const MatX u = sway_over(body, limb.body.fixed_vertices, std::vector<MotionRun>{run});
  const VecX q = u.transpose() * (body.consistent_mass() * modes.shapes.col(0));
  EXPECT_NEAR(q[0] * omega * omega, -1, 1e-8);
  EXPECT_LT((u - modes.shapes.col(0) * q.transpose()).norm(), 1e-6 * u.norm());
  EXPECT_LT(std::abs(q[q.size() - 1]), std::abs(q[0]));
}

/// The part of the static answer to a load that the basis misses, in the energy norm.
double missed(const ElasticBody& body, const SoftLimb& limb, const MatX& U, const VecX& load) {
  const ConstrainedBody held = must(ConstrainedBody::create({.body = body, .fixed = limb.body.fixed_vertices}));
  const VecX u = held.responses(load);
  BlockMatrix K = body.make_matrix();
  VecX f(body.dof_count());
  body.internal_force_and_stiffness(VecX::Zero(body.dof_count()), f, K);
  const MatX reduced = U.transpose() * multiply_columns(K, U);
  const VecX error = u - U * reduced.ldlt().solve(U.transpose() * load);
  return std::sqrt(error.dot(K * error) / u.dot(K * u));
}

TEST(PoseBases, KnowTheAnswersToTheRigAndToGravity) {
  const SoftLimb limb = make_soft_limb();
  const ElasticBody body = limb_body(limb);
  const auto rest = limb.rig.rig();
  const MatX loads = multiply_columns(body.consistent_mass(), rig_accelerations(*rest, rest->layout().neutral, 1.0));
  double before = 1;
  for (const int size : {6, 12, 24}) {
    const ReducedBody reduced = reduce_limb(limb, small_reduction(size));
    const ElasticBody tuned = must(ElasticBody::create(reduced.mesh, MaterialModel::flesh));
    double worst = 0;
    for (Eigen::Index c = 0; c < loads.cols(); ++c)
      if (loads.col(c).norm() > 1e-6 * loads.norm())
        worst = std::max(worst, missed(tuned, limb, reduced.basis, loads.col(c)));
    EXPECT_LT(worst, before) << size;
    before = worst;
  }
  EXPECT_LT(before, 0.02);
}

}  // namespace
}  // namespace supple::flesh_responses_test
