// SPDX-License-Identifier: Apache-2.0
// Reduced models of several poses: alignment of their bases (Figures 6 and 7 of the 2016 paper), interpolation without
// jumps, and what they gain against the full simulation.
#include "supple/fem/modes.h"
#include "supple/offline/cubature/cubature_samples.h"
#include "supple/offline/dynamics/full_pose_dynamics.h"
#include "supple/offline/fitting/flesh_frequency.h"
#include "supple/offline/modes/mass_pca.h"
#include "supple/offline/posespace/cubature/blended_pose.h"
#include "supple/runtime/posespace/cubature_forces.h"
#include "support/bodies.h"
#include "support/dense_truth.h"
#include "support/soft_limb.h"

#include <gtest/gtest.h>

#include <numeric>

namespace supple::several_poses_test {
namespace {

/// A beam held at one end, its first modes as the basis of a pose, turned as a whole by R.
struct Beam {
  TetMesh mesh;
  PoseBasis pose;

  Beam(const Vec3& size, const Mat3& R, double p, int modes = 2) {
    mesh = make_tet_box(size, {2, 2, 10});
    const ElasticBody body = body_of(mesh, MaterialModel::linear);
    std::vector<Index> held;
    for (std::size_t v = 0; v < mesh.vertices.size(); ++v)
      if (mesh.vertices[v].z() < 1e-9) held.push_back(static_cast<Index>(v));
    pose.p = {p};
    pose.turns.assign(mesh.vertices.size(), R);
    pose.basis = must(compute_modes(body, held, {.count = modes})).shapes;
  }
};

PoseLayout one_slider() {
  PoseLayout layout;
  layout.add_scalar("slider", 0, "", 1);
  return layout;
}

/// Smallest singular value of the mean of two bases, in the mass metric: how independent its columns are.
double independence(const BlockMatrix& mass, const MatX& a, const MatX& b) {
  const MatX mean = 0.5 * (a + b);
  const MatX gram = mean.transpose() * multiply_columns(mass, mean);
  return std::sqrt(truth::singular_values(gram).values.minCoeff());
}

TEST(AlignBases, ModesThatSwapAreToldApart) {
  // The first two modes of a nearly square beam bend one way and the other; which comes first is a matter of 2 %.
  std::vector<PoseBasis> poses{Beam({0.100, 0.102, 1}, Mat3::Identity(), 0).pose,
                               Beam({0.102, 0.100, 1}, Mat3::Identity(), 1).pose};
  const TetMesh square = make_tet_box(Vec3(0.101, 0.101, 1), {2, 2, 10});
  const ElasticBody body = body_of(square, MaterialModel::linear);
  const BlockMatrix& mass = body.consistent_mass();
  const PoseBasis swapped = poses[1];
  const double before =
      std::min(independence(mass, poses[0].basis, swapped.basis), independence(mass, poses[0].basis, -swapped.basis));
  const BasisAlignment alignment = align_bases(mass, one_slider(), {}, poses);
  EXPECT_EQ(alignment.parent, (std::vector<int>{-1, 0}));
  EXPECT_LT(alignment.angles[1].maxCoeff(), 0.1);
  EXPECT_LT(before, 0.75);
  EXPECT_GT(independence(mass, poses[0].basis, poses[1].basis), 0.99);
  // The subspace stays what it was.
  const MatX overlap = swapped.basis.transpose() * multiply_columns(mass, poses[1].basis);
  EXPECT_GT(truth::singular_values(overlap).values.minCoeff(), 0.99);
}

TEST(AlignBases, NearestPosesAreTheParents) {
  std::vector<PoseBasis> poses;
  for (const double p : {0.0, 3.0, 1.0, 2.1}) poses.push_back(Beam({0.1, 0.11, 1}, Mat3::Identity(), p).pose);
  const ElasticBody body = body_of(make_tet_box(Vec3(0.1, 0.11, 1), {2, 2, 10}), MaterialModel::linear);
  EXPECT_EQ(align_bases(body.consistent_mass(), one_slider(), {}, poses).parent, (std::vector<int>{-1, 3, 0, 2}));
}

TEST(AlignBases, SoftModesStaySoft) {
  // The other pose has the same soft mode, and a stiff one that has a tenth of the soft one's mass in it: nearest in
  // mass is a mixture of both, a hundred times as stiff.
  const ElasticBody body = body_of(make_tet_box(Vec3(0.1, 0.11, 1), {2, 2, 10}), MaterialModel::linear);
  PoseBasis first = Beam({0.1, 0.11, 1}, Mat3::Identity(), 0).pose, second = first;
  second.p = {1};
  const double angle = 0.1;
  Eigen::Matrix2d turn;
  turn << std::cos(angle), -std::sin(angle), std::sin(angle), std::cos(angle);
  first.basis = first.basis * turn;
  std::vector<PoseBasis> poses{first, second};
  std::vector<MatX> stiffness(2, MatX(Eigen::Vector2d(1, 1e4).asDiagonal()));
  std::vector<PoseBasis> nearest = poses;
  align_bases(body.consistent_mass(), one_slider(), {}, nearest);
  const MatX turned = second.basis.transpose() * multiply_columns(body.consistent_mass(), nearest[1].basis);
  EXPECT_GT((turned.transpose() * stiffness[1] * turned)(0, 0), 90);
  const MatX before = stiffness[1];
  align_bases(body.consistent_mass(), one_slider(), {}, poses, stiffness);
  const MatX kept = second.basis.transpose() * multiply_columns(body.consistent_mass(), poses[1].basis);
  EXPECT_LT((stiffness[1] - kept.transpose() * before * kept).norm(), 1e-9 * before.norm());
  EXPECT_LT(stiffness[1](0, 0), 1.1);
}

// ---- what poses have in common --------------------------------------------------------------------------------------

/// Three poses of a beam with two patches of two columns, all over it: of the second pose the first patch is turned
/// out of its directions by `first`, the second by `second` [rad]; the third is like the second.
struct AlikePoses {
  Beam beam{{0.1, 0.11, 1}, Mat3::Identity(), 0, 8};
  ElasticBody body = body_of(beam.mesh, MaterialModel::linear);
  std::vector<PoseBasis> poses;

  AlikePoses(double first, double second) {
    const MatX modes = beam.pose.basis;
    beam.pose.basis = modes.leftCols(4);
    poses.assign(3, beam.pose);
    for (std::size_t i = 1; i < 3; ++i) {
      MatX& basis = poses[i].basis;
      poses[i].p = {static_cast<double>(i)};
      basis.leftCols(2) = std::cos(first) * modes.leftCols(2) + std::sin(first) * modes.middleCols(4, 2);
      basis.rightCols(2) = std::cos(second) * modes.middleCols(2, 2) + std::sin(second) * modes.rightCols(2);
      basis.leftCols(2) = (basis.leftCols(2) * Eigen::Rotation2Dd(0.7).toRotationMatrix()).eval();
    }
  }

  void align(double angle, std::span<const SparseConstraints> contacts = {}) {
    const std::vector<int> sizes{2, 2};
    std::vector<MatX> stiffness(3, MatX(Eigen::Vector4d(1, 2, 3, 4).asDiagonal()));
    align_bases(body.consistent_mass(), one_slider(), sizes, poses, stiffness, {angle, contacts});
  }
};

TEST(SharedBases, PatchesThatHardlyDifferAreTakenOver) {
  AlikePoses alike(0.03, 0.3);
  const MatX own = alike.poses[0].basis;
  alike.align(0.06);
  EXPECT_TRUE(alike.poses[0].sources.empty());
  EXPECT_EQ(alike.poses[1].sources, (std::vector<Index>{0, 0, 1, 1}));
  // From the pose that owns it, not from one that took it over itself.
  EXPECT_EQ(alike.poses[2].sources, (std::vector<Index>{0, 0, 1, 1}));
  for (std::size_t i = 1; i < 3; ++i) EXPECT_EQ(alike.poses[i].basis.leftCols(2), own.leftCols(2));
  EXPECT_EQ(alike.poses[2].basis, alike.poses[1].basis);
  EXPECT_GT((alike.poses[1].basis.rightCols(2) - own.rightCols(2)).norm(), 0.1 * own.rightCols(2).norm());
}

TEST(SharedBases, NothingIsTakenOverUnasked) {
  AlikePoses alike(0.03, 0.3);
  alike.align(0);
  for (const PoseBasis& pose : alike.poses) EXPECT_TRUE(pose.sources.empty());
}

TEST(SharedBases, WhatTouchesItselfKeepsItsOwn) {
  AlikePoses alike(0.03, 0.3);
  std::vector<SparseConstraints> contacts(3, SparseConstraints(1, alike.body.dof_count()));
  contacts[1].insert(0, alike.body.dof_count() - 1) = 1;
  alike.align(0.06, contacts);
  EXPECT_TRUE(alike.poses[1].sources.empty());
  EXPECT_EQ(alike.poses[2].sources, (std::vector<Index>{1, 1, 1, 1}));
}

TEST(SharedBases, GradientsAreTakenOverOnlyWhereTheyHardlyDiffer) {
  // The same columns in a pose that is turned as a whole, and in one that is twisted: there elements turn otherwise
  // than their corners.
  AlikePoses alike(0, 0);
  const std::vector<Vec3>& rest = alike.beam.mesh.vertices;
  for (std::size_t i = 0; i < 3; ++i) {
    alike.poses[i].positions.clear(), alike.poses[i].turns.clear();
    for (const Vec3& x : rest) {
      const double angle = i == 0 ? 0 : i == 1 ? 1.0 : 2 * x.z();
      const Mat3 R = Eigen::AngleAxisd(angle, Vec3::UnitZ()).toRotationMatrix();
      alike.poses[i].positions.emplace_back(R * x);
      alike.poses[i].turns.push_back(R);
    }
  }
  alike.align(0.06);
  const std::vector<int> sizes{2, 2};
  const std::vector<MatX> stiffness(3, MatX(Eigen::Vector4d(1, 2, 3, 4).asDiagonal()));
  share_gradients(alike.beam.mesh, BasisDirections::rotating, sizes, stiffness, 0.01, alike.poses);
  EXPECT_EQ(alike.poses[1].gradient_sources, (std::vector<Index>{0, 0, 0, 0}));
  EXPECT_EQ(alike.poses[2].gradient_sources, (std::vector<Index>{2, 2, 2, 2}));
  for (std::size_t e = 0; e < alike.beam.mesh.elements.size(); e += 17)
    for (std::size_t i = 0; i < 3; ++i) {
      const MatX own = element_gradient(alike.beam.mesh, e, alike.poses[i], BasisDirections::rotating);
      const MatX used = element_gradient(alike.beam.mesh, e, alike.poses, i, BasisDirections::rotating);
      EXPECT_LT((own - used).norm(), 1e-9 * own.norm());
    }
}

// ---- a limb with a model for its bent pose --------------------------------------------------------------------------

constexpr double knee = 1.2;
constexpr int r = 45;

CharacterPose bent_pose(const SoftLimb& limb, double share, const Vec3& shift = Vec3::Zero()) {
  LimbMotion motion;
  motion.root.translation = shift;
  motion.knee = share * knee;
  motion.ankle = 0.6 * share * knee;
  return limb_pose(limb, motion);
}

ReducedBody reduce_with_poses(const SoftLimb& limb, const std::vector<double>& shares,
                              BasisDirections directions = BasisDirections::rotating) {
  ReduceSettings settings = small_reduction(r);
  settings.frames.most = 64;
  settings.directions = directions;
  for (const double share : shares) settings.poses.push_back({bent_pose(limb, share).p, {}});
  KnownMotion motion;
  for (const double share : {0.25, 0.5, 0.75, 1.0}) motion.poses.push_back(bent_pose(limb, share).p);
  return must(reduce_body(limb.body, limb.rig.rig(), motion, settings));
}

/// Held in the bent pose and shaken: relative error of what is shown.
double error_when_shaken(const SoftLimb& limb, const ReducedBody& reduced) {
  PoseSpaceSettings settings;
  const RayleighDamping damping = rayleigh_damping(4, 0.2);
  settings.mass_damping = damping.mass, settings.stiffness_damping = damping.stiffness;
  auto full = must(FullPoseDynamics::create(reduced.mesh, MaterialModel::stable_neo_hookean, reduced.fixed,
                                            reduced.model->rest, settings, &reduced.frames));
  auto soft = must(PoseSpaceDynamics<double>::create(reduced.model, settings));
  std::vector<Vec3> shown(limb.body.mesh.vertices.size());
  double difference = 0, total = 0;
  for (int k = 0; k < 160; ++k) {
    const double time = k * settings.time_step, fade = std::min(1.0, std::pow(time / 0.25, 3));
    const Vec3 shift = 0.05 * fade * Vec3(std::sin(14 * time), std::sin(11 * time + 1), std::sin(18 * time));
    const CharacterPose pose = bent_pose(limb, 1, shift);
    full.step(pose.placement, pose.p);
    EXPECT_FALSE(soft.step(pose.placement, pose.p).recovered);
    soft.surface_displacements({}, pose.p, soft.coordinates(), shown);
    for (std::size_t v = 0; v < shown.size(); ++v) {
      const Vec3 u = full.displacements().segment<3>(3 * static_cast<Eigen::Index>(v));
      difference += (u - shown[v]).squaredNorm();
      total += u.squaredNorm();
    }
  }
  return std::sqrt(difference / total);
}

/// What a step takes for the stiffness at rest, in poses that training didn't see, beside the sum over all elements:
/// how much answers to the same force along each coordinate differ.
double linear_error(const SoftLimb& limb, const ReducedBody& reduced) {
  const PoseSpaceModel& model = *reduced.model;
  const PoseSpaceWeights weights =
      model.poses ? *model.poses : must(PoseSpaceWeights::create(model.rest->layout(), {model.rest->layout().neutral}));
  const ElasticBody body = must(ElasticBody::create(reduced.mesh, model.material));
  CubatureForces<double> forces(std::make_shared<const PreparedModel<double>>(reduced.model));
  std::vector<Vec3> points(model.points.size());
  const auto workspace = model.rest->make_workspace(static_cast<Index>(points.size()));
  std::vector<Index> every(reduced.mesh.elements.size());
  std::iota(every.begin(), every.end(), 0);
  const Cubature all{every, VecX::Ones(std::ssize(every)), 0};
  double worst = 0;
  for (const double share : {0.15, 0.35, 0.6, 0.85}) {
    const std::vector<double> p = bent_pose(limb, share).p;
    model.rest->evaluate(p, model.points, points, *workspace);
    forces.set_pose(p, points);
    std::vector<double> q(to_size(forces.stride()), 0.0);
    forces.evaluate(q.data());
    MatX step(r, r);
    for (Eigen::Index c = 0; c < r; ++c) {
      std::vector<double> product(q.size(), 0.0), unit = q;
      unit[to_size(c)] = 1;
      forces.multiply_stiffness(unit.data(), product.data());
      step.col(c) = Eigen::Map<const VecX>(product.data(), r);
    }
    const BlendedPose at({body, reduced.mesh, *model.rest, reduced.poses, model.directions}, weights, p);
    const MatX none = MatX::Zero(r, r);
    const MatX K = cubature_stiffness({reduced.mesh,
                                       model.material,
                                       at.pose(),
                                       model.directions,
                                       none,
                                       none,
                                       every,
                                       {},
                                       [&](std::size_t e) { return at.gradient(e); }},
                                      all);
    const MatX answers = truth::solve_symmetric(K, MatX(MatX::Identity(r, r)));
    worst = std::max(worst, (step * answers - MatX::Identity(r, r)).norm() / std::sqrt(r));
  }
  return worst;
}

TEST(SeveralPoses, LinearResponsesAreRightBetweenPoses) {
  const SoftLimb limb = make_soft_limb();
  EXPECT_LT(linear_error(limb, reduce_with_poses(limb, {1})), 0.04);
}

TEST(SeveralPoses, LinearResponsesOfOnePoseAreRightInOthers) {
  const SoftLimb limb = make_soft_limb();
  ReducedBody reduced = reduce_with_poses(limb, {});
  const double corrected = linear_error(limb, reduced);
  PoseSpaceModel without = *reduced.model;
  without.corrections.resize(1);
  without.correction_poses.reset();
  reduced.model = std::make_shared<const PoseSpaceModel>(std::move(without));
  const double uncorrected = linear_error(limb, reduced);
  RecordProperty("corrected", std::to_string(corrected));
  RecordProperty("uncorrected", std::to_string(uncorrected));
  EXPECT_LT(corrected, 0.7 * uncorrected);
}

TEST(SeveralPoses, HalveTheErrorWhereALimbIsBent) {
  const SoftLimb limb = make_soft_limb();
  const double one = error_when_shaken(limb, reduce_with_poses(limb, {}));
  const double two = error_when_shaken(limb, reduce_with_poses(limb, {1}));
  const double world = error_when_shaken(limb, reduce_with_poses(limb, {1}, BasisDirections::world));
  RecordProperty("one_pose", std::to_string(one));
  RecordProperty("two_poses", std::to_string(two));
  RecordProperty("world_directions", std::to_string(world));
  EXPECT_LT(two, 0.5 * one);
  EXPECT_LT(world, 0.5 * one);
}

TEST(SeveralPoses, BasesTurnedBackOrNotAgreeInTheirPoses) {
  const SoftLimb limb = make_soft_limb();
  const ReducedBody rotating = reduce_with_poses(limb, {1}),
                    world = reduce_with_poses(limb, {1}, BasisDirections::world);
  auto a = must(PoseSpaceDynamics<double>::create(rotating.model, {}));
  auto b = must(PoseSpaceDynamics<double>::create(world.model, {}));
  const VecX q = 1e-3 * random_vector(r, 3);
  std::vector<Vec3> from_a(limb.body.mesh.vertices.size()), from_b = from_a;
  const auto difference = [&](double share) {
    const CharacterPose pose = bent_pose(limb, share);
    a.surface_displacements({}, pose.p, {q.data(), r}, from_a);
    b.surface_displacements({}, pose.p, {q.data(), r}, from_b);
    double largest = 0, size = 0;
    for (std::size_t v = 0; v < from_a.size(); ++v) {
      largest = std::max(largest, (from_a[v] - from_b[v]).norm());
      size = std::max(size, from_a[v].norm());
    }
    return largest / size;
  };
  EXPECT_LT(difference(0), 1e-9);
  EXPECT_LT(difference(1), 1e-9);
  EXPECT_GT(difference(0.5), 1e-3);
}

TEST(SeveralPoses, NothingJumpsAlongAPathOfPoses) {
  const SoftLimb limb = make_soft_limb();
  const ReducedBody reduced = reduce_with_poses(limb, {0.5, 1});
  auto dynamics = must(PoseSpaceDynamics<double>::create(reduced.model, {}));
  const VecX q = 1e-3 * random_vector(r, 3);
  std::vector<Vec3> shown(limb.body.mesh.vertices.size()), before;
  double largest_step = 0, size = 0;
  constexpr int steps = 400;
  for (int k = 0; k <= steps; ++k) {
    dynamics.surface_displacements({}, bent_pose(limb, 1.3 * k / steps - 0.1).p, {q.data(), r}, shown);
    for (std::size_t v = 0; v < shown.size(); ++v) {
      if (!before.empty()) largest_step = std::max(largest_step, (shown[v] - before[v]).norm());
      size = std::max(size, shown[v].norm());
    }
    before = shown;
  }
  // The limb turns by 2.5 rad in 400 steps, and columns by less than a right angle between poses.
  EXPECT_LT(largest_step, 0.05 * size);
}

}  // namespace
}  // namespace supple::several_poses_test
