// SPDX-License-Identifier: Apache-2.0
// Projection of element Hessians. Each material Jacobian J = Σ λ_k v_k v_kᵀ becomes Σ max(λ_k, 0) v_k v_kᵀ, hence
//   K_projected is positive semi-definite,   K_projected − K is positive semi-definite,
//   K_projected = K where every J is positive semi-definite already (at rest, and for linear elasticity anywhere).
#include "support/bodies.h"
#include "support/dense_truth.h"

namespace supple::projection_test {
namespace {

class Projection : public EveryBody {
 protected:
  ElasticBody body = box_body(kind(), {.cells = {2, 2, 2}, .distortion = 0.1, .heterogeneous = true}, model());
  static VecX spectrum(const BlockMatrix& K) { return truth::eigenvalues(K.to_sparse()); }
};

TEST_P(Projection, MakesACrushedBodyDefinite) {
  const VecX u = homogeneous(body, Vec3(0.35, 0.5, 0.9).asDiagonal()) + 0.03 * random_vector(body.dof_count(), 4);
  ASSERT_GT(body.smallest_volume_ratio(u), 0);
  BlockMatrix K = stiffness_at(body, u);
  BlockMatrix projected = stiffness_at(body, u, HessianProjection::positive_semidefinite);
  const VecX before = spectrum(K), after = spectrum(projected);
  const double scale = after.maxCoeff();
  if (model() != MaterialModel::linear) {
    EXPECT_LT(before.minCoeff(), -1e-4 * scale) << "the test body is not crushed";
  }
  measured("smallest eigenvalue, relative", after.minCoeff() / scale);
  EXPECT_GT(after.minCoeff(), -1e-13 * scale);
  projected.combine(1, -1, K);
  EXPECT_GT(spectrum(projected).minCoeff(), -1e-12 * scale);
}

TEST_P(Projection, LeavesADefiniteBodyAlone) {
  const bool linear = model() == MaterialModel::linear;
  const VecX u = linear ? large_deformation(body, 1) : VecX::Zero(body.dof_count()).eval();
  BlockMatrix difference = stiffness_at(body, u, HessianProjection::positive_semidefinite);
  const BlockMatrix K = stiffness_at(body, u);
  difference.combine(1, -1, K);
  EXPECT_LT(difference.to_sparse().norm(), 1e-13 * K.to_sparse().norm());
}

TEST_P(Projection, ForceIsUntouched) {
  const VecX u = large_deformation(body, 2);
  BlockMatrix K = body.make_matrix();
  VecX with, without;
  body.internal_force_and_stiffness(u, without, K, HessianProjection::none);
  body.internal_force_and_stiffness(u, with, K, HessianProjection::positive_semidefinite);
  EXPECT_EQ(with, without);
  EXPECT_EQ(force_at(body, u), without);
}

SUPPLE_FOR_EVERY_BODY(Projection);

}  // namespace
}  // namespace supple::projection_test
