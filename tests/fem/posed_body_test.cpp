// SPDX-License-Identifier: Apache-2.0
// A body whose rest shape is not the one it was meshed in.
#include "supple/fem/posed_rest.h"

#include "support/bodies.h"

namespace supple::posed_body_test {
namespace {

const BoxSpec specimen{.cells = {2, 3, 2}, .distortion = 0.2, .heterogeneous = true};

/// Positions under a smooth map that bends, stretches and never inverts.
VecX bent_shape(const ElasticBody& body) {
  return displacement(body, [](const Vec3& X) -> Vec3 {
    const double angle = 0.8 * X.y();
    const double radius = 1.2 - 0.5 * X.x();
    return {1.2 - radius * std::cos(angle), radius * std::sin(angle) * 1.2, 0.9 * X.z() + 0.1 * X.x()};
  });
}

template <class Mesh>
Mesh moved(Mesh mesh, const VecX& positions) {
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v)
    mesh.vertices[v] = positions.segment<3>(3 * static_cast<Eigen::Index>(v));
  return mesh;
}

class PosedBody : public EveryBody {};

TEST_P(PosedBody, RestsInThePosedShape) {
  const ElasticBody body = box_body(kind(), specimen, model());
  const VecX x = bent_shape(body);
  const ElasticBody posed = body.posed(x);
  const VecX zero = VecX::Zero(body.dof_count());
  EXPECT_EQ(posed.rest_positions(), x);
  EXPECT_NEAR(posed.energy(zero), 0, 1e-12 * body.energy(x - body.rest_positions()));
  const VecX stretched = force_at(body, x - body.rest_positions());
  EXPECT_LT(force_at(posed, zero).norm(), 1e-12 * stretched.norm());
}

TEST_P(PosedBody, IsTheBodyMeshedThere) {
  const ElasticBody body = box_body(kind(), specimen, model());
  const VecX x = bent_shape(body);
  const ElasticBody posed = body.posed(x);
  const ElasticBody meshed = kind() == ElementKind::tet ? body_of(moved(tet_box(specimen), x), model())
                                                        : body_of(moved(brick_box(specimen), x), model());
  const VecX u = 0.02 * random_vector(body.dof_count(), 4);
  EXPECT_NEAR(posed.energy(u), meshed.energy(u), 1e-11 * meshed.energy(u));
  EXPECT_LT((force_at(posed, u) - force_at(meshed, u)).norm(), 1e-11 * force_at(meshed, u).norm());
  const auto a = stiffness_at(posed, u).to_sparse(), b = stiffness_at(meshed, u).to_sparse();
  EXPECT_LT((a - b).norm(), 1e-11 * b.norm());
  EXPECT_NEAR(posed.volume(), meshed.volume(), 1e-12 * meshed.volume());
  // Mass is matter, not room.
  EXPECT_LT((posed.lumped_mass() - body.lumped_mass()).norm(), 1e-15);
}

TEST_P(PosedBody, TurningTheRestShapeTurnsForces) {
  const ElasticBody body = box_body(kind(), specimen, model());
  const Mat3 R = some_rotation();
  const VecX u = 0.05 * random_vector(body.dof_count(), 4);
  const auto turned = [&](const VecX& x) {
    VecX result(x.size());
    for (Eigen::Index v = 0; v < x.size(); v += 3) result.segment<3>(v) = R * x.segment<3>(v);
    return result;
  };
  const VecX x = turned(body.rest_positions()) + Vec3(5, -3, 100).replicate(body.vertex_count(), 1);
  const ElasticBody posed = body.posed(x);
  EXPECT_NEAR(posed.energy(turned(u)), body.energy(u), 1e-11 * body.energy(u));
  EXPECT_LT((force_at(posed, turned(u)) - turned(force_at(body, u))).norm(), 1e-11 * force_at(body, u).norm());
  const VecX w = random_vector(body.dof_count(), 6);
  const VecX expected = turned(stiffness_at(body, u) * w);
  EXPECT_LT((stiffness_at(posed, turned(u)) * turned(w) - expected).norm(), 1e-11 * expected.norm());
}

TEST_P(PosedBody, CrushedAndInvertedRestShapesStayUsable) {
  const ElasticBody body = box_body(kind(), specimen, model());
  for (const Vec3& stretch : {Vec3(0, 1, 1), Vec3(-1, 1, 1), Vec3(0, 0, 0), Vec3(1e6, 1, 1)}) {
    const VecX x = displacement(body, [&](const Vec3& X) -> Vec3 { return stretch.cwiseProduct(X); });
    const ElasticBody posed = body.posed(x);
    const VecX u = 1e-3 * random_vector(body.dof_count(), 4);
    EXPECT_TRUE(std::isfinite(posed.energy(u)));
    EXPECT_GT(posed.energy(u), 0);
    EXPECT_TRUE(force_at(posed, u).allFinite());
  }
}
SUPPLE_FOR_EVERY_BODY(PosedBody);

TEST(PosedRest, SplitsIntoRotationAndLimitedStretch) {
  const Mat3 R = some_rotation();
  Mat3 S;
  S << 1.3, 0.2, 0, 0.2, 0.9, -0.1, 0, -0.1, 1.1;
  const PosedRest<double> rest = posed_rest<double>(R * S);
  EXPECT_LT((rest.rotation - R).norm(), 1e-13);
  EXPECT_LT((rest.inverse_transpose.transpose() * (R * S) - Mat3::Identity()).norm(), 1e-13);
  EXPECT_NEAR(rest.volume_ratio, S.determinant(), 1e-13);
  const PosedRest<double> flat = posed_rest<double>(R * Vec3(1, 0.01, 10).asDiagonal());
  EXPECT_LT((flat.rotation - R).norm(), 1e-12);
  EXPECT_NEAR(flat.volume_ratio, 1.0 / 3 * 3, 1e-12);
  EXPECT_LT((flat.inverse_transpose - R * Vec3(1, 3, 1.0 / 3).asDiagonal()).norm(), 1e-12);
  // Mirrored in one direction: the rotation is proper, the mirrored direction counts as squeezed.
  const PosedRest<double> mirrored = posed_rest<double>(R * Vec3(1.2, 1.1, -0.5).asDiagonal());
  EXPECT_NEAR(mirrored.rotation.determinant(), 1, 1e-12);
  EXPECT_LT((mirrored.rotation - R).norm(), 1e-12);
  EXPECT_NEAR(mirrored.volume_ratio, 1.2 * 1.1 / 3, 1e-12);
}

}  // namespace
}  // namespace supple::posed_body_test
