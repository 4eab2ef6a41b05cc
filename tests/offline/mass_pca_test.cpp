// SPDX-License-Identifier: Apache-2.0
// Against the definition of appendix A, carried out densely and in extended precision: M = L Lᵀ, svd(Lᵀ X).
#include "supple/offline/modes/mass_pca.h"

#include "supple/base/parallel.h"

#include "support/bodies.h"

#include <Eigen/Cholesky>
#include <Eigen/SVD>

namespace supple::mass_pca_test {
namespace {

using LongMatrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;

ElasticBody uneven_body() {
  return box_body(ElementKind::tet, {.cells = {3, 2, 2}, .distortion = 0.3, .heterogeneous = true},
                  MaterialModel::stvk);
}

MatX random_shapes(Eigen::Index rows, Eigen::Index cols, unsigned seed) {
  return random_vector(rows * cols, seed).reshaped(rows, cols);
}

MatX dense_mass(const ElasticBody& body) { return MatX(body.consistent_mass().to_sparse()); }

VecX reference_values(const ElasticBody& body, const MatX& shapes, const VecX& weights) {
  const Eigen::LLT<LongMatrix> llt(dense_mass(body).cast<long double>());
  const LongMatrix X = shapes.cast<long double>() * weights.cast<long double>().asDiagonal();
  const LongMatrix Z = llt.matrixU() * X;
  return Eigen::JacobiSVD<LongMatrix>(Z).singularValues().cast<double>();
}

double orthonormality_error(const ElasticBody& body, const MatX& U) {
  return (U.transpose() * dense_mass(body) * U - MatX::Identity(U.cols(), U.cols())).cwiseAbs().maxCoeff();
}

TEST(MassPca, SmallSingularValuesKeepTheirDigits) {
  const ElasticBody body = uneven_body();
  const MatX shapes = random_shapes(body.dof_count(), 24, 7);
  VecX weights(24);
  for (int j = 0; j < 24; ++j) weights[j] = std::pow(10.0, -0.3 * ((5 * j) % 24));  // down to 1e-7, out of order
  const MassPca pca = must(mass_pca(body.consistent_mass(), shapes, weights));
  const VecX expected = reference_values(body, shapes, weights);
  ASSERT_EQ(pca.singular_values.size(), 24);
  const double error = ((pca.singular_values - expected).array() / expected.array()).abs().maxCoeff();
  measured("relative error of singular values over 7 decades", error);
  EXPECT_LT(error, 1e-10);  // the reference itself is good to 1e-19 of the largest
  EXPECT_LT(orthonormality_error(body, pca.basis), 1e-13);
}

TEST(MassPca, GradedOrthogonalShapesGiveTheirWeights) {
  const ElasticBody body = uneven_body();
  const MatX Q = mass_orthonormalize(body.consistent_mass(), random_shapes(body.dof_count(), 20, 8));
  VecX weights(20);
  for (int j = 0; j < 20; ++j) weights[j] = std::pow(10.0, -((7 * j) % 20));
  const MassPca pca = must(mass_pca(body.consistent_mass(), Q, weights));
  ASSERT_EQ(pca.singular_values.size(), 20);
  for (int j = 0; j < 20; ++j) EXPECT_NEAR(pca.singular_values[j] * std::pow(10.0, j), 1, 1e-12);
}

TEST(MassPca, NearlyDependentShapesAreAccurateAgainstTheLargest) {
  // Equal columns up to 1e-7: here the small values can only be known against the size of the columns.
  const ElasticBody body = uneven_body();
  MatX shapes = random_shapes(body.dof_count(), 12, 3);
  for (int j = 1; j < 12; ++j) shapes.col(j) = shapes.col(0) + 1e-7 * shapes.col(j);
  const MassPca pca = must(mass_pca(body.consistent_mass(), shapes));
  const VecX expected = reference_values(body, shapes, VecX::Ones(12));
  ASSERT_EQ(pca.singular_values.size(), 12);
  EXPECT_LT((pca.singular_values - expected).cwiseAbs().maxCoeff(), 1e-14 * expected[0]);
  EXPECT_LT(orthonormality_error(body, pca.basis), 1e-13);
}

TEST(MassPca, LeavesTheLeastErrorThatIsPossible) {
  // Eckart-Young: the squared mass error of the best r directions is the sum of the squared values left out.
  const ElasticBody body = uneven_body();
  const MatX X = random_shapes(body.dof_count(), 10, 11);
  const MassPca pca = must(mass_pca(body.consistent_mass(), X));
  const MatX M = dense_mass(body);
  for (const int r : {1, 4, 9}) {
    const MatX U = pca.basis.leftCols(r);
    const MatX rest = X - U * (U.transpose() * M * X);
    const double expected = pca.singular_values.tail(10 - r).squaredNorm();
    EXPECT_NEAR((rest.transpose() * M * rest).trace(), expected, 1e-12 * pca.singular_values.squaredNorm());
  }
}

TEST(MassPca, CountsOnlyIndependentShapes) {
  const ElasticBody body = uneven_body();
  MatX shapes = random_shapes(body.dof_count(), 7, 5);
  shapes.col(1).setZero();
  shapes.col(3) = shapes.col(0);
  shapes.col(5) = shapes.col(2) - 3 * shapes.col(4);
  const MassPca pca = must(mass_pca(body.consistent_mass(), shapes));
  EXPECT_EQ(pca.basis.cols(), 4);
  EXPECT_EQ(pca.singular_values.size(), 4);
  EXPECT_EQ(mass_orthonormalize(body.consistent_mass(), shapes).cols(), 4);
  EXPECT_EQ(must(mass_pca(body.consistent_mass(), MatX::Zero(body.dof_count(), 3))).basis.cols(), 0);
  EXPECT_EQ(must(mass_pca(body.consistent_mass(), MatX(body.dof_count(), 0))).basis.cols(), 0);
  EXPECT_FALSE(mass_pca(body.consistent_mass(), MatX::Zero(5, 2)).ok());
  EXPECT_FALSE(mass_pca(body.consistent_mass(), MatX::Constant(body.dof_count(), 2, NAN)).ok());
  EXPECT_FALSE(mass_pca(body.consistent_mass(), shapes, VecX::Ones(3)).ok());
}

TEST(MassPca, OrthonormalizeKeepsTheOrder) {
  const ElasticBody body = uneven_body();
  const MatX X = random_shapes(body.dof_count(), 5, 13);
  const MatX Q = mass_orthonormalize(body.consistent_mass(), X);
  EXPECT_LT(orthonormality_error(body, Q), 1e-14);
  const MatX R = Q.transpose() * dense_mass(body) * X;
  EXPECT_LT((Q * R - X).norm(), 1e-13 * X.norm());
  EXPECT_LT(MatX(R.triangularView<Eigen::StrictlyLower>()).norm(), 1e-13 * R.norm());
}

TEST(MassPca, SuggestsTheSizeThatHoldsTheShare) {
  const VecX values = Eigen::Vector4d(10, 1, 1e-2, 1e-4);
  EXPECT_EQ(suggest_size(values, 0.9), 1);
  EXPECT_EQ(suggest_size(values, 0.999), 2);
  EXPECT_EQ(suggest_size(values, 1 - 1e-8), 3);
  EXPECT_EQ(suggest_size(values, 1), 4);
  EXPECT_EQ(suggest_size(VecX(0)), 0);
}

TEST(MassPca, SameBitsForAnyThreadCount) {
  const ElasticBody body = uneven_body();
  const MatX X = random_shapes(body.dof_count(), 30, 17);
  set_thread_count(1);
  const MassPca one = must(mass_pca(body.consistent_mass(), X));
  set_thread_count(3);
  const MassPca three = must(mass_pca(body.consistent_mass(), X));
  set_thread_count(0);
  EXPECT_EQ(one.basis, three.basis);
}

}  // namespace
}  // namespace supple::mass_pca_test
