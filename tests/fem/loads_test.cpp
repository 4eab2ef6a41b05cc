// SPDX-License-Identifier: Apache-2.0
#include "supple/fem/loads.h"

#include "support/bodies.h"

#include <algorithm>
#include <map>

namespace supple::loads_test {
namespace {

/// Faces of the tetrahedra that belong to one element only, counter-clockwise from outside.
std::vector<Triangle> surface_of(const TetMesh& mesh) {
  std::map<Triangle, Triangle> open;  // sorted corners → oriented face
  for (const auto& t : mesh.elements) {
    for (const Triangle& face : {Triangle{t[0], t[2], t[1]}, Triangle{t[0], t[1], t[3]}, Triangle{t[1], t[2], t[3]},
                                 Triangle{t[0], t[3], t[2]}}) {
      Triangle key = face;
      std::sort(key.begin(), key.end());
      if (!open.erase(key)) open[key] = face;
    }
  }
  std::vector<Triangle> result;
  for (const auto& [key, face] : open) result.push_back(face);
  return result;
}

Vec3 total(const VecX& force) {
  return Eigen::Map<const Eigen::Matrix3Xd>(force.data(), 3, force.size() / 3).rowwise().sum();
}

Vec3 torque(const ElasticBody& body, const VecX& u, const VecX& force) {
  Vec3 sum = Vec3::Zero();
  for (Index v = 0; v < body.vertex_count(); ++v)
    sum += (rest_position(body, v) + u.segment<3>(3 * v)).cross(force.segment<3>(3 * v));
  return sum;
}

TEST(Loads, GravityIsWeightAtTheCentreOfMass) {
  for (const ElementKind kind : all_elements) {
    const BoxSpec spec{.size = Vec3(1, 2, 3), .cells = {2, 2, 3}, .distortion = 0.2};
    const ElasticBody body = box_body(kind, spec, MaterialModel::stvk);
    const Vec3 g(1, 0, -10);
    const VecX f = gravity_force(body, g);
    const double mass = 6 * spec.material.density;
    EXPECT_LT((total(f) - mass * g).norm(), 1e-12 * mass);
    EXPECT_LT((torque(body, VecX::Zero(f.size()), f) - (0.5 * spec.size).cross(mass * g)).norm(), 1e-11 * mass);
  }
}

TEST(Loads, PointForcesAddUp) {
  VecX f = VecX::Zero(12);
  add_point_force(f, 2, Vec3(1, 2, 3));
  add_point_force(f, 2, Vec3(1, 0, 0));
  EXPECT_EQ(Vec3(f.segment<3>(6)), Vec3(2, 2, 3));
  EXPECT_EQ(f.head<6>().norm() + f.tail<3>().norm(), 0);
}

TEST(Loads, TractionIsForcePerRestArea) {
  const TetMesh mesh = tet_box({.size = Vec3(1, 2, 3), .cells = {2, 3, 2}});
  const ElasticBody body = body_of(mesh, MaterialModel::stvk);
  std::vector<Triangle> end;
  for (const Triangle& t : surface_of(mesh)) {
    if (std::all_of(t.begin(), t.end(), [&](Index v) { return mesh.vertices[to_size(v)][0] > 1 - 1e-9; }))
      end.push_back(t);
  }
  VecX f = VecX::Zero(body.dof_count());
  add_traction(f, body, end, Vec3(5, 0, -2));
  EXPECT_LT((total(f) - 6 * Vec3(5, 0, -2)).norm(), 1e-12);
  EXPECT_LT((torque(body, VecX::Zero(f.size()), f) - Vec3(1, 1, 1.5).cross(6 * Vec3(5, 0, -2))).norm(), 1e-11);
}

TEST(Loads, PressureFollowsTheDisplacedSurface) {
  const TetMesh mesh = tet_box({.size = Vec3(1, 2, 3), .cells = {2, 3, 2}, .distortion = 0.2});
  const ElasticBody body = body_of(mesh, MaterialModel::stvk);
  const std::vector<Triangle> surface = surface_of(mesh);
  // Around a closed surface pressure has no resultant and no torque; its work is −p times the change of volume.
  const VecX u = large_deformation(body, 1);
  VecX f = VecX::Zero(body.dof_count());
  add_pressure(f, body, u, surface, 7);
  EXPECT_LT(total(f).norm(), 1e-12 * f.norm());
  EXPECT_LT(torque(body, u, f).norm(), 1e-12 * f.norm());

  const Mat3 F = some_rotation() * Vec3(1.1, 0.9, 1.2).asDiagonal();
  const VecX stretched = homogeneous(body, F);
  VecX p = VecX::Zero(body.dof_count());
  add_pressure(p, body, stretched, surface, 7);
  // Along a growing of the displaced body x → (1 + t) x the volume V grows at the rate 3 V.
  const VecX x = body.rest_positions() + stretched;
  EXPECT_NEAR(p.dot(x), -7 * 3 * 6 * F.determinant(), 1e-10);
}

}  // namespace
}  // namespace supple::loads_test
