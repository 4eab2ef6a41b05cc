// SPDX-License-Identifier: Apache-2.0
// Products through the compiled door against sums over their coefficients, in every order of rows and columns, at sizes
// on both sides of every branch.
#include "supple/math/dense/compiled_products.h"
#include "supple/math/dense/decompositions.h"

#include <gtest/gtest.h>

#include <random>

namespace supple::compiled_products_test {
namespace {

template <typename Scalar>
using Columns = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
template <typename Scalar>
using Rows = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <typename Scalar>
Columns<Scalar> random_matrix(Eigen::Index rows, Eigen::Index cols, std::mt19937& random) {
  std::uniform_real_distribution<double> number(-1, 1);
  return Columns<Scalar>::NullaryExpr(rows, cols, [&] { return static_cast<Scalar>(number(random)); });
}

/// C + α A B, term by term in double precision.
template <typename Scalar>
Columns<double> expected(const Columns<Scalar>& C, double alpha, const Columns<Scalar>& A, const Columns<Scalar>& B) {
  Columns<double> result = C.template cast<double>();
  for (Eigen::Index i = 0; i < A.rows(); ++i)
    for (Eigen::Index j = 0; j < B.cols(); ++j)
      for (Eigen::Index k = 0; k < A.cols(); ++k) result(i, j) += alpha * double(A(i, k)) * double(B(k, j));
  return result;
}

struct Size {
  Eigen::Index rows, depth, cols;
};
const std::vector<Size> sizes = {{0, 3, 4},   {3, 0, 4},    {30, 0, 4},  {2, 3, 4},     {1, 5, 1},
                                 {6, 6, 7},   {7, 6, 7},    {40, 30, 1}, {1, 30, 40},   {1, 60, 1},
                                 {3, 200, 9}, {61, 47, 33}, {9, 3, 700}, {130, 500, 90}};

template <typename Scalar>
class CompiledProducts : public testing::Test {
 protected:
  static constexpr double rounding = 500 * std::numeric_limits<Scalar>::epsilon();

  template <typename A, typename B>
  void expect_product(const A& a, const B& b, const char* what) {
    const Columns<Scalar> plain_a = a, plain_b = b;
    const Columns<Scalar> start = random_matrix<Scalar>(a.rows(), b.cols(), random_);
    const auto near = [&](const auto& got, const Columns<double>& wanted) {
      ASSERT_EQ(got.rows(), wanted.rows());
      EXPECT_LE((got.template cast<double>() - wanted).norm(), rounding * (1 + wanted.norm()))
          << what << " " << a.rows() << " " << a.cols() << " " << b.cols();
    };
    const Columns<Scalar> nothing = Columns<Scalar>::Zero(a.rows(), b.cols());
    Columns<Scalar> columns = start;
    columns.noalias() = a * b;
    near(columns, expected<Scalar>(nothing, 1, plain_a, plain_b));
    columns = start;
    columns.noalias() = Scalar(-2.5) * a * b;
    near(columns, expected<Scalar>(nothing, -2.5, plain_a, plain_b));
    columns = start;
    columns.noalias() -= a * (Scalar(0.5) * b);
    near(columns, expected<Scalar>(start, -0.5, plain_a, plain_b));
    Rows<Scalar> rows = start;
    rows.noalias() += a * b;
    near(rows, expected<Scalar>(start, 1, plain_a, plain_b));
    Columns<Scalar> around = Columns<Scalar>::Constant(a.rows() + 3, b.cols() + 2, Scalar(7));
    around.block(1, 2, a.rows(), b.cols()).noalias() = a * b;
    near(around.block(1, 2, a.rows(), b.cols()), expected<Scalar>(nothing, 1, plain_a, plain_b));
    around.block(1, 2, a.rows(), b.cols()).setConstant(Scalar(7));
    EXPECT_TRUE((around.array() == Scalar(7)).all()) << "numbers beside the target were touched";
  }

  std::mt19937 random_{5};
};
using Scalars = testing::Types<double, float>;
TYPED_TEST_SUITE(CompiledProducts, Scalars);

TYPED_TEST(CompiledProducts, AreSumsOfTheirTermsInEveryOrder) {
  for (const Size& size : sizes) {
    const auto A = random_matrix<TypeParam>(size.rows, size.depth, this->random_);
    const auto B = random_matrix<TypeParam>(size.depth, size.cols, this->random_);
    const Columns<TypeParam> At = A.transpose(), Bt = B.transpose();
    this->expect_product(A, B, "A B");
    this->expect_product(At.transpose(), B, "At B");
    this->expect_product(A, Bt.transpose(), "A Bt");
    this->expect_product(At.transpose(), Bt.transpose(), "At Bt");
  }
}

TYPED_TEST(CompiledProducts, ReadPartsOfLargerMatricesAndSumsOfMatrices) {
  const auto large = random_matrix<TypeParam>(90, 80, this->random_);
  this->expect_product(large.block(3, 5, 40, 30), large.block(7, 2, 30, 21), "blocks");
  this->expect_product(large.topRows(20) + large.middleRows(30, 20), large.leftCols(11).topRows(80), "a sum");
}

TEST(CompiledDecompositions, KeepWhatTheyPromise) {
  std::mt19937 random(7);
  MatX A = random_matrix<double>(4, 9, random);
  const RowElimination elimination = eliminate_rows(A);
  VecX others = random_matrix<double>(5, 1, random), first = elimination.top * others, x(9);
  for (int k = 0; k < 9; ++k) x[elimination.order[static_cast<std::size_t>(k)]] = k < 4 ? first[k] : others[k - 4];
  EXPECT_LT((A * x).norm(), 1e-12);

  MatX dependent(6, 4);
  dependent << random_matrix<double>(6, 3, random), MatX::Zero(6, 1);
  dependent.col(3) = dependent.col(0) - 2 * dependent.col(2);
  const IndependentColumns kept = independent_columns(dependent, 1e-10);
  ASSERT_EQ(kept.kept.size(), 3U);
  EXPECT_LT((kept.basis.transpose() * kept.basis - MatX::Identity(3, 3)).norm(), 1e-12);
  EXPECT_LT((dependent - kept.basis * (kept.basis.transpose() * dependent)).norm(), 1e-12);
  const MatX rest = orthogonal_complement(kept.basis);
  ASSERT_EQ(rest.cols(), 3);
  EXPECT_LT((rest.transpose() * dependent).norm(), 1e-12);
  EXPECT_LT((rest.transpose() * rest - MatX::Identity(3, 3)).norm(), 1e-12);

  const MatX square = random_matrix<double>(5, 5, random);
  EXPECT_LT((*pivoted_inverse(square, 1e-12) * square - MatX::Identity(5, 5)).norm(), 1e-10);
  EXPECT_FALSE(pivoted_inverse(dependent.topRows(4), 1e-12).has_value());
  EXPECT_GT(smallest_pivot(square.transpose() * square), 0);
  EXPECT_LE(smallest_pivot(dependent.transpose() * dependent), 1e-12);
  const VecX b = square.col(1);
  EXPECT_LT(((square + square.transpose()) * solve_symmetric(square + square.transpose(), b) - b).norm(), 1e-10);
}

}  // namespace
}  // namespace supple::compiled_products_test
