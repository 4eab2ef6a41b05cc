// SPDX-License-Identifier: Apache-2.0
// Laws that the vibration modes of any body obey, whatever its shape.
//   K x = λ M x,  XᵀMX = I,  XᵀKX = Λ,  rigid motions: six, K r = 0, RᵀMX = 0
//   a turned and shifted body has the same frequencies;  E → cE: f → √c f;  size → s·size: f → f/s;  ρ → cρ: f → f/√c
//   the smallest eigenvalue is the minimum of Rayleigh's quotient (checked against a dense solver)
#include "supple/fem/modes.h"

#include "support/bodies.h"
#include "support/dense_truth.h"

namespace supple::free_modes_test {
namespace {

const BoxSpec blob{
    .size = Vec3(1, 0.8, 0.6), .cells = {5, 4, 4}, .distortion = 0.2, .distort_surface = true, .heterogeneous = true};

template <class Mesh>
Modes free_modes(const Mesh& mesh, int count = 12) {
  Result<Modes> modes = compute_modes(body_of(mesh, MaterialModel::stvk), {}, {.count = count});
  EXPECT_TRUE(modes.ok()) << (modes.ok() ? "" : modes.error().message);
  return *std::move(modes);
}

template <class Mesh>
class FreeModes : public testing::Test {
 protected:
  Mesh mesh() const {
    if constexpr (std::is_same_v<Mesh, TetMesh>) {
      return tet_box(blob);
    } else {
      return brick_box(blob);
    }
  }
};
using Meshes = testing::Types<TetMesh, HexMesh>;
TYPED_TEST_SUITE(FreeModes, Meshes);

TYPED_TEST(FreeModes, SolveTheEigenproblemAndAreOrthonormal) {
  const ElasticBody body = body_of(this->mesh(), MaterialModel::stvk);
  const Modes modes = free_modes(this->mesh());
  const MatX K = stiffness_at(body, VecX::Zero(body.dof_count())).to_sparse();
  const MatX M = body.consistent_mass().to_sparse();
  const MatX& X = modes.shapes;
  ASSERT_EQ(modes.rigid.cols(), 6);
  const double scale = modes.eigenvalues.maxCoeff();
  const MatX identity = MatX::Identity(X.cols(), X.cols());
  measured("|X'MX - I|", (X.transpose() * M * X - identity).cwiseAbs().maxCoeff());
  EXPECT_LT((X.transpose() * M * X - identity).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_LT((X.transpose() * K * X - MatX(modes.eigenvalues.asDiagonal())).cwiseAbs().maxCoeff(), 1e-9 * scale);
  EXPECT_LT((modes.rigid.transpose() * M * modes.rigid - MatX::Identity(6, 6)).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((modes.rigid.transpose() * M * X).cwiseAbs().maxCoeff(), 1e-11);
  EXPECT_LT((K * modes.rigid).norm(), 1e-12 * K.norm() * modes.rigid.norm());
  EXPECT_LT(modes.rigid_residual, 1e-6);
  for (Eigen::Index k = 0; k < X.cols(); ++k) {
    const double lambda = modes.eigenvalues[k];
    const double residual = (K * X.col(k) - lambda * M * X.col(k)).norm() / (lambda * (M * X.col(k)).norm());
    EXPECT_LT(residual, 1e-8);
    EXPECT_LT(modes.residuals[k], 1e-8);
  }
}

TYPED_TEST(FreeModes, AreThoseOfADenseSolver) {
  const ElasticBody body = body_of(this->mesh(), MaterialModel::stvk);
  const Modes modes = free_modes(this->mesh());
  const MatX K = stiffness_at(body, VecX::Zero(body.dof_count())).to_sparse();
  const VecX dense = truth::eigenvalues(K, body.consistent_mass().to_sparse());
  EXPECT_LT(dense[5], 1e-6 * dense[6]) << "six zeros, then elastic modes";
  const VecX expected = dense.segment(6, 12);
  const double error = (modes.eigenvalues - expected).cwiseQuotient(expected).cwiseAbs().maxCoeff();
  measured("largest relative difference of eigenvalues", error);
  EXPECT_LT(error, 1e-9);
}

TYPED_TEST(FreeModes, ScaleWithSizeStiffnessAndDensityAndIgnorePlacement) {
  const VecX f = free_modes(this->mesh()).frequencies;
  const auto error = [&](const TypeParam& changed, double factor) {
    return (free_modes(changed).frequencies / factor - f).cwiseQuotient(f).cwiseAbs().maxCoeff();
  };
  TypeParam turned = this->mesh(), stiff = turned, heavy = turned, large = turned;
  for (Vec3& x : turned.vertices) x = some_rotation() * x + Vec3(10, -20, 30);
  for (ElasticMaterial& material : stiff.materials) material.young *= 9;
  for (ElasticMaterial& material : heavy.materials) material.density *= 4;
  for (Vec3& x : large.vertices) x *= 100;
  measured("turned", error(turned, 1));
  EXPECT_LT(error(turned, 1), 1e-9);
  EXPECT_LT(error(stiff, 3), 1e-9);
  EXPECT_LT(error(heavy, 0.5), 1e-9);
  EXPECT_LT(error(large, 0.01), 1e-9);
}

}  // namespace
}  // namespace supple::free_modes_test
