// SPDX-License-Identifier: Apache-2.0
// Contact of free bodies with planes and with each other, by penalty.
//
// A contact is a surface vertex of body A and either a plane or a point of body B. During a step it has one normal n
// (towards A), and its gap follows the relative motion r of the two points in that step, g = g* + n·(r − r*), where *
// is the motion foreseen when contacts were looked for. With depth δ = max(0, −g) and r = n r_n + r_t:
//   normal force    f_n = k δ max(0, 1 − c r_n/h)                      (Hunt and Crossley 1975)
//   friction        f_t = −μ f_n r_t / max(|r_t|, v_s h)               (Coulomb, a straight line below v_s)
// The same force acts on both bodies at the same place of the world, so it changes no sum of momenta. It is taken at
// the end of the step (backward Euler): stable for any k, dissipative when h √(k/m) is large.
#pragma once

#include "supple/asset/contact_shape.h"
#include "supple/runtime/subspace/floating_body.h"

namespace supple {

struct ContactSettings {
  double stiffness = 2e4;     ///< k, of each point [N/m]
  double damping = 0.2;       ///< c [s/m]: a bounce at v loses about c v of its speed
  double friction = 0.5;      ///< μ
  double stick_speed = 1e-3;  ///< v_s [m/s]: objects on a slope creep at most this fast
};

/// Everything above it is free: n·x ≥ offset.
struct ContactPlane {
  Vec3 normal = Vec3::UnitY();
  double offset = 0.0;
};

/// A point fixed to a body for one step; its deformation is that of a surface vertex.
struct BodyPoint {
  int body = -1;  ///< −1: the world
  int vertex = 0;
  Vec3 place = Vec3::Zero();  ///< y₀, in the body's frame at the start of the step
};

struct Contact {
  BodyPoint a, b;
  Vec3 normal = Vec3::UnitY();          ///< n, world
  Vec3 where = Vec3::Zero();            ///< at the start of the step, world
  double gap = 0.0;                     ///< g*
  Vec3 foreseen_motion = Vec3::Zero();  ///< r*
  Vec3 force = Vec3::Zero();            ///< on A, world [N]
  double normal_slope = 0.0;            ///< −∂f/∂r along n [N/m]
  double tangent_slope = 0.0;           ///< … and across it
};

/// Force and slopes for the relative motion r.
void update_force(Contact& contact, const Vec3& motion, const ContactSettings& settings, double time_step);

/// Gives how a point of a body moves in the present increment, in the world, exactly.
Vec3 point_motion(const FloatingBody& body, const BodyPoint& point);
/// Gives how such a point moves with a small correction of the increment (6 + r entries), in the world.
Vec3 point_correction(const FloatingBody& body, const BodyPoint& point, const double* correction);
/// generalised += what a force at the point (world) does to the body: the transpose.
void add_point_force(const FloatingBody& body, const BodyPoint& point, const Vec3& force, double* generalised);

/// A body's pose at the end of its present increment.
struct ForeseenPose {
  Vec3 position = Vec3::Zero();
  Mat3 rotation = Mat3::Identity();
  VecX q;
  Vec3 ball_center = Vec3::Zero();  ///< a ball around the deformed surface, world
  double ball_radius = 0.0;
  std::vector<Vec3> points;  ///< world positions of the shape's points
  bool points_known = false;
};
void foresee(const FloatingBody& body, const ContactShape& shape, double largest_row, ForeseenPose& pose);
void foresee_points(const FloatingBody& body, const ContactShape& shape, ForeseenPose& pose);

/// Where a point of the world lies in a deformed body: how deep, which way leads out, and the vertex that it moves
/// with.
struct BodyQuery {
  double distance = 0.0;
  Vec3 normal = Vec3::UnitY();  ///< world
  int vertex = 0;
};
/// Finds where a point lies in a body. Returns false when it is outside.
bool query_body(const FloatingBody& body, const ContactShape& shape, const ForeseenPose& pose, const Vec3& point,
                BodyQuery& answer);

}  // namespace supple
