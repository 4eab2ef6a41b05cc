// SPDX-License-Identifier: Apache-2.0
// The shapes that bases are made of, and the metric they are chosen by.
#include "supple/offline/posespace/bases/flesh_responses.h"
#include "supple/offline/dynamics/motion_runs.h"

#include "supple/fem/free_vertices.h"
#include "supple/offline/modes/constrained_modes.h"
#include "supple/offline/modes/mass_pca.h"
#include "supple/offline/posespace/bases/pose_bases.h"
#include "supple/offline/posespace/bases/skin_weighted_metric.h"

#include "support/bodies.h"
#include "support/dense_truth.h"
#include "support/soft_limb.h"

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

/// A limb that stands, and then is shaken sideways.
MotionRun shaken(const SoftLimb& limb, double size, int finer = 1) {
  MotionRun run;
  run.clip = 3;
  run.finer = finer;
  for (int k = 0; k < 60 * finer; ++k) {
    LimbMotion motion;
    const double time = std::max(0.0, k * run.time_step() - 12 * MotionRun::step);
    motion.root.translation = size * std::sin(12 * time) * std::min(1.0, 4 * time) * Vec3::UnitX();
    const CharacterPose pose = limb_pose(limb, motion);
    run.placements.push_back(pose.placement);
    run.poses.push_back(pose.p);
  }
  return run;
}

TaughtBody taught_body(const SoftLimb& limb) {
  return {.mesh = limb.body.mesh,
          .material = MaterialModel::flesh,
          .fixed = limb.body.fixed_vertices,
          .rest = limb.rig.rig(),
          .frequency = 4,
          .extent = 1};
}

TEST(MotionRuns, ShowWhatTheFullSimulationDoes) {
  const SoftLimb limb = make_soft_limb();
  const std::vector<MotionRun> runs(2, shaken(limb, 0.05));
  const TaughtShapes shapes = simulate_runs(taught_body(limb), runs);
  ASSERT_EQ(shapes.count(), 56);  // every second of 60 but for the start, twice
  EXPECT_EQ(shapes.poses.size(), 56u);
  EXPECT_EQ(shapes.clips, std::vector<int>(56, 3));
  // Nothing moves before the limb does; both runs are the same motion.
  EXPECT_LT(shapes.displacements.col(0).norm(), 1e-9);
  EXPECT_GT(shapes.displacements.col(27).cwiseAbs().maxCoeff(), 1e-3);
  EXPECT_EQ(shapes.displacements.leftCols(28), shapes.displacements.rightCols(28));
}

/// Of second order, so a quarter of the step leaves a sixteenth of the error; the finest has some of its own.
TEST(MotionRuns, ShorterStepsTellTheSameMomentsMoreExactly) {
  const SoftLimb limb = make_soft_limb({.cells = {2, 6, 2}});
  const auto moments = [&](int finer) {
    std::vector<MotionRun> runs(1, shaken(limb, 0.02, finer));
    runs.front().every = finer;
    return simulate_runs(taught_body(limb), runs).displacements;
  };
  const MatX coarse = moments(1), fine = moments(4), finest = moments(16);
  ASSERT_EQ(coarse.cols(), 56);  // 60 but for the start
  ASSERT_EQ(fine.cols(), 56);
  ASSERT_EQ(finest.cols(), 56);
  EXPECT_GT((coarse - finest).norm(), 0.01 * finest.norm());
  EXPECT_LT((fine - finest).norm(), (coarse - finest).norm() / 8);
}

/// Motion much slower than the flesh's own, so small that flesh is as stiff as at rest, becomes e times as large.
TEST(MotionRuns, AreDrivenAsHardAsTheBodySays) {
  const SoftLimb limb = make_soft_limb({.cells = {2, 6, 2}});
  TaughtBody body = taught_body(limb);
  const std::vector<MotionRun> runs(1, shaken(limb, 1e-4));
  const MatX plain = simulate_runs(body, runs).displacements;
  body.exaggeration = 8;
  const MatX driven = simulate_runs(body, runs).displacements;
  ASSERT_GT(plain.norm(), 0);
  EXPECT_NEAR(driven.norm() / plain.norm(), 8, 0.8);
}

TEST(MotionRuns, WhatFliesApartIsLeftOut) {
  const SoftLimb limb = make_soft_limb();
  const std::vector<MotionRun> runs{shaken(limb, 0.05), shaken(limb, 500)};
  const TaughtShapes shapes = simulate_runs(taught_body(limb), runs);
  EXPECT_GE(shapes.count(), 28);
  EXPECT_LT(shapes.count(), 56);
  EXPECT_LE(shapes.displacements.cwiseAbs().maxCoeff(), 0.5);
}

TEST(MotionRuns, MadeUpMotionIsAsFastAsAskedForAndTheSameEveryTime) {
  const SoftLimb limb = make_soft_limb();
  const Rig& rest = *limb.rig.rig();
  MadeUpMotion motion{
      .poses = {rest.layout().neutral}, .acceleration = 5, .height = 1, .frame = {}, .runs = 3, .length = 60};
  const std::vector<MotionRun> runs = made_up_runs(rest, motion), again = made_up_runs(rest, motion);
  ASSERT_EQ(runs.size(), 3u);
  double squares = 0, count = 0;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    EXPECT_EQ(runs[r].poses, again[r].poses);
    EXPECT_EQ(runs[r].clip, MotionRun::made_up);
    for (std::size_t k = 1; k + 1 < runs[r].length(); ++k) {
      std::array<std::vector<Vec3>, 3> x;
      for (std::size_t i = 0; i < 3; ++i) x[i] = evaluate_all(rest, runs[r].poses[k + i - 1]);
      for (std::size_t v = 0; v < x[0].size(); v += 7, ++count) {
        const auto at = [&](std::size_t i) { return runs[r].placements[k + i - 1] * x[i][v]; };
        squares += ((at(2) - 2 * at(1) + at(0)) / (MotionRun::step * MotionRun::step)).squaredNorm();
      }
    }
  }
  EXPECT_NEAR(std::sqrt(squares / count), 5, 2.5);
  EXPECT_NE(runs[0].poses, runs[1].poses);
}

/// The part of the static answer to a load that the basis misses, in the energy norm.
double missed(const ElasticBody& body, const SoftLimb& limb, const MatX& U, const VecX& load) {
  const ConstrainedBody held = must(ConstrainedBody::create({.body = body, .fixed = limb.body.fixed_vertices}));
  const VecX u = held.responses(load);
  BlockMatrix K = body.make_matrix();
  VecX f(body.dof_count());
  body.internal_force_and_stiffness(VecX::Zero(body.dof_count()), f, K);
  const MatX reduced = U.transpose() * multiply_columns(K, U);
  const VecX error = u - U * truth::solve_symmetric(reduced, VecX(U.transpose() * load));
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
