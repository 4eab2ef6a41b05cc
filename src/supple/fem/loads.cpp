// SPDX-License-Identifier: Apache-2.0
#include "supple/fem/loads.h"

#include <Eigen/Geometry>

namespace supple {
namespace {

/// Half the cross product of two edges: the area along the normal.
Vec3 area_vector(const VecX& x, const Triangle& t) {
  const Vec3 origin = x.segment<3>(3 * t[0]);
  const Vec3 a = x.segment<3>(3 * t[1]) - origin;
  const Vec3 b = x.segment<3>(3 * t[2]) - origin;
  return 0.5 * a.cross(b);
}

}  // namespace

VecX gravity_force(const ElasticBody& body, const Vec3& acceleration) {
  return body.lumped_mass().cwiseProduct(acceleration.replicate(body.vertex_count(), 1));
}

void add_point_force(VecX& force, Index vertex, const Vec3& newtons) { force.segment<3>(3 * vertex) += newtons; }

void add_traction(VecX& force, const ElasticBody& body, std::span<const Triangle> triangles, const Vec3& traction) {
  for (const Triangle& t : triangles) {
    const Vec3 share = traction * (area_vector(body.rest_positions(), t).norm() / 3);
    for (const Index v : t) force.segment<3>(3 * v) += share;
  }
}

void add_pressure(VecX& force, const ElasticBody& body, const VecX& u, std::span<const Triangle> triangles,
                  double pressure) {
  const VecX x = body.rest_positions() + u;
  for (const Triangle& t : triangles) {
    const Vec3 share = area_vector(x, t) * (-pressure / 3);
    for (const Index v : t) force.segment<3>(3 * v) += share;
  }
}

}  // namespace supple
