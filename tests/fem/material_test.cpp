// SPDX-License-Identifier: Apache-2.0
// Every stress is the gradient of its energy, every Jacobian that of its stress, every second derivative that of its
// Jacobian: by central differences at random large deformations.
#include "supple/fem/material_models.h"

#include <gtest/gtest.h>

#include <random>

namespace supple::material_test {
namespace {

using Matrix = Eigen::Matrix3d;
const Lame<double> lame = lame_from(3.0, 0.4);

Matrix random_matrix(std::mt19937& generator) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  return Matrix::NullaryExpr([&] { return uniform(generator); });
}

/// Large deformations with singular values from 0.4 to 1.8; inverted ones where the model allows them.
Matrix random_deformation(std::mt19937& generator, bool inverted) {
  std::uniform_real_distribution<double> stretch(0.4, 1.8);
  const Svd3<double> frame = svd3(random_matrix(generator));
  Eigen::Vector3d sigma(stretch(generator), stretch(generator), stretch(generator));
  if (inverted) sigma[2] = -0.3 * sigma[2];
  return frame.U * sigma.asDiagonal() * frame.V.transpose();
}

template <class Model>
class MaterialTest : public testing::Test {};
using Models = testing::Types<LinearModel<double>, StVKModel<double>, CorotationalModel<double>,
                              NeoHookeanModel<double>, StableNeoHookeanModel<double>>;
TYPED_TEST_SUITE(MaterialTest, Models);

template <class Model>
constexpr bool allows_inversion = !std::is_same_v<Model, NeoHookeanModel<double>>;

template <class Model, class Check>
void at_random_deformations(const Check& check) {
  std::mt19937 generator(7);
  for (int k = 0; k < 40; ++k) {
    const bool inverted = allows_inversion<Model> && k % 4 == 3;
    check(random_deformation(generator, inverted), generator);
  }
}

TYPED_TEST(MaterialTest, StressIsTheGradientOfTheEnergy) {
  at_random_deformations<TypeParam>([](const Matrix& F, std::mt19937&) {
    const Matrix P = TypeParam(F, lame).stress();
    EXPECT_GT(P.norm(), 1e-3);
    const double h = 1e-5;
    for (int k = 0; k < 9; ++k) {
      Matrix plus = F, minus = F;
      plus.data()[k] += h;
      minus.data()[k] -= h;
      const double slope = (TypeParam(plus, lame).energy() - TypeParam(minus, lame).energy()) / (2 * h);
      EXPECT_NEAR(P.data()[k], slope, 1e-7 * (1 + P.norm()));
    }
  });
}

TYPED_TEST(MaterialTest, JacobianIsTheGradientOfTheStressAndSymmetric) {
  at_random_deformations<TypeParam>([](const Matrix& F, std::mt19937&) {
    Matrix9<double> J;
    TypeParam(F, lame).jacobian(J);
    const Matrix A = Matrix::Random();
    const Matrix change = TypeParam(F, lame).change(A);
    EXPECT_LT((change.reshaped() - J * A.reshaped()).norm(), 1e-12 * J.norm());
    EXPECT_LT((J - J.transpose()).norm(), 1e-12 * J.norm());
    const double h = 1e-5;
    for (int k = 0; k < 9; ++k) {
      Matrix plus = F, minus = F;
      plus.data()[k] += h;
      minus.data()[k] -= h;
      const Matrix slope = (TypeParam(plus, lame).stress() - TypeParam(minus, lame).stress()) / (2 * h);
      EXPECT_LT((J.col(k) - slope.reshaped()).norm(), 1e-7 * J.norm());
    }
  });
}

TYPED_TEST(MaterialTest, SecondIsTheGradientOfTheJacobian) {
  at_random_deformations<TypeParam>([](const Matrix& F, std::mt19937& generator) {
    const Matrix A = random_matrix(generator);
    const Matrix B = random_matrix(generator);
    const double h = 1e-4;
    Matrix9<double> plus, minus;
    TypeParam(F + h * A, lame).jacobian(plus);
    TypeParam(F - h * A, lame).jacobian(minus);
    const Eigen::Matrix<double, 9, 1> slope = (plus - minus) * B.reshaped() / (2 * h);
    const Matrix second = TypeParam(F, lame).second(A, B);
    EXPECT_LT((second.reshaped() - slope).norm(), 1e-5 * (1 + slope.norm()));
    EXPECT_LT((second - TypeParam(F, lame).second(B, A)).norm(), 1e-10 * (1 + second.norm()));
  });
}

TYPED_TEST(MaterialTest, RestIsStressFreeAndLinearElastic) {
  const Matrix I = Matrix::Identity();
  EXPECT_NEAR(TypeParam(I, lame).energy(), 0, 1e-14);
  EXPECT_LT(TypeParam(I, lame).stress().norm(), 1e-14);
  Matrix9<double> J, linear;
  TypeParam(I, lame).jacobian(J);
  LinearModel<double>(I, lame).jacobian(linear);
  EXPECT_LT((J - linear).norm(), 1e-13 * linear.norm());
}

TYPED_TEST(MaterialTest, EnergyIgnoresRotations) {
  if (std::is_same_v<TypeParam, LinearModel<double>>) return;  // small strain is not rotation invariant
  std::mt19937 generator(3);
  for (int k = 0; k < 20; ++k) {
    const Matrix F = random_deformation(generator, false);
    const Svd3<double> svd = svd3(random_matrix(generator));
    const Matrix R = svd.U * svd.V.transpose();
    EXPECT_NEAR(TypeParam(R * F, lame).energy(), TypeParam(F, lame).energy(), 1e-12);
    EXPECT_LT((TypeParam(R * F, lame).stress() - R * TypeParam(F, lame).stress()).norm(), 1e-12);
  }
}

TYPED_TEST(MaterialTest, PacksGiveWhatScalarsGive) {
  using P = Pack<double, 4>;
  std::mt19937 generator(11);
  Matrix F[4];
  Eigen::Matrix<P, 3, 3> packed;
  for (int lane = 0; lane < 4; ++lane) {
    F[lane] = random_deformation(generator, false);
    for (int k = 0; k < 9; ++k) packed.data()[k].set(lane, F[lane].data()[k]);
  }
  // The same class template with the pack as scalar.
  const auto check = [&]<template <class> class Model>(std::type_identity<Model<double>>) {
    const Model<P> model(packed, {P(lame.mu), P(lame.lambda)});
    Matrix9<P> J;
    model.jacobian(J);
    for (int lane = 0; lane < 4; ++lane) {
      const Model<double> single(F[lane], lame);
      EXPECT_NEAR(model.energy()[lane], single.energy(), 1e-13);
      Matrix9<double> single_J;
      single.jacobian(single_J);
      for (int k = 0; k < 81; ++k) EXPECT_NEAR(J.data()[k][lane], single_J.data()[k], 1e-12 * single_J.norm());
    }
  };
  check(std::type_identity<TypeParam>{});
}

TEST(StableNeoHookean, StaysFiniteAndRestoringWhenFlatOrInverted) {
  for (const double s : {0.0, -0.5, -1.0, -3.0}) {
    const Matrix F = Eigen::Vector3d(1, 1, s).asDiagonal();
    const StableNeoHookeanModel<double> model(F, lame);
    EXPECT_TRUE(std::isfinite(model.energy()));
    EXPECT_LT(model.stress()(2, 2), 0) << "the stress must push the element back out";
  }
}

TEST(MaterialNames, RoundTrip) {
  for (const auto model : {MaterialModel::linear, MaterialModel::corotational, MaterialModel::stvk,
                           MaterialModel::neo_hookean, MaterialModel::stable_neo_hookean, MaterialModel::flesh}) {
    EXPECT_EQ(material_model_from(to_string(model)), model);
  }
  EXPECT_FALSE(material_model_from("jelly").has_value());
}

}  // namespace
}  // namespace supple::material_test
