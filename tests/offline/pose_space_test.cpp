// SPDX-License-Identifier: Apache-2.0
// From a body to its reduced model: how fast flesh sways, what the model promises, and its motion against the full
// simulation of the same mesh.
#include "supple/offline/dynamics/full_pose_dynamics.h"
#include "supple/offline/fitting/flesh_frequency.h"
#include "supple/offline/posespace/reduce_body.h"

#include "support/bodies.h"
#include "support/soft_limb.h"

namespace supple::pose_space_test {
namespace {

// ---- frequency ------------------------------------------------------------------------------------------------------

double cube_frequency(double side, double young, double density = 1000) {
  BoxSpec spec;
  spec.size = Vec3::Constant(side);
  spec.cells = {4, 4, 4};
  spec.material = {.name = "flesh", .young = young, .poisson = 0.3, .density = density};
  const ElasticBody body = box_body(ElementKind::tet, spec, MaterialModel::stable_neo_hookean);
  return must(flesh_frequency(body, left_face(body)));
}

TEST(FleshFrequency, ScalesAsAMassOnASpring) {
  const double f = cube_frequency(0.1, 1e4);
  EXPECT_NEAR(cube_frequency(0.1, 4e4), 2 * f, 1e-9 * f);
  EXPECT_NEAR(cube_frequency(0.2, 1e4), f / 2, 1e-9 * f);
  EXPECT_NEAR(cube_frequency(0.1, 1e4, 4000), f / 2, 1e-9 * f);
}

TEST(FleshFrequency, OfAColumnThatOnlyShears) {
  // Poisson's ratio 0, all displacements across the column of height L: s(L) = a ρ L²/2G, so ω = √(2G/ρ)/L at the top,
  // and nearly so for the tenth next to it. A cube bends besides, so it is softer, within a factor.
  const double G = 1e4 / 2, top = std::sqrt(2 * G / 1000) / 0.1 / (2 * std::numbers::pi);
  BoxSpec spec;
  spec.size = Vec3(0.1, 0.4, 0.4);
  spec.cells = {8, 8, 8};
  spec.material = {.name = "flesh", .young = 1e4, .poisson = 0.0, .density = 1000};
  const ElasticBody body = box_body(ElementKind::brick, spec, MaterialModel::linear);
  const double f = must(flesh_frequency(body, left_face(body)));
  EXPECT_LT(f, 1.1 * top);
  EXPECT_GT(f, 0.8 * top);
}

TEST(FleshFrequency, FailsWhereNothingHolds) {
  const ElasticBody body = box_body(ElementKind::tet, {}, MaterialModel::stable_neo_hookean);
  EXPECT_FALSE(flesh_frequency(body, {}).ok());
}

TEST(RayleighDamping, GivesItsRatioAtBothFrequencies) {
  const RayleighDamping d = rayleigh_damping(4, 0.2);
  for (const double f : {4.0, 16.0}) {
    const double omega = 2 * std::numbers::pi * f;
    EXPECT_NEAR((d.mass / omega + d.stiffness * omega) / 2, 0.2, 1e-14);
  }
  // Least between them, at the geometric mean: 0.8 of it.
  const double omega = 2 * std::numbers::pi * 8;
  EXPECT_NEAR((d.mass / omega + d.stiffness * omega) / 2, 0.16, 1e-14);
}

// ---- the model ------------------------------------------------------------------------------------------------------

TEST(ReduceBody, BasisIsOrthonormalDiagonalAndHeld) {
  const SoftLimb limb = make_soft_limb();
  const ReducedBody reduced = reduce_limb(limb, small_reduction(18));
  const ElasticBody body = body_of(reduced.mesh, MaterialModel::stable_neo_hookean);
  const MatX& U = reduced.basis;
  ASSERT_EQ(U.cols(), 18);
  EXPECT_LT((U.transpose() * (body.consistent_mass().to_sparse() * U) - MatX::Identity(18, 18)).norm(), 1e-9);
  const MatX K = U.transpose() * (stiffness_at(body, VecX::Zero(body.dof_count())).to_sparse() * U);
  EXPECT_LT((K - MatX(reduced.model->stiffness.asDiagonal())).norm(), 1e-9 * K.norm());
  for (const Index v : reduced.fixed) EXPECT_EQ(U.middleRows<3>(3 * v).norm(), 0);
  EXPECT_NEAR(reduced.flesh_frequency, 4, 1e-9);
  EXPECT_NEAR(must(flesh_frequency(body, reduced.fixed)), 4, 1e-9);
  EXPECT_LE(reduced.elastic_error, 0.03);
  EXPECT_LE(reduced.inertial_error, 0.03);
  for (const VertexBlock& block : reduced.model->surface.blocks) {
    for (const FrameBlend& blend : block.frames) {
      double sum = 0;
      for (const double w : blend.weight) sum += w;
      EXPECT_NEAR(sum, 1, 1e-12);
    }
  }
}

TEST(ReduceBody, PiecesThatNothingHoldsFollowTheRig) {
  SoftLimb limb = make_soft_limb();
  // One more tetrahedron far from the limb.
  const auto first = static_cast<Index>(limb.body.mesh.vertices.size());
  const TetMesh before = limb.body.mesh;
  for (const Vec3& x : {Vec3(1, 0, 0), Vec3(1.1, 0, 0), Vec3(1, 0.1, 0), Vec3(1, 0, 0.1)})
    limb.body.mesh.vertices.push_back(x);
  limb.body.mesh.elements.push_back({first, first + 1, first + 2, first + 3});
  limb.character = limb_character({}, limb.body.mesh);
  limb.rig = CharacterRig::create(limb.character).value();
  const ReducedBody reduced = reduce_limb(limb);
  for (Index v = first; v < first + 4; ++v)
    EXPECT_TRUE(std::binary_search(reduced.fixed.begin(), reduced.fixed.end(), v));
  EXPECT_TRUE(reduced.basis.allFinite());
}

TEST(ReduceBody, SaysWhenNothingIsSoft) {
  SoftLimb limb = make_soft_limb();
  limb.body.fixed_vertices.clear();
  for (std::size_t v = 0; v < limb.body.mesh.vertices.size(); ++v)
    limb.body.fixed_vertices.push_back(static_cast<Index>(v));
  EXPECT_FALSE(reduce_body(limb.body, limb.rig.rig(), {}, small_reduction()).ok());
}

TEST(FrameSites, BlendTheTrueRotations) {
  // The whole limb turned: every site and every vertex turns with it.
  const SoftLimb limb = make_soft_limb();
  const Mat3 R = some_rotation();
  std::vector<Vec3> turned;
  for (const Vec3& x : limb.body.mesh.vertices) turned.push_back(R * x + Vec3(1, 2, 3));
  const Eigen::Vector4d expected = Quat(R).coeffs();
  for (const Eigen::Vector4d& q : vertex_rotations(limb.body.mesh, turned))
    EXPECT_LT(rotation_angle(q, expected), 1e-7);
  std::vector<Index> free;
  for (std::size_t v = 0; v < turned.size(); ++v) free.push_back(static_cast<Index>(v));
  const std::vector<std::vector<Vec3>> poses{turned};
  const FrameSites sites = choose_frame_sites(limb.body.mesh, free, poses, {.least = 6, .most = 10, .tolerance = 0.1});
  EXPECT_LT(sites.error, 1e-6);
  EXPECT_EQ(sites.sites.size(), 6u);
  for (const auto& site : sites.sites) {
    Mat3 edges;
    for (std::size_t k = 1; k < 4; ++k)
      edges.col(static_cast<int>(k) - 1) =
          limb.body.mesh.vertices[to_size(site[k])] - limb.body.mesh.vertices[to_size(site[0])];
    EXPECT_GT(edges.determinant(), 0);
  }
}

TEST(FrameSites, MoreSitesFollowABendBetter) {
  const SoftLimb limb = make_soft_limb({.cells = {4, 24, 4}});
  std::vector<Index> free;
  for (std::size_t v = 0; v < limb.body.mesh.vertices.size(); ++v) free.push_back(static_cast<Index>(v));
  const std::vector<std::vector<Vec3>> poses{evaluate_all(*limb.rig.rig(), limb_pose(limb, {{}, 1.2, -0.6}).p)};
  double before = 10;
  for (const int count : {4, 16, 64}) {
    const FrameSites sites =
        choose_frame_sites(limb.body.mesh, free, poses, {.least = 4, .most = count, .tolerance = 0});
    EXPECT_LT(sites.error, before) << count;
    before = sites.error;
  }
  EXPECT_LT(before, 0.25);
}

// ---- against the truth ----------------------------------------------------------------------------------------------

struct Compared {
  double error = 0;  ///< RMS over time of the displacement difference, relative to that of the full simulation
  double peak = 0;   ///< of the full simulation
};

Compared compare(const SoftLimb& limb, const ReducedBody& reduced, double seconds, double bend) {
  PoseSpaceSettings settings;
  const RayleighDamping damping = rayleigh_damping(4, 0.2);
  settings.time_step = 1.0 / 120;
  settings.mass_damping = damping.mass, settings.stiffness_damping = damping.stiffness;
  auto fast = must(PoseSpaceDynamics<double>::create(reduced.model, settings));
  auto full = must(FullPoseDynamics::create(reduced.mesh, MaterialModel::stable_neo_hookean, reduced.fixed,
                                            reduced.model->rest, settings));
  std::vector<Vec3> shown(limb.body.mesh.vertices.size());
  double difference = 0, size = 0;
  Compared result;
  for (int k = 0; k < static_cast<int>(seconds * 120); ++k) {
    LimbMotion motion = lively(k / 120.0, [](double time) {
      return RigidTransform{Vec3(0.2 * std::sin(9 * time), 0, 0), turn(30 * std::sin(5 * time), Vec3::UnitY())};
    });
    motion.knee *= bend, motion.ankle *= bend;
    const CharacterPose pose = limb_pose(limb, motion);
    EXPECT_FALSE(fast.step(pose.placement, pose.p).recovered);
    EXPECT_FALSE(full.step(pose.placement, pose.p).recovered);
    fast.surface_displacements({}, pose.p, fast.coordinates(), shown);
    const Eigen::Map<const VecX> u(shown.front().data(), full.displacements().size());
    difference += (u - full.displacements()).squaredNorm();
    size += full.displacements().squaredNorm();
    result.peak = std::max(result.peak, full.displacements().cwiseAbs().maxCoeff());
  }
  result.error = std::sqrt(difference / size);
  return result;
}

// Few coordinates make large turns stiff; with many, bending costs hardly more than swinging straight.
TEST(ReduceBody, FollowsTheFullSimulation) {
  const SoftLimb limb = make_soft_limb({.cells = {4, 8, 4}});
  double before = 1;
  for (const int size : {6, 18, 45}) {
    ReduceSettings settings = small_reduction(size);
    settings.frames = {.least = 32, .most = 64, .tolerance = 0.05};
    settings.cubature_tolerance = 0.01;
    const ReducedBody reduced = reduce_limb(limb, settings);
    const Compared bent = compare(limb, reduced, 1.0, 0.6);
    const Compared straight = compare(limb, reduced, 1.0, 0);
    measured("error of reduced motion, r = " + std::to_string(size), bent.error);
    measured("error of reduced motion held straight, r = " + std::to_string(size), straight.error);
    EXPECT_GT(bent.peak, 0.01);
    EXPECT_LT(bent.error, before);
    before = bent.error;
  }
  EXPECT_LT(before, 0.15);
}

TEST(FullPoseDynamics, IsTheSameAnywhereAndAtRestWhenMovedSteadily) {
  const SoftLimb limb = make_soft_limb({.cells = {2, 4, 2}});
  PoseSpaceSettings settings;
  settings.stiffness_damping = 0.005;
  const auto run = [&](const RigidTransform& place) {
    auto full = must(FullPoseDynamics::create(limb.body.mesh, MaterialModel::stable_neo_hookean,
                                              limb.body.fixed_vertices, limb.rig.rig(), settings));
    for (int k = 0; k < 40; ++k) {
      const CharacterPose pose = limb_pose(limb, lively(0.2 + k / 240.0));
      full.step(place * pose.placement, pose.p);
    }
    return full.displacements();
  };
  const VecX here = run({});
  EXPECT_GT(here.norm(), 0);
  // Conjugate gradients stop at 1e-6.
  EXPECT_LT((run({Vec3(100, -3, 5), Quat(some_rotation())}) - here).norm(), 1e-4 * here.norm());
  auto full = must(FullPoseDynamics::create(limb.body.mesh, MaterialModel::stable_neo_hookean, limb.body.fixed_vertices,
                                            limb.rig.rig(), settings));
  for (int k = 0; k < 10; ++k) full.step({Vec3(0.5 * k, 0, 0), Quat::Identity()}, limb.rig.neutral().p);
  EXPECT_LT(full.displacements().norm(), 1e-12);
}

}  // namespace
}  // namespace supple::pose_space_test
