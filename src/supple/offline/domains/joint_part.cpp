// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/domains/joint_part.h"

#include <Eigen/Geometry>

namespace supple {
namespace {

Index coordinates_of(JointKind kind) { return kind == JointKind::ball ? 3 : 1; }

/// v ↦ n × v by rows.
VecX cross_rows(const Vec3& n) {
  VecX rows(9);
  rows << 0, -n.z(), n.y(), n.z(), 0, -n.x(), -n.y(), n.x(), 0;
  return rows;
}

/// No mesh and no mass.
SubspaceModel empty_part(Index r) {
  SubspaceModel part;
  part.basis = MatX(0, r);
  part.surface.basis = MatX(0, r);
  MaterialGroup& group = part.groups.emplace_back();
  group.material = {.name = "joint", .young = 2, .poisson = 0, .density = 1};  // μ = 1
  group.lambda = group.mu = StiffnessPolynomial::zero(r);
  group.moments = MassMoments::zero(r);
  return part;
}

}  // namespace

SubspaceModel joint_part(const JointPlan& joint) {
  const Index r = coordinates_of(joint.kind);
  SubspaceModel part = empty_part(r);
  MaterialGroup& group = part.groups[0];
  for (Index l = 0; l < r; ++l) group.mu.constant[pair_index(l, l)] = joint.stiffness;
  return part;
}

SubspaceModel site_part() { return empty_part(0); }

DomainInterface joint_interface(JointKind kind, const Vec3& axis) {
  const Index r = coordinates_of(kind);
  DomainInterface face;
  face.move = MatX::Zero(3, r);
  face.turn = MatX::Zero(9, r);
  const Vec3 n = axis.normalized();
  if (kind == JointKind::slider) face.move.col(0) << n.x(), n.y(), n.z();
  if (kind == JointKind::hinge) face.turn.col(0) = cross_rows(n);
  if (kind == JointKind::ball)
    for (Index l = 0; l < 3; ++l) face.turn.col(l) = cross_rows(Vec3::Unit(l));
  return face;
}

}  // namespace supple
