// SPDX-License-Identifier: Apache-2.0
// Counts, failures and small bodies; the laws that modes obey are checked in tests/verification.
#include "supple/fem/modes.h"

#include "supple/fem/loads.h"
#include "supple/fem/statics.h"

#include "support/bodies.h"

namespace supple::modes_test {
namespace {

std::string complaint(const Result<Modes>& modes) { return modes.ok() ? "" : modes.error().message; }

TEST(Modes, RefuseMoreThanExist) {
  const ElasticBody body = box_body(ElementKind::tet, {.cells = {1, 1, 1}}, MaterialModel::stvk);
  EXPECT_NE(complaint(compute_modes(body, {}, {.count = 19})).find("18"), std::string::npos);
  EXPECT_NE(complaint(compute_modes(body, {}, {.count = 0})).find("0 modes"), std::string::npos);
  const Result<Modes> all = compute_modes(body, {}, {.count = 18});
  ASSERT_TRUE(all.ok()) << complaint(all);
  EXPECT_EQ(all->frequencies.size(), 18);
  EXPECT_GT(all->frequencies[0], 0);
}

TEST(Modes, DenseAndIterativeSolversAgree) {
  // 300 unknowns are solved densely, more by Lanczos: ask a Lanczos-sized body for few and for many modes.
  for (const bool anchored : {false, true}) {
    const ElasticBody body = box_body(ElementKind::tet, {.cells = {5, 4, 4}, .distortion = 0.2}, MaterialModel::stvk);
    const auto fixed = anchored ? left_face(body) : std::vector<Index>{};
    const Result<Modes> few = compute_modes(body, fixed, {.count = 10});
    const Result<Modes> many = compute_modes(body, fixed, {.count = 200});
    ASSERT_TRUE(few.ok() && many.ok()) << complaint(few) << complaint(many);
    const VecX expected = many->eigenvalues.head(10);
    EXPECT_LT((few->eigenvalues - expected).cwiseQuotient(expected).cwiseAbs().maxCoeff(), 1e-9);
    EXPECT_EQ(few->rigid.cols(), anchored ? 0 : 6);
  }
}

TEST(Modes, HingedAndBallJointedBodies) {
  const ElasticBody body = box_body(ElementKind::tet, {.cells = {5, 4, 4}, .distortion = 0.2}, MaterialModel::stvk);
  const Result<Modes> ball = compute_modes(body, std::vector<Index>{0}, {.count = 6});
  ASSERT_TRUE(ball.ok()) << complaint(ball);
  EXPECT_EQ(ball->rigid.cols(), 3);
  const Result<Modes> hinge = compute_modes(body, std::vector<Index>{0, 5}, {.count = 6});
  ASSERT_TRUE(hinge.ok()) << complaint(hinge);
  EXPECT_EQ(hinge->rigid.cols(), 1);
  EXPECT_LT(hinge->rigid_residual, 1e-6);
  EXPECT_EQ(hinge->shapes.middleRows<3>(15).norm(), 0);
}

TEST(Modes, TwoFreePiecesHaveTwelveRigidMotionsAndPairsOfModes) {
  const TetMesh one = tet_box({.cells = {3, 3, 3}, .distortion = 0.2});
  TetMesh two = one;
  for (const Vec3& x : one.vertices) two.vertices.push_back(x + Vec3(3, 0, 0));
  for (TetMesh::Element tet : one.elements) {
    for (Index& v : tet) v += static_cast<Index>(one.vertices.size());
    two.elements.push_back(tet);
  }
  const Result<Modes> single = compute_modes(body_of(one, MaterialModel::stvk), {}, {.count = 5});
  const Result<Modes> pair = compute_modes(body_of(two, MaterialModel::stvk), {}, {.count = 10});
  ASSERT_TRUE(single.ok() && pair.ok()) << complaint(single) << complaint(pair);
  EXPECT_EQ(pair->rigid.cols(), 12);
  for (Eigen::Index k = 0; k < 10; ++k)
    EXPECT_NEAR(pair->frequencies[k] / single->frequencies[k / 2], 1, 1e-8) << "mode " << k;
}

/// Two cubes that share nothing but an edge, around which they swing freely. Some vertices are used by nothing.
TetMesh cubes_on_an_edge(int cells) {
  TetMesh mesh = tet_box({.size = Vec3(2, 2, 1), .cells = {2 * cells, 2 * cells, cells}});
  std::erase_if(mesh.elements, [&](const TetMesh::Element& tet) {
    Vec3 centre = Vec3::Zero();
    for (const Index v : tet) centre += 0.25 * mesh.vertices[to_size(v)];
    return (centre[0] < 1) != (centre[1] < 1);
  });
  return mesh;
}

TEST(Modes, SayWhenPartsHangByAnEdge) {
  for (const int cells : {2, 4}) {  // one for each eigenvalue solver
    const ElasticBody body = body_of(cubes_on_an_edge(cells), MaterialModel::stvk);
    EXPECT_NE(complaint(compute_modes(body, {}, {.count = 5})).find("hangs by"), std::string::npos)
        << complaint(compute_modes(body, {}, {.count = 5}));
    EXPECT_NE(complaint(compute_modes(body, left_face(body), {.count = 5})).find("hangs by"), std::string::npos);
    const auto sag = solve_static(body, left_face(body), gravity_force(body, Vec3(0, 0, -1)));
    // Gravity along the hinge does not swing the loose cube: rounding decides whether a singular matrix goes through.
    if (!sag.ok()) {
      EXPECT_NE(sag.error().message.find("hangs by"), std::string::npos) << sag.error().message;
    }
  }
}

TEST(Modes, RepeatTheSameBits) {
  const ElasticBody body = box_body(ElementKind::brick, {.cells = {5, 5, 5}}, MaterialModel::stvk);
  const Modes first = must(compute_modes(body, {}, {.count = 8}));
  const Modes second = must(compute_modes(body, {}, {.count = 8}));
  EXPECT_EQ(first.eigenvalues, second.eigenvalues);
  EXPECT_EQ(first.shapes, second.shapes);
}

}  // namespace
}  // namespace supple::modes_test
