// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/subspace/floating_contact.h"

#include <algorithm>
#include <cmath>

namespace supple {

void update_force(Contact& contact, const Vec3& motion, const ContactSettings& settings, double time_step) {
  const Vec3& n = contact.normal;
  const double along = n.dot(motion);
  const double depth = -(contact.gap + n.dot(motion - contact.foreseen_motion));
  contact.force.setZero();
  contact.normal_slope = contact.tangent_slope = 0.0;
  const double growth = 1 - settings.damping * along / time_step;
  if (!(depth > 0) || !(growth > 0)) return;
  const double normal_force = settings.stiffness * depth * growth;
  const Vec3 across = motion - along * n;
  contact.tangent_slope = settings.friction * normal_force / std::max(across.norm(), settings.stick_speed * time_step);
  contact.normal_slope = settings.stiffness * (growth + depth * settings.damping / time_step);
  contact.force = normal_force * n - contact.tangent_slope * across;
}

Vec3 point_motion(const FloatingBody& body, const BodyPoint& point) {
  const FloatingIncrement& step = body.increment();
  const Vec3 u = body.surface_rows().displacement(point.vertex, step.q.data());
  return body.rotation() * (step.translation + u + body.turning() * (point.place + u));
}

Vec3 point_correction(const FloatingBody& body, const BodyPoint& point, const double* correction) {
  const Eigen::Map<const Vec3> shift(correction), turn(correction + 3);
  return body.rotation() *
         (shift + turn.cross(point.place) + body.surface_rows().displacement(point.vertex, correction + 6));
}

void add_point_force(const FloatingBody& body, const BodyPoint& point, const Vec3& force, double* generalised) {
  const Vec3 f = body.rotation().transpose() * force;
  Eigen::Map<Vec3> linear(generalised), angular(generalised + 3);
  linear += f;
  angular += point.place.cross(f);
  const double newtons[3] = {f.x(), f.y(), f.z()};
  body.surface_rows().add_force(point.vertex, newtons, {generalised + 6, to_size(body.size())});
}

void foresee(const FloatingBody& body, const ContactShape& shape, double largest_row, ForeseenPose& pose) {
  const FloatingIncrement& step = body.increment();
  pose.position = body.state().position + body.rotation() * step.translation;
  pose.rotation = body.rotation() + body.rotation() * body.turning();
  pose.q = body.state().q + step.q;
  pose.ball_center = pose.position + pose.rotation * shape.center;
  pose.ball_radius = shape.radius + largest_row * pose.q.norm();
  pose.points_known = false;
}

void foresee_points(const FloatingBody& body, const ContactShape& shape, ForeseenPose& pose) {
  if (pose.points_known) return;
  for (std::size_t k = 0; k < shape.points.size(); ++k) {
    const Index v = shape.points[k];
    pose.points[k] = pose.position + pose.rotation * (body.surface_rest()[to_size(v)] +
                                                      body.surface_rows().displacement(v, pose.q.data()));
  }
  pose.points_known = true;
}

namespace {

/// A direction at a vertex, from the rest shape to the deformed one: along with the triangle beside the vertex.
Vec3 carried_along(const FloatingBody& body, const ContactShape& shape, const VecX& q, Index vertex,
                   const Vec3& direction) {
  const auto& other = shape.neighbours[to_size(vertex)];
  const auto edge = [&](Index to, bool deformed) -> Vec3 {
    Vec3 e = body.surface_rest()[to_size(to)] - body.surface_rest()[to_size(vertex)];
    if (deformed)
      e += body.surface_rows().displacement(to, q.data()) - body.surface_rows().displacement(vertex, q.data());
    return e;
  };
  const auto frame = [](const Vec3& e1, const Vec3& e2) {
    Mat3 axes;
    const Vec3 normal = e1.cross(e2).normalized();
    axes.col(0) = e1.normalized();
    axes.col(1) = normal.cross(axes.col(0));
    axes.col(2) = normal;
    return axes;
  };
  const Mat3 rest = frame(edge(other[0], false), edge(other[1], false));
  const Mat3 now = frame(edge(other[0], true), edge(other[1], true));
  const Vec3 local = rest.transpose() * direction;
  const Vec3 result = now * local;
  return result.allFinite() && result.norm() > 0.5 ? result : direction;
}

}  // namespace

bool query_body(const FloatingBody& body, const ContactShape& shape, const ForeseenPose& pose, const Vec3& point,
                BodyQuery& answer) {
  if ((point - pose.ball_center).squaredNorm() > pose.ball_radius * pose.ball_radius) return false;
  const Vec3 offset = point - pose.position;
  const Vec3 y = pose.rotation.transpose() * offset;
  // Back to rest: X = y − u(X), by two rounds with the displacement of the nearest vertex.
  Vec3 X = y;
  for (int round = 0; round < 2; ++round) {
    answer.vertex = shape.nearest_vertex(X);
    X = y - body.surface_rows().displacement(answer.vertex, pose.q.data());
  }
  if (!shape.holds(X)) return false;
  const ContactShape::Sample sample = shape.sample(X);
  if (!(sample.distance < 0)) return false;
  const double steepness = sample.gradient.norm();
  if (!(steepness > 1e-6)) return false;
  answer.distance = sample.distance;
  answer.normal = pose.rotation * carried_along(body, shape, pose.q, answer.vertex, sample.gradient / steepness);
  return true;
}

}  // namespace supple
