// SPDX-License-Identifier: Apache-2.0
// Rotations of interfaces and their derivatives against finite differences, and the integrals of inertia in a moving
// frame against sums over all vertices.
#include "supple/offline/domains/interface_fit.h"
#include "supple/runtime/domains/body_terms.h"
#include "supple/runtime/domains/interface_motion.h"
#include "support/domain_bodies.h"

#include <gtest/gtest.h>

#include <random>

namespace supple::domain_kinematics_test {
namespace {

using domains::InterfaceTurn;
using domains::Matrix3;
using domains::polar_rotation;
using domains::Vector3;

class Numbers {
 public:
  double next() { return uniform_(random_); }
  Mat3 matrix() {
    Mat3 m;
    for (double& value : m.reshaped()) value = next();
    return m;
  }
  Vec3 vector() { return {next(), next(), next()}; }
  VecX vector(Eigen::Index n) {
    VecX v(n);
    for (double& value : v) value = next();
    return v;
  }

 private:
  std::mt19937 random_{7};
  std::uniform_real_distribution<double> uniform_{-1, 1};
};

Matrix3<double> lanes(const Mat3& m) {
  Matrix3<double> out;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) out(i, j) = m(i, j);
  return out;
}
Mat3 plain(const Matrix3<double>& m) {
  Mat3 out;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) out(i, j) = m(i, j);
  return out;
}
Vec3 plain(const Vector3<double>& v) { return {v.x, v.y, v.z}; }
Vec3 axis_of(const Mat3& W) { return 0.5 * Vec3(W(2, 1) - W(1, 2), W(0, 2) - W(2, 0), W(1, 0) - W(0, 1)); }

/// A far from a rotation, even near singular, even inside out.
std::vector<Mat3> shapes(Numbers& random) {
  std::vector<Mat3> all = {Mat3::Identity()};
  for (int k = 0; k < 20; ++k) all.push_back(Mat3::Identity() + 0.5 * random.matrix());
  for (int k = 0; k < 20; ++k) all.push_back(random.matrix());
  all.push_back(Vec3(1, 0.8, 1e-4).asDiagonal());
  all.push_back(Vec3(1, 0.8, -0.1).asDiagonal());
  return all;
}

TEST(InterfaceMotion, RotationMakesTheRestSymmetric) {
  Numbers random;
  for (const Mat3& A : shapes(random)) {
    const Mat3 Q = plain(polar_rotation(lanes(A)));
    EXPECT_LT((Q.transpose() * Q - Mat3::Identity()).norm(), 1e-12);
    EXPECT_GT(Q.determinant(), 0);
    const Mat3 S = Q.transpose() * A;
    EXPECT_LT((S - S.transpose()).norm(), 1e-9 * A.norm());
  }
}

TEST(InterfaceMotion, FirstAndSecondDerivativesAreThoseOfFiniteDifferences) {
  Numbers random;
  for (int k = 0; k < 30; ++k) {
    const Mat3 A = Mat3::Identity() + 0.4 * random.matrix(), V = random.matrix(), B = random.matrix();
    const auto Q = [&](double t) { return plain(polar_rotation(lanes(A + t * V + t * t / 2 * B))); };
    const InterfaceTurn<double> turn(lanes(A));
    const Vector3<double> omega = turn.velocity(lanes(V));
    const double e = 1e-5;
    const Mat3 Q_dot = (Q(e) - Q(-e)) / (2 * e);
    EXPECT_LT((plain(omega) - axis_of(Q_dot * Q(0).transpose())).norm(), 1e-8);
    const double f = 1e-3;  // the second difference loses digits twice
    const Mat3 Q_ddot = (Q(f) - 2 * Q(0) + Q(-f)) / (f * f);
    // R̈ = (ω̇~ + ω̃²) R
    const Vec3 alpha = plain(turn.bias(lanes(V), omega)) + plain(turn.velocity(lanes(B)));
    EXPECT_LT((alpha - axis_of(Q_ddot * Q(0).transpose())).norm(), 2e-4 * (1 + alpha.norm()));
    Vector3<double> Z[9];
    turn.jacobian(Z);
    Vec3 sum = Vec3::Zero();
    for (int i = 0; i < 9; ++i) sum += V(i / 3, i % 3) * plain(Z[i]);
    EXPECT_LT((sum - plain(omega)).norm(), 1e-12 * (1 + sum.norm()));
  }
}

TEST(InterfaceMotion, LanesAgreeWithScalars) {
  Numbers random;
  const std::vector<Mat3> all = shapes(random);
  for (std::size_t k = 0; k + 4 <= all.size(); k += 4) {
    Matrix3<Pack4> A;
    for (int i = 0; i < 9; ++i)
      for (int lane = 0; lane < 4; ++lane) A.m[i].set(lane, all[k + to_size(lane)](i / 3, i % 3));
    const Matrix3<Pack4> Q = polar_rotation(A);
    for (int lane = 0; lane < 4; ++lane) {
      const Mat3 alone = plain(polar_rotation(lanes(all[k + to_size(lane)])));
      for (int i = 0; i < 9; ++i) EXPECT_NEAR(Q.m[i][lane], alone(i / 3, i % 3), 1e-9);
    }
  }
}

/// W1 to W7 against Eq. 13: a(X) is linear in the vertices, so that Uᵀ M a with the consistent mass is the integral.
TEST(BodyTerms, SystemForcesAreThoseOfDirectQuadrature) {
  const TetMesh mesh = soft_beam(Vec3(0.3, 0.1, 0.12), {3, 1, 1});
  PartPlan plan{.name = "part", .mesh = mesh, .fixed = left_end(mesh), .size = 7};
  PartReport report;
  const SubspaceModel part = reduce_part(plan, report).value();
  const PreparedPart prepared(part, nullptr);
  const ElasticBody body = ElasticBody::create(mesh, MaterialModel::stvk).value();
  Numbers random;
  const Index r = part.size(), n = part.vertex_count();
  for (const double s : {1.0, 1.7}) {
    const VecX q = 0.02 * random.vector(r), q_dot = random.vector(r);
    const Vec3 omega = 3 * random.vector(), a = random.vector(), alpha = random.vector();
    // By vertices.
    const VecX u = part.basis * q, u_dot = part.basis * q_dot;
    VecX acceleration(3 * n), bias(3 * n);
    for (Index v = 0; v < n; ++v) {
      const Vec3 p = s * (part.rest_positions[to_size(v)] + u.segment<3>(3 * v)), rate = s * u_dot.segment<3>(3 * v);
      bias.segment<3>(3 * v) = omega.cross(omega.cross(p)) + 2 * omega.cross(rate);
      acceleration.segment<3>(3 * v) = a + alpha.cross(p) + bias.segment<3>(3 * v);
    }
    const double s3 = s * s * s;
    const VecX force = s3 * (body.consistent_mass() * acceleration), slow = s3 * (body.consistent_mass() * bias);
    const VecX expected = s * part.basis.transpose() * force, expected_bias = s * part.basis.transpose() * slow;
    Vec3 sum = Vec3::Zero(), torque = Vec3::Zero();
    for (Index v = 0; v < n; ++v) {
      const Vec3 p = s * (part.rest_positions[to_size(v)] + u.segment<3>(3 * v)), f = force.segment<3>(3 * v);
      sum += f;
      torque += p.cross(f);
    }
    // By integrals.
    Pack4 scales[PreparedTree::constant_count];
    scales[PreparedTree::scale3] = Pack4(s3);
    scales[PreparedTree::scale4] = Pack4(s3 * s);
    scales[PreparedTree::scale5] = Pack4(s3 * s * s);
    std::vector<Pack4> ql(to_size(r)), vl(to_size(r)), coupling(to_size(6 * r)), h(to_size(r));
    for (Index l = 0; l < r; ++l) {
      ql[to_size(l)] = Pack4(q[l]);
      vl[to_size(l)] = Pack4(q_dot[l]);
    }
    const auto lane = [](const Vec3& v) { return domains::LaneVector{Pack4(v.x()), Pack4(v.y()), Pack4(v.z())}; };
    const domains::BodyTerms terms =
        domains::body_terms(prepared, scales, ql.data(), vl.data(), lane(omega), coupling.data(), h.data());
    const double size = expected.norm();
    for (Index l = 0; l < r; ++l) {
      const Pack4* row = coupling.data() + 6 * l;
      double value = h[to_size(l)][0];
      EXPECT_NEAR(value, expected_bias[l], 1e-10 * size);
      for (int i = 0; i < 3; ++i) value += row[i][0] * a[i] + row[3 + i][0] * alpha[i];
      EXPECT_NEAR(value, expected[l], 1e-10 * size);
    }
    const auto first = [](const domains::LaneVector& v) { return Vec3(v.x[0], v.y[0], v.z[0]); };
    const domains::LaneVector A = lane(a), B = lane(alpha);
    const Vec3 f = first(terms.inertia.force * A + terms.inertia.mixed * B + terms.force);
    const Vec3 t = first(transposed_times(terms.inertia.mixed, A) + terms.inertia.torque * B + terms.torque);
    EXPECT_LT((f - sum).norm(), 1e-10 * sum.norm());
    EXPECT_LT((t - torque).norm(), 1e-10 * torque.norm());
  }
}

TEST(InterfaceFit, FollowsRigidMotionAndRefusesWhatHoldsNothing) {
  // A "basis" of the linear parts of rigid motions: the interface must move with them exactly.
  const TetMesh mesh = soft_beam();
  PartReport report;
  SubspaceModel part = reduce_part({.name = "rigid", .mesh = mesh, .fixed = {}, .size = 0}, report).value();
  part.basis = MatX::Zero(3 * part.vertex_count(), 6);
  const Vec3 axis(0.3, -0.5, 0.8);
  for (Index v = 0; v < part.vertex_count(); ++v)
    for (Index l = 0; l < 3; ++l) {
      part.basis.col(l)[3 * v + l] = 1;
      part.basis.col(3 + l).segment<3>(3 * v) = Vec3::Unit(l).cross(part.rest_positions[to_size(v)]);
    }
  std::vector<Index> face;
  for (Index v = 0; v < part.vertex_count(); ++v)
    if (part.rest_positions[to_size(v)].x() > 0.9 - 1e-9) face.push_back(v);
  for (const auto& fit : {fit_interface(part, face), attach_at(part, Vec3(0.5, 0.05, 0.06), 0)}) {
    ASSERT_TRUE(fit.ok());
    for (Index l = 0; l < 3; ++l) {
      EXPECT_LT((fit->move.col(l) - Vec3::Unit(l)).norm(), 1e-12);
      EXPECT_LT(fit->turn.col(l).norm(), 1e-10);
      EXPECT_LT((fit->move.col(3 + l) - Vec3::Unit(l).cross(fit->centre)).norm(), 1e-12);
      Mat3 W;
      for (int i = 0; i < 9; ++i) W(i / 3, i % 3) = fit->turn(i, 3 + l);
      EXPECT_LT((W * axis - Vec3::Unit(l).cross(axis)).norm(), 1e-9);
    }
  }
  EXPECT_FALSE(fit_interface(part, std::vector<Index>{0, 1}).ok());
  const Result<DomainInterface> line = fit_interface(part, std::vector<Index>{0, 1, 2, 3});  // along x
  ASSERT_FALSE(line.ok());
  EXPECT_NE(line.error().message.find("line"), std::string::npos);
}

}  // namespace
}  // namespace supple::domain_kinematics_test
