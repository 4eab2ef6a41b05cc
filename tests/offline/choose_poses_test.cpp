// SPDX-License-Identifier: Apache-2.0
// Poses that Supple chooses and inserts, rest shapes fitted in them, and what must not happen on the way between them:
// a rotated copy stays itself (Figure 7 of the 2016 paper), and nothing pops.
#include "supple/offline/posespace/bases/choose_poses.h"

#include "supple/fem/modes.h"
#include "supple/offline/modes/mass_pca.h"
#include "supple/runtime/posespace/pose_space_dynamics.h"
#include "support/bodies.h"
#include "support/soft_limb.h"

#include <gtest/gtest.h>

#include <random>

namespace supple::choose_poses_test {
namespace {

// ---- a copy that is turned ------------------------------------------------------------------------------------------

constexpr int mode_count = 3;

/// A flat beam that stands on its held end, turned about its axis.
struct TurnedBeam {
  TetMesh mesh;
  ElasticBody body;
  std::vector<Index> held;

  explicit TurnedBeam(double degrees) : mesh(turned_box(degrees)), body(body_of(mesh, MaterialModel::linear)) {
    for (std::size_t v = 0; v < mesh.vertices.size(); ++v)
      if (mesh.vertices[v].z() < 1e-9) held.push_back(static_cast<Index>(v));
  }
  static TetMesh turned_box(double degrees) {
    TetMesh box = make_tet_box(Vec3(0.10, 0.14, 1), {2, 2, 10});
    for (Vec3& x : box.vertices) x = turn(degrees, Vec3::UnitZ()) * x;
    return box;
  }
  /// xᵀKx / xᵀMx of a column: its frequency, squared.
  double rayleigh(const VecX& x) const {
    BlockMatrix K = body.make_matrix();
    VecX f(body.dof_count());
    body.internal_force_and_stiffness(VecX::Zero(body.dof_count()), f, K);
    return x.dot(K * x) / x.dot(body.consistent_mass() * x);
  }
};

PoseBasis pose_of(const TurnedBeam& neutral, const TurnedBeam& beam, double p, bool turn_back) {
  PoseBasis pose;
  pose.p = {p};
  pose.basis = must(compute_modes(beam.body, beam.held, {.count = mode_count})).shapes;
  for (const Eigen::Vector4d& q : vertex_rotations(neutral.mesh, beam.mesh.vertices))
    pose.turns.push_back(turn_back ? unit_quaternion(q.data()).toRotationMatrix() : Mat3::Identity());
  for (std::size_t v = 0; v < pose.turns.size(); ++v) {
    auto rows = pose.basis.middleRows<3>(3 * static_cast<Eigen::Index>(v));
    rows = (pose.turns[v].transpose() * rows).eval();
  }
  return pose;
}

TEST(AlignBases, ACopyTurnedByARightAngleKeepsItsModes) {
  const TurnedBeam straight(0), half(45), right(90);
  PoseLayout layout;
  layout.add_scalar("turn", 0, "", 1);
  const BlockMatrix& mass = straight.body.consistent_mass();
  std::vector<PoseBasis> ours{pose_of(straight, straight, 0, true), pose_of(straight, right, 1, true)};
  std::vector<PoseBasis> naive{pose_of(straight, straight, 0, false), pose_of(straight, right, 1, false)};
  EXPECT_LT(align_bases(mass, layout, {}, ours).angles[1].maxCoeff(), 1e-5);
  align_bases(mass, layout, {}, naive);
  for (int k = 0; k < mode_count; ++k) {
    const double wanted = straight.rayleigh(ours[0].basis.col(k));
    EXPECT_NEAR(right.rayleigh(turned(ours[1]).col(k)) / wanted, 1, 1e-6);
    // Halfway: the mean of both, turned by half the angle, is the mode of the beam that is turned by half the angle.
    PoseBasis between = ours[0];
    between.basis = 0.5 * (ours[0].basis + ours[1].basis);
    between.turns.assign(between.turns.size(), turn(45, Vec3::UnitZ()).toRotationMatrix());
    EXPECT_NEAR(half.rayleigh(turned(between).col(k)) / wanted, 1, 1e-6);
  }
  // Without turning back, bending across the beam is taken for bending along it, twice as stiff.
  const double first = straight.rayleigh(naive[0].basis.col(0));
  EXPECT_GT(std::abs(std::log(right.rayleigh(naive[1].basis.col(0)) / first)), std::log(1.5));
}

// ---- choosing -------------------------------------------------------------------------------------------------------

TEST(ChoosePoses, HalfwayIsHalfTheAngle) {
  PoseLayout layout;
  layout.add_rotation("joint.rotation", Quat::Identity());
  layout.add_scalar("slider", 0, "", 1);
  const auto pose = [](double degrees, double sign, double slider) {
    const Quat q = turn(degrees, Vec3::UnitY());
    return std::vector<double>{sign * q.x(), sign * q.y(), sign * q.z(), sign * q.w(), slider};
  };
  // The same rotation has two quaternions; the way between is the short one for both.
  for (const double sign : {1.0, -1.0}) {
    const std::vector<double> between = pose_between(layout, pose(10, 1, 1), pose(70, sign, 4), 0.5);
    EXPECT_LT(group_distance(layout.groups[0], between.data(), pose(40, 1, 0).data()), 1e-9);
    EXPECT_DOUBLE_EQ(between[4], 2.5);
  }
}

TEST(ChoosePoses, WhatMovesDifferentlyCountsMoreThanWhatIsOnlyFar) {
  LimbSpec spec;
  spec.root_in_pose = true;
  const SoftLimb limb = make_soft_limb(spec);
  const ElasticBody body = body_of(limb.body.mesh, MaterialModel::stable_neo_hookean);
  LimbMotion turned_whole, bent;
  turned_whole.root.rotation = turn(100, Vec3::UnitX());
  bent.knee = 1.3;
  const std::vector<std::vector<double>> candidates{limb_pose(limb, turned_whole).p, limb_pose(limb, bent).p};
  const ChoosePosesInput input{body, limb.body.mesh, *limb.rig.rig(), limb.body.fixed_vertices};
  const auto choose = [&](int most, double angle) {
    return choose_poses(input, candidates, {.most = most, .angle = angle});
  };
  // A limb that is turned as a whole is the farthest away, but its flesh moves as before.
  EXPECT_EQ(choose(1, 0), (std::vector<std::size_t>{0}));
  EXPECT_EQ(choose(1, 0.2), (std::vector<std::size_t>{1}));
  EXPECT_EQ(choose(5, 0.2), (std::vector<std::size_t>{1, 0}));
  EXPECT_TRUE(choose(0, 0.2).empty());
}

ReducedBody reduce_bent(const SoftLimb& limb, double largest_angle, int most_poses) {
  ReduceSettings settings = small_reduction();
  settings.poses.push_back({limb_pose(limb, {{}, 1.4, 0.7}).p, {}, "bent"});
  settings.largest_angle = largest_angle;
  settings.most_poses = most_poses;
  return reduce_limb(limb, settings);
}

TEST(InsertedPoses, LieWhereBasesDifferTooMuch) {
  const SoftLimb limb = make_soft_limb();
  const ReducedBody two = reduce_bent(limb, 0.01, 2), more = reduce_bent(limb, 0.01, 4);
  EXPECT_EQ(two.poses.size(), 2U);
  EXPECT_EQ(two.inserted, 0);
  ASSERT_EQ(more.poses.size(), 4U);
  EXPECT_EQ(more.inserted, 2);
  EXPECT_EQ(more.pose_names[2], "midway(neutral, bent)");
  const PoseLayout& layout = limb.rig.rig()->layout();
  EXPECT_LT(pose_distance(layout, more.poses[2].p, pose_between(layout, layout.neutral, two.poses[1].p, 0.5)), 1e-9);
  EXPECT_EQ(more.alignment.parent[1] == 2 || more.alignment.parent[1] == 3, true);
  // Neighbours are closer to each other than the ends were.
  for (std::size_t i = 1; i < more.poses.size(); ++i)
    EXPECT_LT(subspace_angle(more.alignment.angles[i]), subspace_angle(two.alignment.angles[1]));
  // The same build twice is the same.
  EXPECT_EQ(reduce_bent(limb, 0.01, 4).poses[3].basis, more.poses[3].basis);
}

// ---- no popping -----------------------------------------------------------------------------------------------------

/// A path of random swings through all poses and beyond them; time in 0 … 1.
CharacterPose random_pose(const SoftLimb& limb, double time) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(0.5, 1.5);
  double knee = 0, ankle = 0;
  for (int k = 1; k <= 3; ++k) {
    knee += 1.1 * uniform(random) * std::sin(2 * std::numbers::pi * uniform(random) * k * time) / k;
    ankle += 0.6 * uniform(random) * std::sin(2 * std::numbers::pi * uniform(random) * k * time + k) / k;
  }
  return limb_pose(limb, {{}, knee, ankle});
}

/// Largest second differences of u, as a share of its size, and of the energy, likewise, over a path in small steps.
struct Roughness {
  double shown = 0, energy = 0;
};
Roughness roughness(const SoftLimb& limb, PoseSpaceDynamics<double>& dynamics, const VecX& q, int steps) {
  const auto count = static_cast<Eigen::Index>(limb.body.mesh.vertices.size());
  const VecX still = VecX::Zero(q.size());
  std::vector<Vec3> shown(to_size(count));
  std::vector<VecX> u;
  std::vector<double> energy;
  Roughness result;
  double size = 0, most = 0;
  for (int k = 0; k <= steps; ++k) {
    const CharacterPose pose = random_pose(limb, static_cast<double>(k) / steps);
    dynamics.step(pose.placement, pose.p);
    dynamics.set_state({q.data(), to_size(q.size())}, {still.data(), to_size(q.size())});
    energy.push_back(dynamics.elastic_energy());
    dynamics.surface_displacements({}, pose.p, {q.data(), to_size(q.size())}, shown);
    u.emplace_back(Eigen::Map<const VecX>(shown.front().data(), 3 * count));
    size = std::max(size, u.back().norm()), most = std::max(most, energy.back());
    if (k < 2) continue;
    result.shown = std::max(result.shown, (u[u.size() - 1] - 2 * u[u.size() - 2] + u[u.size() - 3]).norm());
    const std::size_t n = energy.size();
    result.energy = std::max(result.energy, std::abs(energy[n - 1] - 2 * energy[n - 2] + energy[n - 3]));
  }
  return {result.shown / size, result.energy / most};
}

TEST(SeveralPoses, DisplacementsAndEnergyAreContinuousOnARandomPath) {
  const SoftLimb limb = make_soft_limb();
  ReduceSettings settings = small_reduction();
  for (const double knee : {1.2, -1.0}) settings.poses.push_back({limb_pose(limb, {{}, knee, 0.5 * knee}).p, {}});
  const ReducedBody reduced = reduce_limb(limb, settings);
  auto dynamics = must(PoseSpaceDynamics<double>::create(reduced.model, {}));
  const VecX q = 1e-3 * random_vector(reduced.model->size(), 3);
  // With a quarter of the step, second differences fall to a quarter where weights have a corner (at a pose), to a
  // sixteenth elsewhere; a jump would stay as large as it is.
  const Roughness coarse = roughness(limb, dynamics, q, 500), fine = roughness(limb, dynamics, q, 2000);
  EXPECT_LT(fine.shown, 0.35 * coarse.shown);
  EXPECT_LT(fine.energy, 0.35 * coarse.energy);
  EXPECT_LT(fine.shown, 0.01);
  EXPECT_LT(fine.energy, 0.01);
}

}  // namespace
}  // namespace supple::choose_poses_test
