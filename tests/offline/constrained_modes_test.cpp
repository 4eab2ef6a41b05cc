// SPDX-License-Identifier: Apache-2.0
// Modes under constraints and weights against a dense solver in the null space, and their derivatives against finite
// differences of the responses they are the derivatives of.
#include "supple/offline/modes/constrained_modes.h"

#include "supple/fem/free_columns.h"

#include "support/bodies.h"
#include "support/dense_truth.h"

namespace supple::constrained_modes_test {
namespace {

/// A body without symmetry, so that all eigenvalues are apart; large enough for the iterative solver.
ElasticBody crooked_body(std::array<int, 3> cells = {7, 4, 3}) {
  return box_body(ElementKind::tet, {.size = Vec3(1, 0.45, 0.28), .cells = cells, .distortion = 0.2},
                  MaterialModel::stvk);
}

/// Rows over a few random vertices each, like contacts.
SparseConstraints random_constraints(const ElasticBody& body, int rows, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_int_distribution<Index> vertex(0, body.vertex_count() - 1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<Eigen::Triplet<double>> entries;
  for (int r = 0; r < rows; ++r)
    for (int k = 0; k < 4; ++k) {
      const Index v = vertex(generator);
      for (int axis = 0; axis < 3; ++axis) entries.emplace_back(r, 3 * v + axis, uniform(generator));
    }
  SparseConstraints C(rows, body.dof_count());
  C.setFromTriplets(entries.begin(), entries.end());
  return C;
}

/// Falls along the body and is zero at its far end.
VecX fading_weights(const ElasticBody& body) {
  VecX w(body.vertex_count());
  for (Index v = 0; v < w.size(); ++v) {
    const double x = rest_position(body, v)[0];
    w[v] = x > 0.99 ? 0 : std::sqrt(1 - x) * (0.7 + 0.3 * std::cos(17.0 * v));
  }
  return w;
}

SparseConstraints stacked(const SparseConstraints& A, const SparseConstraints& B) {
  SparseConstraints C(A.rows() + B.rows(), A.cols());
  C.topRows(A.rows()) = A;
  C.bottomRows(B.rows()) = B;
  return C;
}

/// Matrices over the free vertices, and Z by complete pivoting: nothing of the library's way.
struct DenseProblem {
  FreeVertices free;
  VecX w;
  MatX K, M, B, Z;
};
DenseProblem dense_problem(const ModeProblem& problem) {
  std::vector<Index> held(problem.fixed.begin(), problem.fixed.end());
  for (Index v = 0; v < problem.vertex_weights.size(); ++v)
    if (problem.vertex_weights[v] == 0) held.push_back(v);
  DenseProblem d{must(FreeVertices::create(problem.body, held)), {}, {}, {}, {}, {}};
  VecX all = VecX::Ones(problem.body.dof_count());
  for (Index v = 0; v < problem.vertex_weights.size(); ++v)
    all.segment<3>(3 * v).setConstant(problem.vertex_weights[v]);
  d.w = d.free.restrict(all);
  const VecX rest = VecX::Zero(problem.body.dof_count());
  d.K = MatX(stiffness_at(problem.body, rest).to_sparse_lower(d.free.vertices())).selfadjointView<Eigen::Lower>();
  d.M = MatX(problem.body.consistent_mass().to_sparse_lower(d.free.vertices())).selfadjointView<Eigen::Lower>();
  d.M = d.w.asDiagonal() * d.M * d.w.asDiagonal();
  d.B = restrict_columns(d.free, MatX(problem.constraints).transpose()).transpose() * d.w.asDiagonal();
  d.Z = d.B.rows() > 0 ? truth::pivoted(d.B).kernel : MatX::Identity(d.K.rows(), d.K.rows());
  return d;
}

double largest_relative(const VecX& a, const VecX& b) { return (a - b).cwiseQuotient(b).cwiseAbs().maxCoeff(); }

/// Largest difference of columns up to their signs, in the mass norm, where `b` has unit mass.
double shape_difference(const ElasticBody& body, const MatX& a, const MatX& b) {
  double worst = 0;
  for (Eigen::Index k = 0; k < b.cols(); ++k) {
    const VecX Mb = body.consistent_mass() * VecX(b.col(k));
    const VecX d = a.col(k) * (a.col(k).dot(Mb) < 0 ? -1 : 1) - b.col(k);
    worst = std::max(worst, std::sqrt(d.dot(body.consistent_mass() * d)));
  }
  return worst;
}

void expect_dense_modes(const ModeProblem& problem, const Modes& modes) {
  const DenseProblem d = dense_problem(problem);
  const truth::Eigenpairs dense = truth::eigenpairs(d.Z.transpose() * d.K * d.Z, d.Z.transpose() * d.M * d.Z);
  const Eigen::Index count = modes.eigenvalues.size();
  const MatX shapes = expand_columns(d.free, d.w.asDiagonal() * (d.Z * dense.vectors.leftCols(count)));
  EXPECT_LT(largest_relative(modes.eigenvalues, dense.values.head(count)), 1e-8);
  EXPECT_LT(shape_difference(problem.body, modes.shapes, shapes), 1e-6);
}

TEST(ConstrainedModes, AreThoseOfADenseSolver) {
  const ElasticBody body = crooked_body();
  const auto fixed = left_face(body);
  const SparseConstraints C = random_constraints(body, 25, 3);
  const VecX w = fading_weights(body);
  const ModeProblem constrained{body, fixed, {}, C}, weighted{body, fixed, w, {}}, both{body, fixed, w, C};
  for (const ModeProblem* problem : {&constrained, &weighted, &both}) {
    const Modes modes = must(constrained_modes(*problem, {.count = 10}));
    expect_dense_modes(*problem, modes);
    const MatX gram = modes.shapes.transpose() * (body.consistent_mass().to_sparse() * modes.shapes);
    EXPECT_LT((gram - MatX::Identity(10, 10)).norm(), 1e-9);
    const Modes many = must(constrained_modes(*problem, {.count = 150}));  // by the library's dense solver
    EXPECT_LT(largest_relative(modes.eigenvalues, many.eigenvalues.head(10)), 1e-8);
  }
}

TEST(ConstrainedModes, ObeyConstraintsAndStayInTheirPatch) {
  const ElasticBody body = crooked_body();
  const auto fixed = left_face(body);
  const VecX w = fading_weights(body);
  const SparseConstraints C = random_constraints(body, 25, 3);
  const Modes modes = must(constrained_modes({body, fixed, w, C}, {.count = 12}));
  EXPECT_GT(modes.shapes.cwiseAbs().maxCoeff(), 0.1);
  EXPECT_LT((C * modes.shapes).cwiseAbs().maxCoeff(), 1e-10 * modes.shapes.cwiseAbs().maxCoeff());
  const MatX unconstrained = must(constrained_modes({body, fixed, w, {}}, {.count = 12})).shapes;
  EXPECT_GT((C * unconstrained).cwiseAbs().maxCoeff(), 0.1);
  for (const Index v : fixed) EXPECT_EQ(modes.shapes.middleRows<3>(3 * v).norm(), 0);
  for (Index v = 0; v < w.size(); ++v) {
    if (w[v] == 0) {
      EXPECT_EQ(modes.shapes.middleRows<3>(3 * v).norm(), 0);
    }
  }
}

TEST(ConstrainedModes, AllMethodsAgree) {
  const ElasticBody body = crooked_body();
  const auto fixed = left_face(body);
  const ModeProblem problem{body, fixed, fading_weights(body), random_constraints(body, 25, 5)};
  const Modes bordered = must(constrained_modes(problem, {.count = 10}, ConstraintMethod::bordered));
  expect_dense_modes(problem, bordered);
  for (const ConstraintMethod method : {ConstraintMethod::null_space, ConstraintMethod::null_space_cg}) {
    const Modes modes = must(constrained_modes(problem, {.count = 10}, method));
    EXPECT_LT(largest_relative(modes.eigenvalues, bordered.eigenvalues), 1e-8);
    EXPECT_LT(shape_difference(body, modes.shapes, bordered.shapes), 1e-6);
    EXPECT_LT((problem.constraints * modes.shapes).cwiseAbs().maxCoeff(), 1e-10);
  }
}

TEST(ConstrainedModes, NullSpaceIsOneAndIsCut) {
  const ElasticBody body = crooked_body();
  const SparseConstraints C = random_constraints(body, 25, 5);
  const ConstraintRows rows(C);
  const Eigen::SparseMatrix<double> Z = null_space(rows, body.dof_count(), 0.0);
  EXPECT_LT(MatX(C * Z).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_EQ(truth::pivoted(MatX(Z)).rank, body.dof_count() - 25);
  const Eigen::SparseMatrix<double> cut = null_space(rows, body.dof_count(), 0.2);
  EXPECT_LT(cut.nonZeros(), Z.nonZeros());
  EXPECT_LT((MatX(cut) - MatX(Z)).cwiseAbs().maxCoeff(), 0.2 + 1e-15);
}

TEST(ConstrainedModes, RowsMayNearlySayTheSame) {
  const ElasticBody body = crooked_body();
  const auto fixed = left_face(body);
  const SparseConstraints C = random_constraints(body, 8, 5), D = random_constraints(body, 8, 6);
  const ModeProblem apart{body, fixed, {}, stacked(C, D)}, close{body, fixed, {}, stacked(C, C + 1e-4 * D)};
  const Modes expected = must(constrained_modes(apart, {.count = 10}));
  for (const ConstraintMethod method : {ConstraintMethod::null_space, ConstraintMethod::bordered}) {
    const ConstrainedBody held = must(ConstrainedBody::create(close, method));
    EXPECT_EQ(held.constraint_count(), 16);
    const Modes modes = must(held.modes({.count = 10}));
    EXPECT_LT(largest_relative(modes.eigenvalues, expected.eigenvalues), 1e-6);
    EXPECT_LT((D * modes.shapes).cwiseAbs().maxCoeff(), 1e-8);
  }
}

TEST(ConstrainedModes, WithoutAnythingAreTheOrdinaryOnes) {
  const ElasticBody body = crooked_body();
  for (const bool anchored : {true, false}) {
    const auto fixed = anchored ? left_face(body) : std::vector<Index>{};
    const Modes expected = must(compute_modes(body, fixed, {.count = 10}));
    const Modes modes = must(constrained_modes({body, fixed, {}, {}}, {.count = 10}));
    EXPECT_LT(largest_relative(modes.eigenvalues, expected.eigenvalues), 1e-10);
    EXPECT_LT(shape_difference(body, modes.shapes, expected.shapes), 1e-7);
    EXPECT_EQ(modes.rigid.cols(), anchored ? 0 : 6);
  }
  const auto fixed = left_face(body);
  const Modes modes = must(compute_modes(body, fixed, {.count = 4}));
  const ModalDerivatives expected = must(static_derivatives(body, fixed, modes, 4));
  const ModalDerivatives derivatives = must(must(ConstrainedBody::create({body, fixed, {}, {}})).derivatives(modes, 4));
  EXPECT_EQ(derivatives.pairs, expected.pairs);
  EXPECT_LT((derivatives.shapes - expected.shapes).norm(), 1e-9 * expected.shapes.norm());
}

TEST(ConstrainedModes, RigidMotionsAreThoseThatConstraintsLeave) {
  // A free body tied to the world in one point turns about it; tied to itself it still flies.
  const ElasticBody body = crooked_body();
  SparseConstraints pinned(3, body.dof_count());
  for (int axis = 0; axis < 3; ++axis) pinned.insert(axis, 3 * 40 + axis) = 1;
  const std::vector<Index> fixed = {40};
  const Modes expected = must(compute_modes(body, fixed, {.count = 6}));
  const Modes modes = must(constrained_modes({body, {}, {}, pinned}, {.count = 6}));
  EXPECT_EQ(modes.rigid.cols(), 3);
  EXPECT_LT(largest_relative(modes.eigenvalues, expected.eigenvalues), 1e-8);
  SparseConstraints tied(3, body.dof_count());
  for (int axis = 0; axis < 3; ++axis) tied.insert(axis, 3 * 40 + axis) = 1, tied.insert(axis, 3 * 90 + axis) = -1;
  EXPECT_EQ(must(constrained_modes({body, {}, {}, tied}, {.count = 6})).rigid.cols(), 4);
  EXPECT_FALSE(must(ConstrainedBody::create({body, {}, {}, tied})).derivatives(modes, 2).ok());
}

TEST(ConstrainedModes, ConstraintsMayHoldAFreeBody) {
  // The anchored body, once with fixed vertices and once with rows that say the same.
  const ElasticBody body = crooked_body();
  const auto fixed = left_face(body);
  SparseConstraints C(3 * std::ssize(fixed), body.dof_count());
  for (std::size_t k = 0; k < fixed.size(); ++k)
    for (int axis = 0; axis < 3; ++axis) C.insert(static_cast<int>(3 * k) + axis, 3 * fixed[k] + axis) = 1;
  const Modes expected = must(compute_modes(body, fixed, {.count = 6}));
  const ConstrainedBody held = must(ConstrainedBody::create({body, {}, {}, C}));
  const Modes modes = must(held.modes({.count = 6}));
  EXPECT_EQ(modes.rigid.cols(), 0);
  EXPECT_LT(largest_relative(modes.eigenvalues, expected.eigenvalues), 1e-8);
  EXPECT_LT(shape_difference(body, modes.shapes, expected.shapes), 1e-6);
  const MatX derivatives = must(held.derivatives(modes, 2)).shapes;
  const MatX reference = must(static_derivatives(body, fixed, modes, 2)).shapes;
  EXPECT_LT((derivatives - reference).norm(), 1e-7 * reference.norm());
}

TEST(ConstrainedModes, RedundantRowsChangeNothing) {
  const ElasticBody body = crooked_body();
  const auto fixed = left_face(body);
  const SparseConstraints C = random_constraints(body, 12, 9);
  MatX mixing(20, 12);
  for (Eigen::Index k = 0; k < 12; ++k) mixing.col(k) = random_vector(20, static_cast<unsigned>(k));
  const SparseConstraints mixed = SparseConstraints((mixing * MatX(C)).sparseView());
  SparseConstraints on_fixed(1, body.dof_count());
  on_fixed.insert(0, 3 * fixed[0]) = 5;
  const Modes expected = must(constrained_modes({body, fixed, {}, C}, {.count = 8}));
  for (const ConstraintMethod method : {ConstraintMethod::bordered, ConstraintMethod::null_space}) {
    const ConstrainedBody held =
        must(ConstrainedBody::create({body, fixed, {}, stacked(stacked(1e3 * C, mixed), on_fixed)}, method));
    EXPECT_EQ(held.constraint_count(), 12);
    EXPECT_EQ(held.redundant_count(), 21);
    const Modes modes = must(held.modes({.count = 8}));
    EXPECT_LT(largest_relative(modes.eigenvalues, expected.eigenvalues), 1e-8);
    EXPECT_LT((C * modes.shapes).cwiseAbs().maxCoeff(), 1e-8);
  }
}

std::string complaint(const ModeProblem& problem, int count = 4) {
  const Result<Modes> modes = constrained_modes(problem, {.count = count});
  return modes.ok() ? "" : modes.error().message;
}

TEST(ConstrainedModes, BadRequestsAreRefused) {
  const ElasticBody body = crooked_body({2, 1, 1});
  const auto fixed = left_face(body);
  const auto has = [](const std::string& text, const char* words) { return text.find(words) != std::string::npos; };
  SparseConstraints all(body.dof_count(), body.dof_count());
  all.setIdentity();
  EXPECT_TRUE(has(complaint({body, fixed, {}, all}), "nothing can move"));
  EXPECT_TRUE(has(complaint({body, fixed, {}, SparseConstraints(all.topRows(all.rows() - 2))}), "between 1 and 2"));
  EXPECT_TRUE(has(complaint({body, fixed, VecX::Ones(5), {}}), "5 weights"));
  EXPECT_TRUE(has(complaint({body, fixed, -VecX::Ones(body.vertex_count()), {}}), "negative"));
  EXPECT_TRUE(has(complaint({body, fixed, VecX::Zero(body.vertex_count()), {}}), "every vertex is fixed"));
  EXPECT_TRUE(has(complaint({body, fixed, {}, SparseConstraints(2, 7)}), "7 columns"));
  SparseConstraints broken(1, body.dof_count());
  broken.insert(0, 30) = std::nan("");
  EXPECT_TRUE(has(complaint({body, fixed, {}, broken}), "not finite"));
}

// ---- derivatives ----------------------------------------------------------------------------------------------------

/// u with C u = 0 on which only constraint forces oppose the load: Newton's method in the null space.
VecX constrained_response(const ElasticBody& body, const DenseProblem& d, const VecX& load) {
  VecX x = VecX::Zero(d.Z.cols());
  for (int round = 0; round < 30; ++round) {
    const VecX u = d.free.expand(d.Z * x);
    const VecX r = d.Z.transpose() * (load - d.free.restrict(force_at(body, u)));
    const MatX K = MatX(stiffness_at(body, u).to_sparse_lower(d.free.vertices())).selfadjointView<Eigen::Lower>();
    const VecX step = truth::solve_symmetric(d.Z.transpose() * K * d.Z, r);
    x += step;
    if (step.norm() < 1e-15 * (1 + x.norm())) break;
  }
  return d.free.expand(d.Z * x);
}

TEST(ConstrainedDerivatives, AreTheCurvatureOfTheConstrainedResponse) {
  const ElasticBody body = crooked_body({4, 2, 2});
  const auto fixed = left_face(body);
  const ModeProblem problem{body, fixed, {}, random_constraints(body, 9, 4)};
  const DenseProblem d = dense_problem(problem);
  const Modes modes = must(constrained_modes(problem, {.count = 3}));
  const ModalDerivatives derivatives = must(must(ConstrainedBody::create(problem)).derivatives(modes, 3));
  ASSERT_EQ(derivatives.pairs.size(), 6u);
  for (std::size_t c = 0; c < derivatives.pairs.size(); ++c) {
    const auto [i, j] = derivatives.pairs[c];
    const VecX a = d.K * d.free.restrict(modes.shapes.col(i)), b = d.K * d.free.restrict(modes.shapes.col(j));
    const auto at = [&](double h) -> VecX {
      const auto u = [&](double p, double q) { return constrained_response(body, d, p * a + q * b); };
      return (u(h, h) - u(h, -h) - u(-h, h) + u(-h, -h)) / (4 * h * h);
    };
    const VecX psi = derivatives.shapes.col(static_cast<Eigen::Index>(c));
    const double h = 4e-3 / std::sqrt(psi.dot(body.consistent_mass() * psi));
    EXPECT_LT(((4 * at(h) - at(2 * h)) / 3 - psi).norm(), 1e-4 * psi.norm()) << i << " " << j;
  }
}

TEST(ConstrainedDerivatives, OfAPatchAreThoseOfItsResponse) {
  // K(p φ_i) y(p) = K y_j + Bᵀ μ, B y = 0: ψ_ij = W dy/dp.
  const ElasticBody body = crooked_body({4, 2, 2});
  const auto fixed = left_face(body);
  const ModeProblem problem{body, fixed, fading_weights(body), random_constraints(body, 5, 4)};
  const DenseProblem d = dense_problem(problem);
  const Modes modes = must(constrained_modes(problem, {.count = 3}));
  const ModalDerivatives derivatives = must(must(ConstrainedBody::create(problem)).derivatives(modes, 3));
  ASSERT_EQ(derivatives.pairs.size(), 9u);
  double asymmetry = 0;
  for (std::size_t c = 0; c < derivatives.pairs.size(); ++c) {
    const auto [i, j] = derivatives.pairs[c];
    const VecX y = d.free.restrict(modes.shapes.col(j)).cwiseQuotient(d.w);
    const VecX phi = modes.shapes.col(i);
    const auto response = [&](double p) -> VecX {
      const MatX K =
          MatX(stiffness_at(body, p * phi).to_sparse_lower(d.free.vertices())).selfadjointView<Eigen::Lower>();
      return d.Z * truth::solve_symmetric(d.Z.transpose() * K * d.Z, VecX(d.Z.transpose() * (d.K * y)));
    };
    const VecX expected = d.free.expand(d.w.asDiagonal() * derivative_at_zero(response, 1e-4));
    const VecX psi = derivatives.shapes.col(static_cast<Eigen::Index>(c));
    EXPECT_LT((psi - expected).norm(), 1e-6 * psi.norm()) << i << " " << j;
    EXPECT_LT((problem.constraints * psi).norm(), 1e-10 * psi.norm());
    const auto mirrored = std::find(derivatives.pairs.begin(), derivatives.pairs.end(), std::array<int, 2>{j, i});
    const VecX other = derivatives.shapes.col(mirrored - derivatives.pairs.begin());
    asymmetry = std::max(asymmetry, (psi - other).norm() / psi.norm());
  }
  EXPECT_GT(asymmetry, 0.01);
}

}  // namespace
}  // namespace supple::constrained_modes_test
