// SPDX-License-Identifier: Apache-2.0
// The equations of a step, solved by products, beside the same equations summed up and factorised.
#include "supple/runtime/posespace/step_system.h"

#include "support/bodies.h"
#include "support/soft_limb.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

namespace supple {
namespace {

struct Equations {
  SoftLimb limb = make_soft_limb();
  ReducedBody reduced = must(reduce_body(limb.body, limb.rig.rig(), {}, small_reduction(20)));
  std::shared_ptr<const PreparedModel<double>> prepared = std::make_shared<const PreparedModel<double>>(reduced.model);
  CubatureForces<double> forces{prepared};
  StepSystem<double> system{*prepared};

  explicit Equations(double amplitude) {
    std::vector<Vec3> rest;
    for (const Index v : reduced.model->points) rest.push_back(limb.body.mesh.vertices[static_cast<std::size_t>(v)]);
    forces.set_pose(limb.rig.neutral().p, rest);
    const VecX q = amplitude * random_vector(prepared->size, 3).cwiseQuotient(reduced.model->stiffness.cwiseSqrt());
    forces.evaluate(padded(q).data());
  }
  std::vector<double> padded(const VecX& x) const {
    std::vector<double> result(static_cast<std::size_t>(prepared->stride), 0.0);
    std::copy(x.begin(), x.end(), result.begin());
    return result;
  }
  MatX stiffness() {
    const int r = prepared->size;
    MatX K(r, r);
    for (int c = 0; c < r; ++c) {
      std::vector<double> column(static_cast<std::size_t>(prepared->stride), 0.0);
      forces.multiply_stiffness(padded(VecX::Unit(r, c)).data(), column.data());
      K.col(c) = Eigen::Map<const VecX>(column.data(), r);
    }
    return K;
  }
  VecX solve(const VecX& b, int& iterations) {
    std::vector<double> delta(static_cast<std::size_t>(prepared->stride), 0.0);
    iterations = system.solve(forces, padded(b).data(), delta.data(), 1e-3);
    return Eigen::Map<const VecX>(delta.data(), b.size());
  }
};

TEST(StepSystem, SolvesWhatFactorisationSolves) {
  for (const double amplitude : {0.0, 0.02, 0.3}) {
    Equations e(amplitude);
    const double c_mass = 4 * 240.0 * 240.0, c_linear = 2;
    ASSERT_TRUE(e.system.set(e.forces.pose(), c_mass, c_linear));
    const MatX A = c_mass * MatX::Identity(20, 20) + c_linear * e.reduced.model->linear[0] + e.stiffness();
    const VecX b = random_vector(20, 7);
    const VecX exact = A.ldlt().solve(b);
    int iterations = 0;
    const VecX error = e.solve(b, iterations) - exact;
    EXPECT_LT(std::sqrt(error.dot(A * error)), 3e-3 * std::sqrt(exact.dot(A * exact))) << amplitude;
    EXPECT_LE(iterations, amplitude == 0 ? 3 : 12) << amplitude;
    const std::vector<double> x = e.padded(b);
    const double inertia = b.dot((c_mass * MatX::Identity(20, 20) + c_linear * e.reduced.model->linear[0]) * b);
    EXPECT_NEAR(e.system.inertia(e.forces.pose(), x.data()), inertia, 1e-9 * inertia);
  }
}

TEST(StepSystem, FollowsCorrectionsOfOtherPoses) {
  // A model of one pose, whose correction is another where the knee is bent: only that changes.
  Equations e(0);
  PoseSpaceModel model = *e.reduced.model;
  const std::vector<double> neutral = e.limb.rig.neutral().p, bent = limb_pose(e.limb, {{}, 1.0, 0.3}).p;
  model.correction_poses = must(PoseSpaceWeights::create(model.rest->layout(), {neutral, bent}));
  model.corrections = {model.corrections[0], model.corrections[0] + 0.5 * model.linear[0]};
  const auto prepared = std::make_shared<const PreparedModel<double>>(std::make_shared<const PoseSpaceModel>(model));
  PoseInterpolation<double> pose(prepared);
  StepSystem<double> system(*prepared);
  const double c_mass = 1e4, c_linear = 2;
  const VecX b = random_vector(20, 7);
  const auto energy = [&](const std::vector<double>& p) {
    pose.update(p);
    EXPECT_TRUE(system.set(pose, c_mass, c_linear));
    // Of C alone, and with it.
    std::vector<double> product(static_cast<std::size_t>(prepared->stride), 0.0);
    pose.multiply(pose.correction(), e.padded(b).data(), product.data());
    return b.dot(Eigen::Map<const VecX>(product.data(), 20)) + system.inertia(pose, e.padded(b).data());
  };
  const double at_neutral = energy(neutral), at_bent = energy(bent);
  EXPECT_NEAR(at_bent - at_neutral, 0.5 * b.dot(model.linear[0] * b), 1e-9 * at_bent);
  EXPECT_NEAR(energy(neutral), at_neutral, 1e-12 * at_neutral);
}

TEST(StepSystem, PointsDownhillWhereStiffnessIsNegative) {
  // Squeezed flat, and with next to no inertia or damping: the matrix is not positive.
  Equations e(30);
  ASSERT_TRUE(e.system.set(e.forces.pose(), 1e-6, 1e-6));
  ASSERT_LT(Eigen::SelfAdjointEigenSolver<MatX>(e.stiffness()).eigenvalues()[0], 0);
  for (unsigned seed = 1; seed < 6; ++seed) {
    const VecX b = random_vector(20, seed);
    int iterations = 0;
    EXPECT_GT(e.solve(b, iterations).dot(b), 0);
  }
}

}  // namespace
}  // namespace supple
