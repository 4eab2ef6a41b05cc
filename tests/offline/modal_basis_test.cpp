// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/modes/modal_basis.h"

#include "supple/fem/rigid_motions.h"
#include "supple/fem/statics.h"

#include "support/bodies.h"

namespace supple::modal_basis_test {
namespace {

BoxSpec crooked_bar() { return {.size = Vec3(2, 0.4, 0.25), .cells = {10, 2, 2}, .distortion = 0.15}; }

MatX mass_times(const ElasticBody& body, const MatX& U) { return body.consistent_mass().to_sparse() * U; }

std::string complaint(const Result<ModalBasis>& basis) { return basis.ok() ? "" : basis.error().message; }

/// What of V's unit directions lies outside the span of the mass-orthonormal U.
double distance_of_spans(const ElasticBody& body, const MatX& U, const MatX& V) {
  const VecX scale = (V.transpose() * mass_times(body, V)).diagonal().cwiseSqrt();
  const MatX unit = V * scale.cwiseInverse().asDiagonal();
  const MatX rest = unit - U * (mass_times(body, U).transpose() * unit);
  return std::sqrt((rest.transpose() * mass_times(body, rest)).diagonal().maxCoeff());
}

TEST(ModalBasis, IsMassOrthonormalAndFixedWhereTheBodyIs) {
  const ElasticBody body = box_body(ElementKind::tet, crooked_bar(), MaterialModel::stvk);
  const auto fixed = left_face(body);
  const ModalBasis result = must(build_modal_basis(body, fixed, {.linear_modes = 6, .size = 15}));
  EXPECT_TRUE(result.anchored);
  EXPECT_EQ(result.basis.cols(), 15);
  EXPECT_EQ(result.singular_values.size(), 6 + 21);
  EXPECT_EQ(result.frequencies.size(), 6);
  const MatX gram = result.basis.transpose() * mass_times(body, result.basis);
  EXPECT_LT((gram - MatX::Identity(15, 15)).cwiseAbs().maxCoeff(), 1e-12);
  for (const Index v : fixed) EXPECT_EQ(result.basis.middleRows(3 * v, 3).norm(), 0.0);
  const ModalBasis suggested = must(build_modal_basis(body, fixed, {.linear_modes = 6}));
  EXPECT_EQ(suggested.basis.cols(), suggested.suggested_size);
  measured("suggested size for 6 modes", suggested.suggested_size);
}

TEST(ModalBasis, HoldsALargeBendThatLinearModesMiss) {
  const ElasticBody body = box_body(ElementKind::tet, crooked_bar(), MaterialModel::stvk);
  const auto fixed = left_face(body);
  const ModalBasis result = must(build_modal_basis(body, fixed, {.linear_modes = 5, .size = 20}));
  const Modes modes = must(compute_modes(body, fixed, {.count = 20}));
  VecX load = VecX::Zero(body.dof_count());
  for (const Index v : vertices_where(body, [](const Vec3& X) { return X[0] > 2 - 1e-9; })) load[3 * v + 2] = 0.05;
  const VecX u = must(solve_static(body, fixed, load, {.load_steps = 4})).u;
  ASSERT_GT(u.lpNorm<Eigen::Infinity>(), 0.4);  // a fifth of the length
  const double with_derivatives = distance_of_spans(body, result.basis, u);
  const double with_modes = distance_of_spans(body, modes.shapes, u);
  measured("bend outside 20 vectors of 5 modes and derivatives", with_derivatives);
  measured("bend outside 20 linear modes", with_modes);
  EXPECT_LT(with_derivatives, 0.2 * with_modes);
}

TEST(ModalBasis, DoesNotDependOnTheScaleOfStiffnessAndDensity) {
  for (const bool anchored : {true, false}) {
    BoxSpec spec = crooked_bar();
    const ElasticBody body = box_body(ElementKind::brick, spec, MaterialModel::stvk);
    const auto fixed = anchored ? left_face(body) : std::vector<Index>{};
    spec.material.young *= 3.7e5;
    spec.material.density *= 812;
    const ElasticBody other = box_body(ElementKind::brick, spec, MaterialModel::stvk);
    const ModalBasisSettings settings{.linear_modes = 5, .size = 10};
    const ModalBasis a = must(build_modal_basis(body, fixed, settings));
    const ModalBasis b = must(build_modal_basis(other, fixed, settings));
    EXPECT_LT((a.singular_values - b.singular_values).cwiseAbs().maxCoeff(), 1e-7 * a.singular_values[0]);
    EXPECT_LT(distance_of_spans(body, a.basis, b.basis), 1e-6);
    EXPECT_EQ(a.suggested_size, b.suggested_size);
  }
}

TEST(ModalBasis, OfAFreeBodyLeavesOutRigidMotions) {
  const ElasticBody body = box_body(ElementKind::tet, crooked_bar(), MaterialModel::stvk);
  const ModalBasis result = must(build_modal_basis(body, {}, {.linear_modes = 5, .size = 12}));
  EXPECT_FALSE(result.anchored);
  EXPECT_EQ(result.frequencies.size(), 5);
  const MatX R = rigid_motions(body, must(FreeVertices::create(body, {})));
  ASSERT_EQ(R.cols(), 6);
  EXPECT_LT((R.transpose() * mass_times(body, result.basis)).cwiseAbs().maxCoeff(), 1e-8);
  const MatX gram = result.basis.transpose() * mass_times(body, result.basis);
  EXPECT_LT((gram - MatX::Identity(12, 12)).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(ModalBasis, BadInputGetsASentence) {
  const ElasticBody body = box_body(ElementKind::tet, {.cells = {2, 1, 1}}, MaterialModel::stvk);
  const auto fixed = left_face(body);
  const auto refused = [&](std::span<const Index> held, const ModalBasisSettings& settings, const char* words) {
    const std::string message = complaint(build_modal_basis(body, held, settings));
    EXPECT_NE(message.find(words), std::string::npos) << message;
  };
  refused(fixed, {.linear_modes = 3, .size = 10}, "only 9 independent ones");
  refused({}, {.linear_modes = 3, .require_anchored = true}, "no vertex of the mesh is fixed");
  refused(std::span(fixed).first(1), {.linear_modes = 3, .require_anchored = true}, "3 ways to move rigidly");
  refused(fixed, {.linear_modes = 25}, "25 modes were asked for");
  refused({}, {.linear_modes = 50}, "50 modes were asked for");
  refused(fixed, {.linear_modes = 3, .size = -1}, "-1 vectors");
}

TEST(ModalBasis, RefusesBrokenBodies) {
  TetMesh pair = make_tet_box(Vec3(1, 1, 1), {1, 1, 1});
  const TetMesh one = pair;
  for (const Vec3& x : one.vertices) pair.vertices.push_back(x + Vec3(5, 0, 0));
  for (auto element : one.elements) {
    for (Index& v : element) v += static_cast<Index>(one.vertices.size());
    pair.elements.push_back(element);
  }
  const std::string message = complaint(build_modal_basis(body_of(pair, MaterialModel::stvk), {}));
  EXPECT_NE(message.find("2 pieces"), std::string::npos) << message;

  TetMesh incompressible = one;
  set_uniform_material(incompressible, {.name = "rubber", .young = 1e5, .poisson = 0.5, .density = 1000});
  EXPECT_FALSE(ElasticBody::create(incompressible, MaterialModel::stvk).ok());
  TetMesh inverted = one;
  std::swap(inverted.elements[0][0], inverted.elements[0][1]);
  EXPECT_FALSE(ElasticBody::create(inverted, MaterialModel::stvk).ok());
}

}  // namespace
}  // namespace supple::modal_basis_test
