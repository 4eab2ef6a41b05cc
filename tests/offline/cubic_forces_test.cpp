// SPDX-License-Identifier: Apache-2.0
// The reduced polynomials against the full-space assembly: R̃(q) = Uᵀ R(Uq), K̃(q) = Uᵀ K(Uq) U, V(q) = energy(Uq).
#include "supple/offline/forces/cubic_forces.h"

#include "supple/base/parallel.h"
#include "supple/fem/elastic_body.h"
#include "supple/mesh/box.h"
#include "supple/runtime/subspace/reduced_forces.h"

#include <gtest/gtest.h>

#include <random>

namespace supple::cubic_forces_test {
namespace {

MatX random_matrix(Eigen::Index rows, Eigen::Index cols, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  return MatX::NullaryExpr(rows, cols, [&] { return uniform(generator); });
}

/// A distorted box with two materials.
template <class Mesh>
Mesh specimen(Mesh mesh) {
  const MatX noise = random_matrix(3, static_cast<Eigen::Index>(mesh.vertices.size()), 5);
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v)
    mesh.vertices[v] += 0.03 * noise.col(static_cast<Eigen::Index>(v));
  mesh.materials = {{"stiff", 3e5, 0.3, 1200}, {"soft", 2e4, 0.45, 900}};
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) mesh.element_material.push_back(e % 3 == 0 ? 1 : 0);
  return mesh;
}

MatX unpack(std::span<const double> pairs, int r) {
  MatX matrix(r, r);
  for (int b = 0; b < r; ++b) {
    for (int a = 0; a < r; ++a) matrix(a, b) = pairs[to_size(pair_index(a, b))];
  }
  return matrix;
}

template <class Mesh>
void expect_exact(const Mesh& mesh, const SubspaceModel& model) {
  const ElasticBody body = ElasticBody::create(mesh, MaterialModel::stvk).value();
  const MatX& U = model.basis;
  const int r = model.size();
  ReducedForces<double> forces(model);
  for (unsigned seed = 1; seed < 5; ++seed) {
    const VecX q = 0.2 * random_matrix(r, 1, seed);  // displacements as large as the elements
    VecX f;
    BlockMatrix K = body.make_matrix();
    body.internal_force_and_stiffness(U * q, f, K);
    forces.evaluate(q.data());
    const VecX expected = U.transpose() * f;
    const Eigen::Map<const VecX> force(forces.force().data(), r);
    EXPECT_LT((force - expected).norm(), 1e-12 * expected.norm());
    const MatX stiffness = U.transpose() * (K.to_sparse() * U);
    EXPECT_LT((unpack(forces.stiffness(), r) - stiffness).norm(), 1e-12 * stiffness.norm());
    const double energy = body.energy(U * q);
    EXPECT_NEAR(forces.energy(), energy, 1e-12 * energy);
  }
}

TEST(CubicForces, AreExactForTetrahedra) {
  const TetMesh mesh = specimen(make_tet_box(Vec3(0.4, 0.3, 0.5), {3, 2, 4}));
  const MatX U = random_matrix(3 * static_cast<Eigen::Index>(mesh.vertices.size()), 9, 2);
  expect_exact(mesh, build_subspace_model(mesh, U).value());
}

TEST(CubicForces, AreExactForBricks) {
  const HexMesh mesh = specimen(make_hex_box(Vec3(0.4, 0.3, 0.5), {3, 2, 4}));
  const MatX U = random_matrix(3 * static_cast<Eigen::Index>(mesh.vertices.size()), 7, 3);
  expect_exact(mesh, build_subspace_model(mesh, U).value());
}

TEST(CubicForces, MaterialsChangeWithoutRecomputation) {
  TetMesh mesh = specimen(make_tet_box(Vec3(0.4, 0.3, 0.5), {2, 2, 2}));
  const MatX U = random_matrix(3 * static_cast<Eigen::Index>(mesh.vertices.size()), 6, 4);
  SubspaceModel model = build_subspace_model(mesh, U).value();
  mesh.materials[0] = model.groups[0].material = {"a", 7e4, 0.1, 500};
  mesh.materials[1] = model.groups[1].material = {"b", 9e5, -0.2, 2000};
  expect_exact(mesh, model);
  const ElasticBody body = ElasticBody::create(mesh, MaterialModel::stvk).value();
  MatX mass = MatX::Zero(6, 6);
  for (const MaterialGroup& group : model.groups) mass += group.material.density * group.moments.reduced_mass();
  const MatX expected = U.transpose() * (body.consistent_mass().to_sparse() * U);
  EXPECT_LT((mass - expected).norm(), 1e-12 * expected.norm());
}

TEST(CubicForces, MomentsOfABoxAreItsIntegrals) {
  // Fields linear in X are exact on any mesh: the box [0,a]×[0,b]×[0,c] has ∫x² = a³bc/3, ∫xy = a²b²c/4.
  const Vec3 size(0.4, 0.3, 0.5);
  const TetMesh mesh = make_tet_box(size, {3, 2, 4});
  MatX U(3 * static_cast<Eigen::Index>(mesh.vertices.size()), 1);
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
    U.col(0).segment<3>(3 * static_cast<Eigen::Index>(v)) = Vec3(mesh.vertices[v].y(), 0, 1);
  }
  const SubspaceModel model = build_subspace_model(mesh, U).value();
  const MassMoments& moments = model.groups[0].moments;
  const double volume = size.prod();
  EXPECT_NEAR(moments.volume, volume, 1e-14);
  EXPECT_LT((moments.first.col(0) - 0.5 * volume * size).norm(), 1e-15);
  EXPECT_LT((moments.first.col(1) - volume * Vec3(0.5 * size.y(), 0, 1)).norm(), 1e-15);
  EXPECT_NEAR(moments.second(0, 0), volume * size.x() * size.x() / 3, 1e-15);
  EXPECT_NEAR(moments.second(0, 1), volume * size.x() * size.y() / 4, 1e-15);
  EXPECT_NEAR(moments.second(1, 3), volume * size.y() * size.y() / 3, 1e-15);  // ∫ y φ_x
  EXPECT_NEAR(moments.second(5, 5), volume, 1e-15);                            // ∫ φ_z²
  EXPECT_NEAR(moments.second(2, 5), volume * size.z() / 2, 1e-15);
  const Vec3 gravity(0, -3, 2);
  EXPECT_NEAR(reduced_gravity(model, gravity)[0], default_material().density * volume * 2.0, 1e-10);
}

TEST(CubicForces, TheSurfaceRidesOnTheMesh) {
  const HexMesh mesh = specimen(make_hex_box(Vec3(0.4, 0.3, 0.5), {3, 2, 4}));
  const MatX U = random_matrix(3 * static_cast<Eigen::Index>(mesh.vertices.size()), 3, 3);
  SubspaceModel model = build_subspace_model(mesh, U).value();
  ASSERT_EQ(model.surface.triangles.size(), 2u * 2 * (3 * 2 + 2 * 4 + 3 * 4));
  Surface point;
  point.vertices = {mesh.vertices[7], Vec3(0.2, 0.15, 0.25)};
  const Embedding embedding = embed(mesh, point.vertices).value();
  embed_surface(model, point, embedding);
  EXPECT_LT((model.surface.basis.topRows<3>() - U.middleRows<3>(21)).norm(), 1e-13 * U.norm());
  const SubspaceModel fewer = select_coordinates(model, {2});
  EXPECT_EQ(fewer.surface.basis.col(0), model.surface.basis.col(2));
  EXPECT_EQ(fewer.groups[0].moments.second(3, 0), model.groups[0].moments.second(9, 0));
}

TEST(CubicForces, CoordinatesCanBeDropped) {
  const TetMesh mesh = specimen(make_tet_box(Vec3(0.4, 0.3, 0.5), {2, 2, 2}));
  const MatX U = random_matrix(3 * static_cast<Eigen::Index>(mesh.vertices.size()), 8, 6);
  const SubspaceModel model = build_subspace_model(mesh, U).value();
  expect_exact(mesh, select_coordinates(model, {0, 1, 2}));
  expect_exact(mesh, select_coordinates(model, {7, 2, 5, 0}));
}

TEST(CubicForces, SinglePrecisionFollowsDouble) {
  const TetMesh mesh = specimen(make_tet_box(Vec3(0.4, 0.3, 0.5), {2, 2, 3}));
  const MatX U = random_matrix(3 * static_cast<Eigen::Index>(mesh.vertices.size()), 13, 8);
  const SubspaceModel model = build_subspace_model(mesh, U).value();
  ReducedForces<double> exact(model);
  ReducedForces<float> single(model);
  const VecX q = 0.2 * random_matrix(13, 1, 1);
  const Eigen::VectorXf q_single = q.cast<float>();
  exact.evaluate(q.data());
  single.evaluate(q_single.data());
  const Eigen::Map<const VecX> expected(exact.force().data(), 13);
  const Eigen::Map<const Eigen::VectorXf> force(single.force().data(), 13);
  EXPECT_LT((force.cast<double>() - expected).norm(), 1e-5 * expected.norm());
}

TEST(CubicForces, SameBitsForAnyThreadCount) {
  const TetMesh mesh = specimen(make_tet_box(Vec3(1, 1, 1), {7, 7, 7}));
  const MatX U = random_matrix(3 * static_cast<Eigen::Index>(mesh.vertices.size()), 5, 9);
  set_thread_count(1);
  const SubspaceModel one = build_subspace_model(mesh, U).value();
  set_thread_count(3);
  const SubspaceModel three = build_subspace_model(mesh, U).value();
  set_thread_count(0);
  EXPECT_EQ(one.groups[0].mu.quadratic, three.groups[0].mu.quadratic);
  EXPECT_EQ(one.groups[1].lambda.linear, three.groups[1].lambda.linear);
}

TEST(CubicForces, BadInputIsRefused) {
  const TetMesh mesh = make_tet_box(Vec3(1, 1, 1), {1, 1, 1});
  EXPECT_FALSE(build_subspace_model(mesh, MatX::Zero(5, 2)).ok());
  EXPECT_FALSE(build_subspace_model(mesh, MatX::Constant(24, 2, NAN)).ok());
  EXPECT_FALSE(build_subspace_model(TetMesh{}, MatX::Zero(0, 2)).ok());
}

}  // namespace
}  // namespace supple::cubic_forces_test
