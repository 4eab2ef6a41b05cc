// SPDX-License-Identifier: Apache-2.0
// From a rigged skin to a body whose rest shape follows it: carrying, bones, fitted rest shapes.
#include "supple/offline/fitting/embedded_body.h"

#include "supple/mesh/bounds.h"
#include "supple/mesh/box.h"
#include "supple/mesh/topology.h"
#include "supple/offline/fitting/calm_skin.h"
#include "supple/offline/fitting/flesh_frequency.h"
#include "supple/offline/fitting/surface_carry.h"
#include "supple/offline/posespace/reduce_body.h"
#include "support/rigs.h"

#include <Eigen/LU>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace supple::fitting_test {
namespace {

/// A closed tube of two joints; the lower end is the root.
RawCharacter limb() {
  RawCharacter character = make_tube(2, 25, 16, 1.0, 0.12);
  CharacterMesh& mesh = character.meshes[0];
  const auto cap = [&](Index first, bool up) {
    for (Index s = 1; s + 1 < 16; ++s) {
      if (up)
        mesh.surface.triangles.push_back({first, first + s + 1, first + s});
      else
        mesh.surface.triangles.push_back({first, first + s, first + s + 1});
    }
  };
  cap(0, false);
  cap(24 * 16, true);
  return character;
}

struct Embedded {
  RawCharacter character;
  CharacterRig rig;
  EmbeddedBody body;
};

Embedded embedded_limb(const BoneSettings& bones = {}) {
  RawCharacter character = limb();
  CharacterRig rig = CharacterRig::create(character).value();
  EmbedSettings settings;
  settings.meshing.tets = 2500;
  settings.bones = bones;
  EmbeddedBody body = embed_character(character, rig, settings).value();
  return {std::move(character), std::move(rig), std::move(body)};
}

/// What fits are made with: it gives the neutral skin, which the embedding that shows displacements needn't.
Embedding reproducing(const EmbeddedBody& body) { return embed(body.mesh, body.skin.vertices).value(); }

std::vector<double> bent(const Embedded& e, double degrees) {
  Pose pose = rest_pose(e.rig.skeleton());
  pose[1].rotation = turn(degrees, Vec3::UnitZ());
  CharacterPose out = e.rig.neutral();
  e.rig.set_joints(pose, out);
  return out.p;
}

TEST(SurfaceCarry, CarriesRigidMotionsOfTheSkin) {
  const Embedded e = embedded_limb();
  const CarriedRig carried(e.rig.rig(), e.body.carry, e.body.mesh.vertices);
  const std::vector<Vec3> neutral = evaluate_all(carried, e.rig.rig()->layout().neutral);
  for (std::size_t v = 0; v < neutral.size(); ++v) EXPECT_LT((neutral[v] - e.body.mesh.vertices[v]).norm(), 1e-14);
  // Weights that add up to one and give the point itself carry every rigid motion; just outside some are negative.
  for (std::size_t i = 0; i < e.body.carry.size(); ++i) {
    double sum = 0;
    Vec3 x = Vec3::Zero();
    for (std::size_t k = 0; k < SurfaceCarry::neighbours; ++k) {
      sum += e.body.carry.weight[i][k];
      x += e.body.carry.weight[i][k] * e.body.skin.vertices[to_size(e.body.carry.vertex[i][k])];
    }
    EXPECT_NEAR(sum, 1, 1e-14);
    EXPECT_LT((x - e.body.mesh.vertices[i]).norm(), 1e-12);
  }
}

TEST(SurfaceCarry, DoesNotLookThroughTheSkinOfAnotherPart) {
  // Two slabs close together; a point in the lower one must not hang on the upper one, however near.
  Surface slabs;
  const auto sheet = [&](double y) {
    const auto first = static_cast<Index>(slabs.vertices.size());
    for (const auto& [x, z] : {std::pair{0., 0.}, {1., 0.}, {1., 1.}, {0., 1.}}) slabs.vertices.emplace_back(x, y, z);
    slabs.triangles.push_back({first, first + 1, first + 2});
    slabs.triangles.push_back({first, first + 2, first + 3});
  };
  for (const double y : {0.0, 0.5, 0.51, 1.0}) sheet(y);
  const std::vector<Vec3> points{{0.5, 0.45, 0.5}};
  const SurfaceCarry carry = make_surface_carry(points, slabs);
  for (const Index v : carry.vertex[0]) EXPECT_LT(slabs.vertices[to_size(v)].y(), 0.505);
}

TEST(SurfaceCarry, TurnsWithTheSkin) {
  // Points beside edges are as near to two triangles, and on a symmetric skin many carriers are equally good: the same
  // ones are taken however the skin is turned.
  const Surface skin = limb().meshes[0].surface;
  const Bounds box = bounds_of(skin.vertices);
  std::vector<Vec3> points = {skin.vertices[40], 0.5 * (skin.vertices[40] + skin.vertices[41])};  // on the skin
  const Vec3 step = 1.4 * (box.max - box.min) / 7;
  for (int k = 0; k < 512; ++k)
    points.push_back(box.min + Vec3(k % 8, (k / 8) % 8, k / 64).cwiseProduct(step) -
                     Vec3(0.2137, 0.1891, 0.2231).cwiseProduct(box.max - box.min));  // rays through no edge
  const SurfaceCarry carry = make_surface_carry(points, skin);
  const Quat R(Eigen::AngleAxisd(0.7, Vec3(1, 2, 2) / 3));
  const auto turned = [&](Vec3 x) -> Vec3 { return R * x + Vec3(0.3, -2, 7); };
  Surface turned_skin = skin;
  for (Vec3& x : turned_skin.vertices) x = turned(x);
  std::transform(points.begin(), points.end(), points.begin(), turned);
  const SurfaceCarry same = make_surface_carry(points, turned_skin, R);
  int others = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    std::map<Index, double> weights;
    for (std::size_t k = 0; k < SurfaceCarry::neighbours; ++k) {
      weights[carry.vertex[i][k]] += carry.weight[i][k];
      weights[same.vertex[i][k]] -= same.weight[i][k];
    }
    others += std::any_of(weights.begin(), weights.end(), [](const auto& w) { return std::abs(w.second) > 1e-6; });
  }
  EXPECT_LE(others, 2) << "but for rays that graze a triangle";
}

TEST(Bones, TetrahedraOnTheAxisAreFixed) {
  const Embedded e = embedded_limb();
  ASSERT_EQ(e.body.bones.size(), 2u);
  EXPECT_LT((e.body.bones[0].from - Vec3::Zero()).norm(), 1e-12);
  EXPECT_LT((e.body.bones[0].to - Vec3(0, 0.5, 0)).norm(), 1e-12);
  EXPECT_GT(e.body.bones[1].to.y(), 0.6);
  ASSERT_FALSE(e.body.fixed_vertices.empty());
  std::vector<char> fixed(e.body.mesh.vertices.size(), 0);
  for (const Index v : e.body.fixed_vertices) fixed[to_size(v)] = 1;
  for (std::size_t t = 0; t < e.body.mesh.elements.size(); ++t) {
    // Sampled, as an independent check of the clipping.
    std::array<Vec3, 4> corners;
    for (std::size_t k = 0; k < 4; ++k) corners[k] = e.body.mesh.vertices[to_size(e.body.mesh.elements[t][k])];
    for (int s = 0; s <= 400; ++s) {
      const Vec3 x(0, 0.5 * s / 400.0, 0);
      Mat3 D;
      for (int k = 0; k < 3; ++k) D.col(k) = corners[to_size(k) + 1] - corners[0];
      const Vec3 b = D.inverse() * (x - corners[0]);
      if (b.minCoeff() < 1e-9 || b.sum() > 1 - 1e-9) continue;
      for (const Index v : e.body.mesh.elements[t]) EXPECT_TRUE(fixed[to_size(v)]);
    }
  }
  const Embedded soft = embedded_limb({.radius = 0, .soft_joints = {"joint1"}, .rigid_joints = {}});
  EXPECT_EQ(soft.body.bones.size(), 1u);
  EXPECT_LT(soft.body.fixed_vertices.size(), e.body.fixed_vertices.size());
  const Embedded hard = embedded_limb({.radius = 0, .soft_joints = {}, .rigid_joints = {"joint1"}});
  EXPECT_GT(hard.body.fixed_vertices.size(), e.body.fixed_vertices.size());
}

// ---- single vertices of the skin ------------------------------------------------------------------------------------

/// A block whose skin is its own boundary, each vertex of the skin on one of the mesh.
struct Block {
  TetMesh mesh = make_tet_box(Vec3(1, 1, 1), {4, 4, 4});
  Surface skin = boundary_surface(mesh).surface;
  Embedding embedding = embed_nearest(mesh, skin.vertices).value();
  std::vector<char> kept = std::vector<char>(skin.vertices.size(), 0);

  Index at(const Vec3& x) const {
    const auto found =
        std::find_if(skin.vertices.begin(), skin.vertices.end(), [&](const Vec3& y) { return (x - y).norm() < 1e-9; });
    return static_cast<Index>(found - skin.vertices.begin());
  }
  /// One vertex of the mesh moves by one along z.
  MatX twitch(const Vec3& x) const {
    MatX swing = MatX::Zero(3 * std::ssize(mesh.vertices), 1);
    for (std::size_t v = 0; v < mesh.vertices.size(); ++v)
      if ((mesh.vertices[v] - x).norm() < 1e-9) swing(3 * static_cast<Eigen::Index>(v) + 2, 0) = 1;
    return swing;
  }
};

/// Farther from the mean of its neighbours than twice what they differ among themselves.
int spikes(const Surface& skin, const MatX& shown) {
  std::vector<std::set<Index>> around(skin.vertices.size());
  for (const Triangle& t : skin.triangles)
    for (const Index v : t)
      for (const Index w : t)
        if (v != w) around[to_size(v)].insert(w);
  const auto at = [&](std::size_t v) { return shown.middleRows<3>(3 * static_cast<Eigen::Index>(v)); };
  int count = 0;
  for (std::size_t v = 0; v < around.size(); ++v) {
    Vec3 mean = Vec3::Zero();
    double apart = 0;
    for (const Index a : around[v]) mean += at(to_size(a)) / static_cast<double>(around[v].size());
    for (const Index a : around[v])
      for (const Index b : around[v]) apart = std::max(apart, (at(to_size(a)) - at(to_size(b))).norm());
    if ((at(v) - mean).norm() > 2 * apart + 1e-9) ++count;
  }
  return count;
}

TEST(CalmSkin, AVertexThatMovesAloneGoesWithItsNeighbours) {
  const Block block;
  const Vec3 tip(0.5, 0.5, 1);
  const MatX swing = block.twitch(tip);
  EXPECT_GE(spikes(block.skin, block.embedding.interpolate(swing)), 1);
  const Embedding calm = calm_skin(block.mesh, swing, block.skin, block.kept, block.embedding).value();
  EXPECT_EQ(spikes(block.skin, calm.interpolate(swing)), 0);
  // What is not beside it hangs where it hung.
  for (const Vec3& far : {Vec3(0, 0, 0), Vec3(1, 0.5, 0.25), Vec3(0.5, 0.5, 0)})
    for (std::size_t k = 0; k < 4; ++k) {
      const std::size_t place = 4 * to_size(block.at(far)) + k;
      EXPECT_EQ(calm.weights[place], block.embedding.weights[place]);
      EXPECT_EQ(calm.vertices[place], block.embedding.vertices[place]);
    }
}

TEST(CalmSkin, WhatIsKeptStaysWhereItHangs) {
  Block block;
  const Vec3 tip(0.5, 0.5, 1);
  block.kept.assign(block.kept.size(), 1);
  const MatX swing = block.twitch(tip);
  const Embedding same = calm_skin(block.mesh, swing, block.skin, block.kept, block.embedding).value();
  EXPECT_EQ(same.weights, block.embedding.weights);
}

TEST(CalmSkin, SmoothMotionChangesNothing) {
  const Block block;
  MatX swings(3 * std::ssize(block.mesh.vertices), 2);
  for (std::size_t v = 0; v < block.mesh.vertices.size(); ++v) {
    const Vec3& x = block.mesh.vertices[v];
    const auto row = 3 * static_cast<Eigen::Index>(v);
    swings.block<3, 1>(row, 0) = Vec3(0.1, 0, 1);    // all alike
    swings.block<3, 1>(row, 1) = Vec3(0, x.z(), 0);  // sheared
  }
  const Embedding same = calm_skin(block.mesh, swings, block.skin, block.kept, block.embedding).value();
  EXPECT_EQ(same.weights, block.embedding.weights);
  EXPECT_EQ(same.vertices, block.embedding.vertices);
}

TEST(CalmSkin, SwingsAreWhatTheBodyGivesWayBy) {
  const Embedded e = embedded_limb();
  const ElasticBody elastic = ElasticBody::create(e.body.mesh, MaterialModel::linear).value();
  const std::vector<Index> held = hold_loose_pieces(e.body.mesh, e.body.fixed_vertices);
  const MatX swings = sample_swings(e.body.mesh, elastic, held, {}, 1).value();
  // By another road: the farthest over all directions of an even push.
  const VecX farthest = flesh_compliance(elastic, held).value();
  for (Eigen::Index v = 0; v < farthest.size(); ++v) {
    const double all = swings.middleRows<3>(3 * v).leftCols(3).squaredNorm();
    EXPECT_GE(all, 0.999999 * farthest[v] * farthest[v]);
    EXPECT_LE(all, 3.000001 * farthest[v] * farthest[v]);
  }
  EXPECT_GT(farthest.maxCoeff(), 0);
}

TEST(EmbeddedBody, NothingOfTheSkinIsALever) {
  const Embedded e = embedded_limb();
  EXPECT_GT(
      std::count_if(e.body.embedding.distance.begin(), e.body.embedding.distance.end(), [](double d) { return d > 0; }),
      0);
  for (const double w : e.body.embedding.weights) EXPECT_GE(w, 0);
}

TEST(EmbeddedBody, ARigOfSomeMeshesIsRefused) {
  RawCharacter character = limb();
  character.meshes.push_back(character.meshes[0]);
  CharacterRigSettings settings;
  settings.meshes = {1};
  const CharacterRig rig = CharacterRig::create(character, settings).value();
  const Result<EmbeddedBody> body = embed_character(character, rig);
  ASSERT_FALSE(body.ok());
  EXPECT_NE(body.error().message.find("leaves out"), std::string::npos);
}

TEST(Bones, UnknownJointsAreNamed) {
  const RawCharacter character = limb();
  const CharacterRig rig = CharacterRig::create(character).value();
  const auto bones = find_bones(character, rig, {.radius = 0, .soft_joints = {"joint7"}, .rigid_joints = {}});
  ASSERT_FALSE(bones.ok());
  EXPECT_NE(bones.error().message.find("joint7"), std::string::npos);
}

TEST(Bones, SmallPiecesOnOneJointAndNamedPartsAreHard) {
  RawCharacter character = limb();
  CharacterMesh& mesh = character.meshes[0];
  const auto first = static_cast<Index>(mesh.surface.vertices.size());
  for (const Vec3& corner : {Vec3(0.2, 0.9, 0), Vec3(0.22, 0.9, 0), Vec3(0.2, 0.92, 0), Vec3(0.2, 0.9, 0.02)}) {
    mesh.surface.vertices.push_back(corner);
    mesh.weights.joint.push_back(1);
    mesh.weights.weight.push_back(1.0);
    mesh.weights.first.push_back(static_cast<Index>(mesh.weights.joint.size()));
  }
  for (const Triangle& t : {Triangle{0, 2, 1}, Triangle{0, 1, 3}, Triangle{0, 3, 2}, Triangle{1, 2, 3}})
    mesh.surface.triangles.push_back({first + t[0], first + t[1], first + t[2]});
  const CharacterRig rig = CharacterRig::create(character).value();
  const std::vector<char> hard = hard_vertices(character, rig, {}).value();
  EXPECT_EQ(std::count(hard.begin(), hard.end(), 1), 4);
  character.meshes[0].name = "Left_Horn";
  const std::vector<char> named = hard_vertices(character, rig, {}).value();
  EXPECT_EQ(std::count(named.begin(), named.end(), 1), static_cast<std::ptrdiff_t>(named.size()));
  character.meshes[0].name = "eyelid";
  const std::vector<char> lid = hard_vertices(character, rig, {}).value();
  EXPECT_EQ(std::count(lid.begin(), lid.end(), 1), 4);
}

TEST(CalmSkin, PiecesArePushedIndependently) {
  // Two blocks side by side that don't touch, held at the bottom; alike pushes alone would always move them alike.
  TetMesh mesh = make_tet_box(Vec3(1, 1, 1), {2, 2, 2});
  const auto count = static_cast<Index>(mesh.vertices.size());
  const TetMesh one = mesh;
  for (const Vec3& x : one.vertices) mesh.vertices.push_back(x + Vec3(0, 0, 1.5));
  for (const auto& element : one.elements) {
    mesh.elements.push_back(element);
    for (Index& v : mesh.elements.back()) v += count;
  }
  std::vector<Index> held;
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v)
    if (mesh.vertices[v].y() < 1e-9) held.push_back(static_cast<Index>(v));
  const ElasticBody elastic = ElasticBody::create(mesh, MaterialModel::linear).value();
  const MatX swings = sample_swings(mesh, elastic, held, {}, 1e6).value();  // so large that gradients are nothing
  int opposite = 0;
  for (Eigen::Index c = 12; c < swings.cols(); ++c) {
    const auto rows = 3 * static_cast<Eigen::Index>(count);
    if (swings.col(c).head(rows).dot(swings.col(c).tail(rows)) < 0) ++opposite;
  }
  EXPECT_GT(opposite, 6);
  EXPECT_LT(opposite, swings.cols() - 12 - 6);
}

TEST(FitRestShape, RigidMotionsAreFittedExactly) {
  const Embedded e = embedded_limb();
  RestShapeFitter fitter = RestShapeFitter::create(e.body.mesh, e.body.skin, reproducing(e.body)).value();
  const Quat R = turn(140, Vec3(1, 2, 3));
  std::vector<Vec3> posed, expected;
  for (const Vec3& x : e.body.skin.vertices) posed.push_back(R * x + Vec3(1, 0, -2));
  for (const Vec3& x : e.body.mesh.vertices) expected.push_back(R * x + Vec3(1, 0, -2));
  // From a guess that is plainly wrong: without any rotation.
  const FittedShape fitted = fitter.fit(posed, e.body.mesh.vertices);
  EXPECT_TRUE(fitted.report.converged);
  EXPECT_EQ(fitted.report.inverted, 0);
  for (std::size_t v = 0; v < expected.size(); ++v) EXPECT_LT((fitted.positions[v] - expected[v]).norm(), 1e-3);
}

TEST(FitRestShape, FollowsASharpBendWithoutInversion) {
  const Embedded e = embedded_limb();
  std::vector<std::vector<double>> poses{bent(e, 60), bent(e, 120)};
  const FittedPoses fitted = fit_poses(e.body, e.rig.rig(), poses).value();
  for (const FitReport& report : fitted.reports) {
    RecordProperty("iterations", report.iterations);
    EXPECT_TRUE(report.converged) << report.iterations;
    EXPECT_EQ(report.inverted, 0);
    EXPECT_LT(report.mean_error, 0.005);
  }
  // The mesh's rig reproduces the fitted shapes, and the neutral one.
  const std::vector<Vec3> neutral = evaluate_all(*fitted.rig, e.rig.rig()->layout().neutral);
  for (std::size_t v = 0; v < neutral.size(); ++v) EXPECT_LT((neutral[v] - e.body.mesh.vertices[v]).norm(), 1e-9);
  const std::vector<Vec3> posed = evaluate_all(*fitted.rig, poses[1]);
  MatX stacked(3 * static_cast<Eigen::Index>(posed.size()), 1);
  for (std::size_t v = 0; v < posed.size(); ++v) stacked.col(0).segment<3>(3 * static_cast<Eigen::Index>(v)) = posed[v];
  const MatX skin = reproducing(e.body).interpolate(stacked);
  const std::vector<Vec3> wanted = evaluate_all(*e.rig.rig(), poses[1]);
  double sum = 0;
  for (std::size_t v = 0; v < wanted.size(); ++v)
    sum += (skin.col(0).segment<3>(3 * static_cast<Eigen::Index>(v)) - wanted[v]).norm();
  EXPECT_LT(sum / static_cast<double>(wanted.size()), 0.01);
}

TEST(FitRestShape, PiecesThatNoSkinHangsOnDoNotEndTheFit) {
  // Nothing says where the loose tetrahedron is, so that equations are singular; and the guess turns it inside out.
  TetMesh mesh = make_tet_box({1, 1, 1}, {2, 2, 2});
  const Surface skin = boundary_surface(mesh).surface;
  const Embedding embedding = embed(mesh, skin.vertices).value();
  const auto first = static_cast<Index>(mesh.vertices.size());
  for (const Vec3& x : {Vec3(3, 0, 0), Vec3(4, 0, 0), Vec3(3, 1, 0), Vec3(3, 0, 1)}) mesh.vertices.push_back(x);
  mesh.elements.push_back({first, first + 1, first + 2, first + 3});
  Embedding all = embedding;
  all.mesh_vertices = static_cast<Index>(mesh.vertices.size());
  RestShapeFitter fitter = RestShapeFitter::create(mesh, skin, all).value();
  const Quat R = turn(70, Vec3(1, 2, 3));
  std::vector<Vec3> posed, guess = mesh.vertices;
  for (const Vec3& x : skin.vertices) posed.push_back(R * x + Vec3(1, 0, -2));
  std::swap(guess[to_size(first)], guess[to_size(first) + 1]);
  const FittedShape fitted = fitter.fit(posed, guess);
  EXPECT_TRUE(fitted.report.converged);
  EXPECT_EQ(fitted.report.inverted, 0);
  EXPECT_LT(fitted.report.mean_error, 1e-3);
}

TEST(FitRestShape, ReducedModelsStandOnFittedShapes) {
  const Embedded e = embedded_limb();
  auto carried = std::make_shared<const CarriedRig>(e.rig.rig(), e.body.carry, e.body.mesh.vertices);
  ReduceSettings settings;
  settings.size = 6;
  settings.cubature_elements = settings.cubature_vertices = 20;
  settings.poses.push_back({bent(e, 120), {}, "bent"});
  settings.surface = e.rig.rig();
  const ReducedBody reduced = reduce_body(e.body, carried, {}, settings).value();
  const FittedPoses fitted = fit_poses(e.body, e.rig.rig(), {bent(e, 120)}).value();
  ASSERT_EQ(reduced.fits.size(), 1U);
  EXPECT_EQ(reduced.fits[0].inverted, 0);
  EXPECT_EQ(reduced.fits[0].inverted_before, fitted.reports[0].inverted_before);
  EXPECT_EQ(reduced.poses[1].positions, evaluate_all(*fitted.rig, bent(e, 120)));
  EXPECT_NE(reduced.poses[1].positions, evaluate_all(*carried, bent(e, 120)));
  // What runs stands there too.
  EXPECT_EQ(evaluate_all(*reduced.model->rest, bent(e, 120)), reduced.poses[1].positions);
}

TEST(FitRestShape, DoesNotDependOnTheUnitOfLength) {
  const Embedded e = embedded_limb();
  RestShapeFitter fitter = RestShapeFitter::create(e.body.mesh, e.body.skin, reproducing(e.body)).value();
  const std::vector<Vec3> posed = evaluate_all(*e.rig.rig(), bent(e, 90));
  const FittedShape fitted = fitter.fit(posed, e.body.mesh.vertices);
  TetMesh mesh = e.body.mesh;
  Surface skin = e.body.skin;
  std::vector<Vec3> large = posed;
  for (auto* points : {&mesh.vertices, &skin.vertices, &large})
    for (Vec3& x : *points) x *= 100;
  RestShapeFitter same = RestShapeFitter::create(mesh, skin, reproducing(e.body)).value();
  const FittedShape scaled = same.fit(large, mesh.vertices);
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v)
    EXPECT_LT((scaled.positions[v] / 100 - fitted.positions[v]).norm(), 1e-6);
}

}  // namespace
}  // namespace supple::fitting_test
