// SPDX-License-Identifier: Apache-2.0
// The default stiffness: as the frequency says, and more where flesh would swing farther than it is thick.
#include "supple/offline/fitting/limit_sway.h"

#include "supple/fem/linear_solver.h"
#include "supple/offline/fitting/flesh_frequency.h"

#include "support/bodies.h"

namespace supple::limit_sway_test {
namespace {

constexpr MaterialModel model = MaterialModel::stable_neo_hookean;

/// A bar along x, ten times as long as it is thick.
TetMesh bar(double scale = 1) {
  BoxSpec spec;
  spec.size = scale * Vec3(1, 0.1, 0.1);
  spec.cells = {40, 4, 4};
  return tet_box(spec);
}

MatX sideways(const TetMesh& mesh, double acceleration) {
  MatX a = MatX::Zero(3 * std::ssize(mesh.vertices), 1);
  for (Eigen::Index i = 1; i < a.rows(); i += 3) a(i, 0) = acceleration;
  return a;
}

/// How far the far end gives way to the acceleration.
double sag(const TetMesh& mesh, const MatX& acceleration) {
  const ElasticBody body = must(ElasticBody::create(mesh, model));
  BlockMatrix K = body.make_matrix();
  VecX f(body.dof_count()), x;
  body.internal_force_and_stiffness(VecX::Zero(body.dof_count()), f, K);
  LinearSolver solver(must(FreeVertices::create(body, left_face(body))), {});
  EXPECT_TRUE(solver.solve(K, body.consistent_mass() * VecX(acceleration.col(0)), x).solved());
  return x.lpNorm<Eigen::Infinity>();
}

TEST(LimitSway, WithoutMotionTheFrequencyDecides) {
  TetMesh mesh = bar();
  const std::vector<Index> held = left_face(must(ElasticBody::create(mesh, model)));
  ASSERT_TRUE(limit_sway(mesh, held, model, 4, {}, 1).ok());
  EXPECT_NEAR(must(flesh_frequency(must(ElasticBody::create(mesh, model)), held)), 4, 1e-9);
  EXPECT_EQ(mesh.materials.size(), 1);
}

TEST(FleshFrequency, KnowsNoAxes) {
  TetMesh straight = bar(), turned = bar();
  const Mat3 R = Eigen::AngleAxisd(0.7, Vec3(1, 2, 2) / 3).toRotationMatrix();
  for (Vec3& x : turned.vertices) x = R * x;
  const std::vector<Index> held = left_face(must(ElasticBody::create(straight, model)));
  EXPECT_NEAR(must(flesh_frequency(must(ElasticBody::create(turned, model)), held)),
              must(flesh_frequency(must(ElasticBody::create(straight, model)), held)), 1e-6);
}

TEST(LimitSway, ThinFleshSwaysByAShareOfItsThickness) {
  TetMesh soft = bar(), limited = bar();
  const std::vector<Index> held = left_face(must(ElasticBody::create(soft, model)));
  const MatX a = sideways(soft, 80);
  ASSERT_TRUE(limit_sway(soft, held, model, 4, {}, 1).ok());
  ASSERT_TRUE(limit_sway(limited, held, model, 4, a, 1).ok());
  const double limit = 0.04;     // of the extent, less than half the thickness
  EXPECT_GT(sag(soft, a), 0.1);  // ω = 2π 4 Hz: a/ω² is 13 cm
  EXPECT_LT(sag(limited, a), 1.02 * limit);
  EXPECT_GT(sag(limited, a), 0.7 * limit);  // no stiffer than it must be
}

TEST(LimitSway, GentleMotionChangesNothing) {
  TetMesh still = bar(), gentle = bar();
  const std::vector<Index> held = left_face(must(ElasticBody::create(still, model)));
  ASSERT_TRUE(limit_sway(still, held, model, 4, {}, 1).ok());
  ASSERT_TRUE(limit_sway(gentle, held, model, 4, sideways(gentle, 1), 1).ok());
  EXPECT_NEAR(sag(gentle, sideways(gentle, 1)), sag(still, sideways(still, 1)), 1e-9);
}

TEST(LimitSway, KnowsNoScale) {
  TetMesh small = bar(), large = bar(100);
  const std::vector<Index> held = left_face(must(ElasticBody::create(small, model)));
  ASSERT_TRUE(limit_sway(small, held, model, 4, sideways(small, 40), 1).ok());
  ASSERT_TRUE(limit_sway(large, held, model, 4, sideways(large, 4000), 100).ok());
  const double s = sag(small, sideways(small, 40));
  EXPECT_NEAR(sag(large, sideways(large, 4000)) / 100, s, 1e-6 * s);
}

TEST(LocalThickness, OfABarIsItsSide) {
  const TetMesh mesh = bar();
  const std::vector<double> thickness = local_thickness(mesh);
  for (std::size_t v = 0; v < thickness.size(); ++v) {
    const Vec3 x = mesh.vertices[v];
    if (std::abs(x.x() - 0.5) < 0.4 && std::abs(x.y() - 0.05) < 0.03 && std::abs(x.z() - 0.05) < 0.03) {
      EXPECT_NEAR(thickness[v], 0.1, 1e-9);
    }
  }
}

}  // namespace
}  // namespace supple::limit_sway_test
