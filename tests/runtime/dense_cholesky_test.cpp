// SPDX-License-Identifier: Apache-2.0
// Our factorisation of small dense matrices beside Eigen's, and what it leaves alone.
#include "supple/math/dense/dense_cholesky.h"

#include "support/bodies.h"
#include "support/dense_truth.h"

#include <gtest/gtest.h>

#include <limits>

namespace supple::dense_cholesky_test {
namespace {

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

/// Positive definite, eigenvalues within 1 … about 4 n.
MatX some_matrix(int n, double shift = 1) {
  MatX X(n, n);
  for (int c = 0; c < n; ++c) X.col(c) = random_vector(n, static_cast<unsigned>(c + 1));
  return X * X.transpose() + shift * MatX::Identity(n, n);
}

template <class T>
void fill(DenseCholesky<T>& cholesky, const MatX& A) {
  for (int c = 0; c < A.cols(); ++c)
    for (int r = c; r < A.rows(); ++r) cholesky(r, c) = static_cast<T>(A(r, c));
}

template <class T>
class DenseCholeskyOf : public testing::Test {};
using Numbers = testing::Types<float, double>;
TYPED_TEST_SUITE(DenseCholeskyOf, Numbers);

TYPED_TEST(DenseCholeskyOf, SolvesAsEigenDoes) {
  using T = TypeParam;
  for (const int n : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 40, 57, 100, 163}) {
    const MatX A = some_matrix(n);
    const VecX b = random_vector(n, 99);
    DenseCholesky<T> cholesky;
    cholesky.resize(n);
    fill(cholesky, A);
    ASSERT_TRUE(cholesky.factorize()) << n;
    const MatX L = truth::cholesky(A);
    for (int c = 0; c < n; ++c)
      for (int r = c; r < n; ++r)
        EXPECT_NEAR(cholesky(r, c), L(r, c), 100 * std::numeric_limits<T>::epsilon() * std::sqrt(A(r, r)));
    // One number more than there are: it is somebody else's.
    std::vector<T> x(to_size(n) + 1, T(7));
    std::copy(b.begin(), b.end(), x.begin());
    cholesky.solve(x.data());
    const VecX exact = truth::solve_symmetric(A, b);
    double error = 0;
    for (int c = 0; c < n; ++c) error = std::max(error, std::abs(static_cast<double>(x[to_size(c)]) - exact[c]));
    EXPECT_LT(error, 100 * n * std::numeric_limits<T>::epsilon() * exact.cwiseAbs().maxCoeff()) << n;
    EXPECT_EQ(x.back(), T(7));
  }
}

TYPED_TEST(DenseCholeskyOf, TheFirstColumnsAlone) {
  using T = TypeParam;
  const MatX A = some_matrix(30);
  DenseCholesky<T> cholesky;
  cholesky.resize(30);
  for (const int n : {30, 11, 3, 22, 30}) {
    fill(cholesky, A);
    // Above the diagonal and beyond the columns that count anything may stand.
    for (int c = 0; c < 30; ++c)
      for (int r = 0; r < 30; ++r)
        if (r < c || r >= n || c >= n) cholesky(r, c) = std::numeric_limits<T>::quiet_NaN();
    cholesky.lead(n);
    ASSERT_TRUE(cholesky.factorize()) << n;
    const VecX b = random_vector(n, 5), exact = truth::solve_symmetric(A.topLeftCorner(n, n), b);
    Eigen::Matrix<T, Eigen::Dynamic, 1> x = b.cast<T>();
    cholesky.solve(x.data());
    EXPECT_LT((x.template cast<double>() - exact).norm(), 3e3 * std::numeric_limits<T>::epsilon() * exact.norm()) << n;
  }
}

TYPED_TEST(DenseCholeskyOf, RefusesWhatIsNotPositive) {
  using T = TypeParam;
  DenseCholesky<T> cholesky;
  cholesky.resize(21);
  for (const int bad : {0, 6, 8, 20}) {
    for (const T value : {T(-1e4), T(0), std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN()}) {
      MatX A = some_matrix(21);
      A(bad, bad) = static_cast<double>(value);
      fill(cholesky, A);
      EXPECT_FALSE(cholesky.factorize()) << bad << " " << value;
    }
    fill(cholesky, some_matrix(21));
    EXPECT_TRUE(cholesky.factorize());
  }
}

}  // namespace
}  // namespace supple::dense_cholesky_test
