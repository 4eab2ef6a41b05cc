// SPDX-License-Identifier: Apache-2.0
// Derivatives against finite differences of what they are the derivatives of: static shapes and tangent modes.
#include "supple/offline/modes/modal_derivatives.h"

#include "supple/fem/statics.h"

#include "support/bodies.h"
#include "support/dense_truth.h"

namespace supple::modal_derivatives_test {
namespace {

/// A body without symmetry, so that all eigenvalues are apart.
BoxSpec crooked_box() { return {.size = Vec3(1, 0.45, 0.28), .cells = {4, 2, 2}, .distortion = 0.2}; }

double mass_norm(const ElasticBody& body, const VecX& x) { return std::sqrt(x.dot(body.consistent_mass() * x)); }

/// The mass-normalised mode of K(u) that resembles `like`, over all vertices, by a dense solver.
VecX tangent_mode(const ElasticBody& body, const FreeVertices& free, const VecX& u, const VecX& like) {
  const MatX K = MatX(stiffness_at(body, u).to_sparse_lower(free.vertices())).selfadjointView<Eigen::Lower>();
  const MatX M = MatX(body.consistent_mass().to_sparse_lower(free.vertices())).selfadjointView<Eigen::Lower>();
  const MatX modes = truth::eigenpairs(K, M).vectors;
  const VecX overlap = modes.transpose() * (M * free.restrict(like));
  Eigen::Index best = 0;
  overlap.cwiseAbs().maxCoeff(&best);
  return free.expand(modes.col(best) * (overlap[best] > 0 ? 1 : -1));
}

void expect_tangent_derivatives(ElementKind kind, bool anchored) {
  const ElasticBody body = box_body(kind, crooked_box(), MaterialModel::stvk);
  const auto fixed = anchored ? left_face(body) : std::vector<Index>{};
  const FreeVertices free = must(FreeVertices::create(body, fixed));
  const Modes modes = must(compute_modes(body, fixed, {.count = 8}));
  const ModalDerivatives derivatives = must(tangent_derivatives(body, fixed, modes, 4));
  ASSERT_EQ(derivatives.pairs.size(), 16u);
  EXPECT_LT(derivatives.largest_residual, 1e-7);
  constexpr double step = 1e-4;  // the error falls with its fourth power down to here
  double worst = 0, worst_along = 0;
  for (std::size_t c = 0; c < derivatives.pairs.size(); ++c) {
    const auto [i, j] = derivatives.pairs[c];
    const VecX Phi = derivatives.shapes.col(static_cast<Eigen::Index>(c));
    const VecX Psi_i = modes.shapes.col(i), Psi_j = modes.shapes.col(j);
    const double h = step / mass_norm(body, Phi);
    const VecX expected =
        derivative_at_zero([&](double p) -> VecX { return tangent_mode(body, free, p * Psi_j, Psi_i); }, h);
    worst = std::max(worst, mass_norm(body, Phi - expected) / mass_norm(body, expected));
    worst_along = std::max(worst_along, std::abs(Psi_i.dot(body.consistent_mass() * Phi)) / mass_norm(body, Phi));
  }
  measured(element_name(kind) + (anchored ? " anchored" : " free") + " tangent derivative error", worst);
  EXPECT_LT(worst, 1e-6);
  EXPECT_LT(worst_along, 1e-7);
}

TEST(ModalDerivatives, TangentAreDerivativesOfFreeModes) {
  for (const ElementKind kind : all_elements) expect_tangent_derivatives(kind, false);
}

TEST(ModalDerivatives, TangentAreDerivativesOfAnchoredModes) {
  for (const ElementKind kind : all_elements) expect_tangent_derivatives(kind, true);
}

TEST(ModalDerivatives, StaticAreTheCurvatureOfTheStaticResponse) {
  // f(u(p)) = Σ p_i K Ψ_i: u_ij = (u(h,h) − u(h,−h) − u(−h,h) + u(−h,−h)) / 4h².
  for (const ElementKind kind : all_elements) {
    const ElasticBody body = box_body(kind, crooked_box(), MaterialModel::stvk);
    const auto fixed = left_face(body);
    const FreeVertices free = must(FreeVertices::create(body, fixed));
    const Modes modes = must(compute_modes(body, fixed, {.count = 3}));
    const ModalDerivatives derivatives = must(static_derivatives(body, fixed, modes, 3));
    ASSERT_EQ(derivatives.pairs.size(), 6u);
    const BlockMatrix K = stiffness_at(body, VecX::Zero(body.dof_count()));
    const auto response = [&](int i, int j, double p, double q) {
      VecX load = K * VecX(p * modes.shapes.col(i) + q * modes.shapes.col(j));
      free.clear_fixed(load);
      return must(solve_static(body, fixed, load, {.tolerance = 1e-13})).u;
    };
    for (std::size_t c = 0; c < derivatives.pairs.size(); ++c) {
      const auto [i, j] = derivatives.pairs[c];
      const auto at = [&, i = i, j = j](double h) -> VecX {
        return (response(i, j, h, h) - response(i, j, h, -h) - response(i, j, -h, h) + response(i, j, -h, -h)) /
               (4 * h * h);
      };
      const VecX Phi = derivatives.shapes.col(static_cast<Eigen::Index>(c));
      const double h = 4e-3 / mass_norm(body, Phi);
      const VecX expected = (4 * at(h) - at(2 * h)) / 3;
      EXPECT_LT(mass_norm(body, Phi - expected), 2e-5 * mass_norm(body, Phi)) << i << " " << j;
    }
  }
}

TEST(ModalDerivatives, EqualFrequenciesAreOneEigenspace) {
  // A square bar: bending modes come in pairs, whose single derivatives don't exist.
  const ElasticBody body =
      box_body(ElementKind::brick, {.size = Vec3(4, 1, 1), .cells = {8, 2, 2}}, MaterialModel::stvk);
  const Modes modes = must(compute_modes(body, {}, {.count = 10}));
  ASSERT_NEAR(modes.eigenvalues[0], modes.eigenvalues[1], 1e-8 * modes.eigenvalues[0]);
  const ModalDerivatives derivatives = must(tangent_derivatives(body, {}, modes, 4));
  EXPECT_TRUE(derivatives.shapes.allFinite());
  for (std::size_t c = 0; c < derivatives.pairs.size(); ++c) {
    if (derivatives.pairs[c][0] > 1) continue;
    const VecX Phi = derivatives.shapes.col(static_cast<Eigen::Index>(c));
    const VecX along = modes.shapes.leftCols(2).transpose() * (body.consistent_mass() * Phi);
    EXPECT_LT(along.norm(), 1e-7 * mass_norm(body, Phi));
  }
}

TEST(ModalDerivatives, BadRequestsAreRefused) {
  const ElasticBody body = box_body(ElementKind::tet, crooked_box(), MaterialModel::stvk);
  const Modes modes = must(compute_modes(body, {}, {.count = 3}));
  const auto refused = static_derivatives(body, {}, modes, 3);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("rigidly in 6 ways"), std::string::npos);
  EXPECT_FALSE(tangent_derivatives(body, {}, modes, 4).ok());
  EXPECT_FALSE(tangent_derivatives(body, {}, modes, 0).ok());
}

}  // namespace
}  // namespace supple::modal_derivatives_test
