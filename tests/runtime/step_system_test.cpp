// SPDX-License-Identifier: Apache-2.0
// The equations of a step, solved by products, beside the same equations summed up and factorised.
#include "supple/runtime/posespace/step_system.h"

#include "support/bodies.h"
#include "support/dense_truth.h"
#include "support/soft_limb.h"

namespace supple::step_system_test {
namespace {

struct Equations {
  SoftLimb limb = make_soft_limb();
  ReducedBody reduced = must(reduce_body(limb.body, limb.rig.rig(), {}, small_reduction(20)));
  std::shared_ptr<const PreparedModel<double>> prepared = std::make_shared<const PreparedModel<double>>(reduced.model);
  CubatureForces<double> forces{prepared};
  StepSystem<double> system{*prepared};
  VecX q;                     ///< where forces are
  std::vector<double> delta;  ///< the last solution, padded

  explicit Equations(double amplitude) {
    q = amplitude * random_vector(prepared->size, 3).cwiseQuotient(reduced.model->stiffness.cwiseSqrt());
    set_pose(limb.rig.neutral().p);
  }
  /// Of bases and corrections alone.
  void set_pose(const std::vector<double>& p) {
    std::vector<Vec3> rest;
    for (const Index v : reduced.model->points) rest.push_back(limb.body.mesh.vertices[to_size(v)]);
    forces.set_pose(p, rest);
    forces.evaluate(padded(q).data());
  }
  std::vector<double> padded(const VecX& x) const {
    std::vector<double> result(to_size(prepared->stride), 0.0);
    std::copy(x.begin(), x.end(), result.begin());
    return result;
  }
  MatX stiffness() {
    const int r = prepared->size;
    MatX K(r, r);
    for (int c = 0; c < r; ++c) {
      std::vector<double> column(to_size(prepared->stride), 0.0);
      forces.multiply_stiffness(padded(VecX::Unit(r, c)).data(), column.data());
      K.col(c) = Eigen::Map<const VecX>(column.data(), r);
    }
    return K;
  }
  VecX solve(const VecX& b, int& iterations, double precision = 1e-3) {
    delta.assign(to_size(prepared->stride), 0.0);
    iterations = system.solve(forces, padded(b).data(), delta.data(), precision);
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
    const VecX exact = truth::solve_symmetric(A, b);
    int iterations = 0;
    const VecX found = e.solve(b, iterations), error = found - exact;
    EXPECT_LT(std::sqrt(error.dot(A * error)), 3e-3 * std::sqrt(exact.dot(A * exact))) << amplitude;
    EXPECT_LE(iterations, amplitude == 0 ? 3 : 12) << amplitude;
    const double inertia = found.dot((c_mass * MatX::Identity(20, 20) + c_linear * e.reduced.model->linear[0]) * found);
    EXPECT_NEAR(e.system.inertia(e.forces, e.delta.data()), inertia, 1e-9 * inertia);
  }
}

TEST(StepSystem, KnowsTheEnergyAlongItsSolution) {
  Equations e(0.3);
  ASSERT_TRUE(e.system.set(e.forces.pose(), 4 * 240.0 * 240.0, 2));
  int iterations = 0;
  const VecX found = e.solve(random_vector(20, 7), iterations);
  const double there = e.forces.energy(e.padded(e.q).data());
  const VecX step = found * (0.5 * e.q.norm() / found.norm());
  e.system.inertia(e.forces, e.delta.data());
  for (const double length : {0.0, -0.3, 1.0}) {
    const double way = length * step.norm() / found.norm();
    const double expected = e.forces.energy(e.padded(e.q + length * step).data());
    EXPECT_NEAR(e.forces.energy_along(way), expected, 1e-9 * expected) << length;
    EXPECT_TRUE(length == 0 || std::abs(expected - there) > 0.01 * there) << length;
  }
}

TEST(StepSystem, FollowsCorrectionsOfOtherPoses) {
  // A model of one pose, whose correction is another where the knee is bent: only that changes.
  Equations e(0);
  PoseSpaceModel model = *e.reduced.model;
  const std::vector<double> neutral = e.limb.rig.neutral().p, bent = limb_pose(e.limb, {{}, 1.0, 0.3}).p;
  model.correction_poses = must(PoseSpaceWeights::create(model.rest->layout(), {neutral, bent}));
  model.corrections = {model.corrections[0], model.corrections[0] + 0.5 * model.linear[0]};
  e.prepared = std::make_shared<const PreparedModel<double>>(std::make_shared<const PoseSpaceModel>(model));
  e.forces = CubatureForces<double>(e.prepared);
  e.system = StepSystem<double>(*e.prepared);
  const double c_mass = 1e4, c_linear = 2;
  const VecX b = random_vector(20, 7);
  // The body stands still, so that C alone is another.
  const auto solution = [&](const std::vector<double>& p) {
    e.set_pose(p);
    EXPECT_TRUE(e.system.set(e.forces.pose(), c_mass, c_linear));
    const MatX A = c_mass * MatX::Identity(20, 20) + c_linear * model.linear[0] + e.stiffness();
    const VecX exact = truth::solve_symmetric(A, b);
    int iterations = 0;
    EXPECT_LT((e.solve(b, iterations, 1e-9) - exact).norm(), 1e-7 * exact.norm());
    return exact;
  };
  const VecX at_neutral = solution(neutral), at_bent = solution(bent);
  EXPECT_GT((at_bent - at_neutral).norm(), 0.01 * at_neutral.norm());
  EXPECT_LT((solution(neutral) - at_neutral).norm(), 1e-12 * at_neutral.norm());
}

TEST(StepSystem, PointsDownhillWhereStiffnessIsNegative) {
  // Squeezed flat, and with next to no inertia or damping: the matrix is not positive.
  Equations e(30);
  ASSERT_TRUE(e.system.set(e.forces.pose(), 1e-6, 1e-6));
  ASSERT_LT(truth::eigenvalues(e.stiffness())[0], 0);
  for (unsigned seed = 1; seed < 6; ++seed) {
    const VecX b = random_vector(20, seed);
    int iterations = 0;
    EXPECT_GT(e.solve(b, iterations).dot(b), 0);
  }
}

}  // namespace
}  // namespace supple::step_system_test
