// SPDX-License-Identifier: Apache-2.0
// What rigid motion does, and what it must not do.
//   u = (R − I) X + t:          no energy, no force (small strain: for translations only)
//   any u:                      Σ f = 0 and Σ x × f = 0, because the energy ignores rigid motions
//   at u + rigid motion of it:  forces turn along, f(R x + t) = R f(x)
#include "support/bodies.h"

namespace supple::rigid_motion_test {
namespace {

class RigidMotion : public EveryBody {
 protected:
  BoxSpec spec{
      .size = Vec3(1, 2, 0.7), .cells = {3, 4, 2}, .distortion = 0.2, .distort_surface = true, .heterogeneous = true};
  ElasticBody body = box_body(kind(), spec, model());
  double scale = 7 * spec.material.young;  // stiffest Young's modulus times an area of one
};

TEST_P(RigidMotion, CostsNoEnergyAndGivesNoForce) {
  const Mat3 R = model() == MaterialModel::linear ? Mat3::Identity() : some_rotation();
  const VecX u = homogeneous(body, R, Vec3(4, -2, 9));
  const double force = force_at(body, u).lpNorm<Eigen::Infinity>() / scale;
  measured("force", force);
  EXPECT_LT(force, 1e-13);
  EXPECT_NEAR(body.energy(u) / scale, 0, 1e-14);
  EXPECT_NEAR(body.smallest_volume_ratio(u), 1, 1e-13);
}

TEST_P(RigidMotion, ForcesAddUpToNothing) {
  const VecX u = large_deformation(body, 2);
  const VecX f = force_at(body, u);
  Vec3 force = Vec3::Zero(), torque = Vec3::Zero();
  for (Index v = 0; v < body.vertex_count(); ++v) {
    const Vec3 x = rest_position(body, v) + u.segment<3>(3 * v);
    force += f.segment<3>(3 * v);
    torque += x.cross(f.segment<3>(3 * v));
  }
  measured("force", force.norm() / f.norm());
  EXPECT_LT(force.norm(), 1e-13 * f.norm());
  if (model() == MaterialModel::linear) {
    EXPECT_GT(torque.norm(), 1e-3 * f.norm()) << "small strain does not balance torques at large deformations";
  } else {
    measured("torque", torque.norm() / f.norm());
    EXPECT_LT(torque.norm(), 1e-12 * f.norm());
  }
}

TEST_P(RigidMotion, ForcesTurnWithTheBody) {
  if (model() == MaterialModel::linear) GTEST_SKIP() << "small strain is not made for finite rotations";
  const Mat3 R = some_rotation();
  const VecX u = large_deformation(body, 3);
  const VecX f = force_at(body, u);
  VecX turned(u.size()), expected(u.size());
  for (Index v = 0; v < body.vertex_count(); ++v) {
    const Vec3 X = rest_position(body, v);
    turned.segment<3>(3 * v) = R * (X + u.segment<3>(3 * v)) + Vec3(1, 2, 3) - X;
    expected.segment<3>(3 * v) = R * f.segment<3>(3 * v);
  }
  const double error = (force_at(body, turned) - expected).norm() / f.norm();
  measured("error", error);
  EXPECT_LT(error, 1e-12);
}

SUPPLE_FOR_EVERY_BODY(RigidMotion);

}  // namespace
}  // namespace supple::rigid_motion_test
