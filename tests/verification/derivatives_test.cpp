// SPDX-License-Identifier: Apache-2.0
// The chain energy → force → stiffness → Hessian tensor, link by link against differences of the link before:
//   f = ∂W/∂u,   K = ∂f/∂u,   (H : a) b = d/dt K(u + t a) b at t = 0
// at random large deformations of distorted, heterogeneous bodies. The fourth-order difference
//   g'(0) ≈ (8 (g(h) − g(−h)) − (g(2h) − g(−2h))) / 12h
// errs by O(h⁴) + ε/h: near 1e-11 for h = 2e-4. Plain central differences must show their second order.
#include "support/bodies.h"

namespace supple::derivatives_test {
namespace {

class Derivatives : public EveryBody {
 protected:
  ElasticBody specimen() const {
    return box_body(kind(),
                    {.size = Vec3(1, 0.8, 1.2),
                     .cells = {2, 2, 2},
                     .distortion = 0.15,
                     .distort_surface = true,
                     .heterogeneous = true},
                    model());
  }
  static constexpr double h = 2e-4;
  static constexpr unsigned seeds = 3;
};

TEST_P(Derivatives, ForceIsTheGradientOfTheEnergy) {
  const ElasticBody body = specimen();
  double worst = 0;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    const VecX u = large_deformation(body, seed);
    ASSERT_GT(body.smallest_volume_ratio(u), 0.05);
    const VecX f = force_at(body, u);
    for (Eigen::Index k = 0; k < u.size(); ++k) {
      const VecX axis = VecX::Unit(u.size(), k);
      const double slope = derivative_at_zero([&](double t) { return body.energy(u + t * axis); }, h);
      worst = std::max(worst, std::abs(slope - f[k]) / f.lpNorm<Eigen::Infinity>());
    }
  }
  measured("error", worst);
  EXPECT_LT(worst, 1e-9);
}

TEST_P(Derivatives, StiffnessIsTheGradientOfTheForce) {
  const ElasticBody body = specimen();
  double worst = 0;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    const VecX u = large_deformation(body, seed);
    const BlockMatrix K = stiffness_at(body, u);
    const Eigen::MatrixXd dense = K.to_sparse();
    for (Eigen::Index k = 0; k < u.size(); ++k) {
      const VecX axis = VecX::Unit(u.size(), k);
      const VecX slope = derivative_at_zero([&](double t) { return force_at(body, u + t * axis); }, h);
      worst = std::max(worst, (slope - dense.col(k)).lpNorm<Eigen::Infinity>() / dense.lpNorm<Eigen::Infinity>());
      worst = std::max(worst, (slope - K * axis).lpNorm<Eigen::Infinity>() / dense.lpNorm<Eigen::Infinity>());
    }
  }
  measured("error", worst);
  EXPECT_LT(worst, 1e-9);
}

TEST_P(Derivatives, HessianProductIsTheChangeOfStiffness) {
  const ElasticBody body = specimen();
  double worst = 0;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    const VecX u = large_deformation(body, seed);
    const double scale = stiffness_at(body, u).to_sparse().norm();
    for (unsigned k = 0; k < 5; ++k) {
      const VecX a = random_vector(u.size(), 10 + k), b = random_vector(u.size(), 20 + k);
      const VecX slope = derivative_at_zero([&](double t) -> VecX { return stiffness_at(body, u + t * a) * b; }, h);
      const VecX product = body.hessian_product(u, a, b);
      worst = std::max(worst, (slope - product).norm() / (scale + product.norm()));
      EXPECT_LT((product - body.hessian_product(u, b, a)).norm(), 1e-11 * (scale + product.norm()));
    }
  }
  measured("error", worst);
  EXPECT_LT(worst, 1e-8);
}

TEST_P(Derivatives, DifferencesConvergeAtTheirOrder) {
  if (model() == MaterialModel::linear) GTEST_SKIP() << "differences of a linear force are exact";
  const ElasticBody body = specimen();
  const VecX u = large_deformation(body, 1);
  const VecX direction = random_vector(u.size(), 9);
  const VecX exact = stiffness_at(body, u) * direction;
  const auto error = [&](double t) {
    const VecX slope = (force_at(body, u + t * direction) - force_at(body, u - t * direction)) / (2 * t);
    return (slope - exact).norm();
  };
  const double order = order_of(error(4e-3), error(2e-3));
  measured("order", order);
  EXPECT_NEAR(order, 2, 0.05);
}

SUPPLE_FOR_EVERY_BODY(Derivatives);

}  // namespace
}  // namespace supple::derivatives_test
