// SPDX-License-Identifier: Apache-2.0
#include "supple/math/dense/svd3.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <Eigen/SVD>

#include <random>

namespace supple::svd3_test {
namespace {

using Matrix = Eigen::Matrix3d;

template <class T>
void expect_valid(const Eigen::Matrix<T, 3, 3>& F, double tolerance) {
  const Svd3<T> svd = svd3(F);
  const double scale = std::max(1e-30, static_cast<double>(F.norm()));
  const Eigen::Matrix<T, 3, 3> product = svd.U * svd.sigma.asDiagonal() * svd.V.transpose();
  EXPECT_LT((product - F).norm(), tolerance * scale);
  for (const auto& rotation : {svd.U, svd.V}) {
    EXPECT_LT((rotation * rotation.transpose() - Eigen::Matrix<T, 3, 3>::Identity()).norm(), tolerance);
    EXPECT_NEAR(rotation.determinant(), 1, tolerance);
  }
  EXPECT_GE(svd.sigma[0], svd.sigma[1]);
  EXPECT_GE(svd.sigma[1], std::abs(svd.sigma[2]) - static_cast<T>(tolerance * scale));
}

std::vector<Matrix> zoo() {
  std::mt19937 generator(1);
  std::normal_distribution<double> normal;
  std::vector<Matrix> matrices = {Matrix::Zero(),
                                  Matrix::Identity(),
                                  -Matrix::Identity(),
                                  Matrix::Ones(),
                                  Eigen::Vector3d(1, 0, 0).asDiagonal(),
                                  Eigen::Vector3d(0, 0, -2).asDiagonal(),
                                  Eigen::Vector3d(1, 1, -1).asDiagonal(),
                                  Eigen::Vector3d(1e8, 1, 1e-8).asDiagonal()};
  for (int k = 0; k < 500; ++k) {
    matrices.push_back(Matrix::NullaryExpr([&] { return normal(generator); }) * std::pow(10.0, k % 13 - 6));
  }
  for (int k = 0; k < 50; ++k) {  // rank one and rank two
    const Eigen::Matrix<double, 3, 2> a = Eigen::Matrix<double, 3, 2>::NullaryExpr([&] { return normal(generator); });
    matrices.push_back(a.col(0) * a.col(1).transpose());
    matrices.push_back(a * a.transpose());
  }
  return matrices;
}

TEST(Svd3, FactorsEveryMatrixOfTheZoo) {
  for (const Matrix& F : zoo()) expect_valid<double>(F, 1e-13);
}

TEST(Svd3, FactorsInSinglePrecision) {
  for (const Matrix& F : zoo()) expect_valid<float>(F.cast<float>(), 2e-5);
}

TEST(Svd3, SingularValuesAgreeWithEigen) {
  for (const Matrix& F : zoo()) {
    const Eigen::Vector3d expected = Eigen::JacobiSVD<Matrix>(F).singularValues();
    EXPECT_LT((svd3(F).sigma.cwiseAbs() - expected).norm(), 1e-13 * std::max(1e-30, expected[0]));
  }
}

TEST(Svd3, PacksGiveWhatScalarsGive) {
  using P = Pack<double, 4>;
  const std::vector<Matrix> matrices = zoo();
  for (std::size_t first = 0; first + 4 <= matrices.size(); first += 4) {
    Eigen::Matrix<P, 3, 3> F;
    for (int lane = 0; lane < 4; ++lane) {
      for (int k = 0; k < 9; ++k) F.data()[k].set(lane, matrices[first + lane].data()[k]);
    }
    const Svd3<P> packed = svd3(F);
    for (int lane = 0; lane < 4; ++lane) {
      const Svd3<double> single = svd3(matrices[first + lane]);
      const double scale = std::max(1e-30, single.sigma[0]);
      for (int k = 0; k < 3; ++k) EXPECT_NEAR(packed.sigma[k][lane], single.sigma[k], 1e-13 * scale);
    }
  }
}

}  // namespace
}  // namespace supple::svd3_test
