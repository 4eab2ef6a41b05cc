// SPDX-License-Identifier: Apache-2.0
// How many motions remain: 6 free, 3 held at one point, 1 at two (a hinge), 1 at many in a line, 0 at three.
#include "supple/fem/rigid_motions.h"

#include "support/bodies.h"

namespace supple::rigid_motions_test {
namespace {

const BoxSpec box{.size = Vec3(1, 2, 3), .cells = {2, 2, 2}, .distortion = 0.2};

MatX motions(const ElasticBody& body, const std::vector<Index>& fixed) {
  return rigid_motions(body, must(FreeVertices::create(body, fixed)));
}

class RigidMotions : public testing::TestWithParam<ElementKind> {};

TEST_P(RigidMotions, CountWhatTheFixedVerticesLeave) {
  const ElasticBody body = box_body(GetParam(), box, MaterialModel::stvk);
  EXPECT_EQ(motions(body, {}).cols(), 6);
  EXPECT_EQ(motions(body, {0}).cols(), 3);
  EXPECT_EQ(motions(body, {13}).cols(), 3);
  EXPECT_EQ(motions(body, {0, 26}).cols(), 1);
  EXPECT_EQ(motions(body, {0, 1, 2}).cols(), 1) << "three in a line are a hinge";
  EXPECT_EQ(motions(body, {0, 1, 3}).cols(), 0);
  EXPECT_EQ(motions(body, {0, 1, 3, 9}).cols(), 0);
}

TEST_P(RigidMotions, CostNothingAndAreMassOrthonormal) {
  const ElasticBody body = box_body(GetParam(), box, MaterialModel::stvk);
  const MatX K = stiffness_at(body, VecX::Zero(body.dof_count())).to_sparse();
  const MatX M = body.consistent_mass().to_sparse();
  for (const auto& fixed : {std::vector<Index>{}, std::vector<Index>{4}, std::vector<Index>{0, 26}}) {
    const MatX R = motions(body, fixed);
    EXPECT_LT((R.transpose() * M * R - MatX::Identity(R.cols(), R.cols())).norm(), 1e-12);
    EXPECT_LT((K * R).norm(), 1e-12 * K.norm() * R.norm());
    for (const Index v : fixed) EXPECT_EQ(R.middleRows<3>(3 * v).norm(), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(All, RigidMotions, testing::ValuesIn(all_elements),
                         [](const auto& info) { return element_name(info.param); });

TetMesh two_cubes() {
  TetMesh mesh = tet_box(box);
  const TetMesh other = tet_box(box);
  const auto shift = static_cast<Index>(mesh.vertices.size());
  for (const Vec3& x : other.vertices) mesh.vertices.push_back(x + Vec3(100, 0, 0));
  for (TetMesh::Element tet : other.elements) {
    for (Index& v : tet) v += shift;
    mesh.elements.push_back(tet);
  }
  mesh.vertices.emplace_back(0, 0, 50);  // used by nothing
  return mesh;
}

TEST(RigidMotions, CountEachConnectedPiece) {
  const ElasticBody body = body_of(two_cubes(), MaterialModel::stvk);
  EXPECT_EQ(motions(body, {}).cols(), 12);
  EXPECT_EQ(motions(body, {0}).cols(), 9);
  EXPECT_EQ(motions(body, {0, 1, 3}).cols(), 6);
  EXPECT_EQ(motions(body, {0, 1, 3, 27}).cols(), 3);
  EXPECT_EQ(motions(body, {0, 1, 3, 27, 28, 30}).cols(), 0);
  const std::vector<Index> pieces = connected_pieces(body);
  EXPECT_EQ(pieces[0], 0);
  EXPECT_EQ(pieces[26], 0);
  EXPECT_EQ(pieces[27], 1);
  EXPECT_EQ(pieces.back(), -1);
}

TEST(RigidMotions, DoNotDependOnSizeOrPlace) {
  for (const double scale : {1e-4, 1e4}) {
    TetMesh mesh = tet_box(box);
    for (Vec3& x : mesh.vertices) x = scale * (some_rotation() * x + Vec3(50, 0, 0));
    const ElasticBody body = body_of(mesh, MaterialModel::stvk);
    EXPECT_EQ(motions(body, {}).cols(), 6);
    EXPECT_EQ(motions(body, {0, 26}).cols(), 1);
    EXPECT_EQ(motions(body, {0, 1, 2}).cols(), 1);
    EXPECT_EQ(motions(body, {0, 1, 3}).cols(), 0);
  }
}

}  // namespace
}  // namespace supple::rigid_motions_test
