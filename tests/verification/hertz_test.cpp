// SPDX-License-Identifier: Apache-2.0
// Hertz 1882: a rigid sphere of radius R that is pressed by d into an elastic half-space meets it over a circle of
// radius a = √(R d) and bears F = 4/3 E/(1 − ν²) √R d^(3/2). Here the half-space is a box whose far sides are held
// where the force of a point would bring them (Boussinesq), which differs from Hertz by (a/L)².
#include "supple/offline/quasistatic/colliders.h"
#include "supple/offline/quasistatic/quasistatic_solver.h"

#include "support/bodies.h"

#include <numbers>

namespace supple::hertz_test {
namespace {

constexpr double young = 2000, poisson = 0.3, contact_radius = 1, sphere_radius = 20, far = 8;
constexpr double depth = contact_radius * contact_radius / sphere_radius;

double hertz_force() { return 4.0 / 3 * young / (1 - poisson * poisson) * contact_radius * depth; }

/// Cells that grow from the middle of the upper side, z = 0, outwards; z points into the body.
TetMesh half_space(int cells) {
  TetMesh mesh = make_tet_box(Vec3(2, 2, 1), {2 * cells, 2 * cells, cells});
  constexpr double growth = 3;
  const auto grade = [](double s) { return far * std::sinh(growth * s) / std::sinh(growth); };
  for (Vec3& x : mesh.vertices) x = Vec3(grade(x[0] - 1), grade(x[1] - 1), grade(x[2]));
  set_uniform_material(mesh, {.name = "rubber", .young = young, .poisson = poisson, .density = 1});
  return mesh;
}

/// Displacement under a force F along z at the origin of a half-space z > 0.
Vec3 boussinesq(const Vec3& x, double F) {
  const double r = x.norm(), rho = std::hypot(x[0], x[1]), z = x[2];
  const double scale = (1 + poisson) * F / (2 * std::numbers::pi * young);
  const double out = scale * (rho * z / (r * r * r) - (1 - 2 * poisson) * rho / (r * (r + z)));
  const double down = scale * (z * z / (r * r * r) + 2 * (1 - poisson) / r);
  return {rho > 0 ? out * x[0] / rho : 0.0, rho > 0 ? out * x[1] / rho : 0.0, down};
}

struct Pressed {
  double force = 0, radius = 0, deepest = 0;
};

Pressed press(int cells, QuasistaticMethod method, int passes, double tolerance) {
  const TetMesh mesh = half_space(cells);
  std::vector<Index> held;
  for (Index v = 0; v < std::ssize(mesh.vertices); ++v) {
    const Vec3& x = mesh.vertices[to_size(v)];
    if (std::max({std::abs(x[0]), std::abs(x[1]), x[2]}) > far - 1e-9) held.push_back(v);
  }
  ExRotatedBody body = ExRotatedBody::create(mesh, held).value();
  Collider sphere{.shape = Collider::Shape::sphere, .at = Vec3(0, 0, depth - sphere_radius), .radius = sphere_radius};
  ColliderContacts contacts(body, {sphere});
  QuasistaticSolver solver(std::move(body),
                           {.method = method, .tolerance = tolerance, .contact_tolerance = 1e2 * tolerance});
  const ExRotatedBody& rubber = solver.body();
  VecX x(3 * Eigen::Index{rubber.vertex_count()});
  for (Index v = 0; v < rubber.vertex_count(); ++v) {
    const Vec3& X = rubber.rest()[to_size(v)];
    x.segment<3>(3 * Eigen::Index{v}) = v < rubber.free().end ? X : Vec3(X + boussinesq(X, hertz_force()));
  }
  const std::vector<Eigen::Vector4d> still(mesh.vertices.size(), Eigen::Vector4d::UnitW());
  // Rotations of the rig cost energy where flesh turns otherwise. Those of the rubber itself are found in turns with
  // its equilibrium: then it is as elastic as in the closed form.
  QuasistaticReport report;
  for (int k = 0; k < passes; ++k) {
    report = solver.solve(still, x, &contacts, Vec3::Zero(), k > 0);
    solver.turn_elements(rubber.rotations_of(x));
  }
  EXPECT_TRUE(report.converged);
  // What the sphere pushes with is what the rubber beneath pushes back with.
  VecX f = VecX::Zero(x.size());
  rubber.force(x, rubber.free(), f);
  Pressed pressed{.deepest = report.deepest};
  for (Index v = 0; v < rubber.free().end; ++v) {
    if (rubber.rest()[to_size(v)][2] != 0) continue;
    pressed.force -= f[3 * v + 2];
    if (f.segment<3>(3 * Eigen::Index{v}).norm() > 1e-4 * hertz_force())
      pressed.radius = std::max(pressed.radius, rubber.rest()[to_size(v)].head<2>().norm());
  }
  return pressed;
}

TEST(Hertz, ASphereThatIsPressedIntoAHalfSpaceBearsTheForceOfTheClosedForm) {
  const Pressed coarse = press(8, QuasistaticMethod::volume, 12, 1e-8),
                fine = press(16, QuasistaticMethod::volume, 12, 1e-8);
  const double error = std::abs(fine.force / hertz_force() - 1);
  EXPECT_LT(error, 0.03);
  // Half the edge length: an error of second order falls to a quarter.
  EXPECT_LT(error, 0.5 * std::abs(coarse.force / hertz_force() - 1));
  // The rim lies between two vertices, which are 0.2 apart there.
  EXPECT_NEAR(fine.radius, contact_radius, 0.2);
  EXPECT_LT(fine.deepest, 1e-4 * depth);
}

TEST(Hertz, SurfaceAndVolumeBearTheSame) {
  const Pressed surface = press(8, QuasistaticMethod::surface, 1, 1e-9),
                volume = press(8, QuasistaticMethod::volume, 1, 1e-9);
  EXPECT_NEAR(surface.force, volume.force, 1e-4 * volume.force);
}

}  // namespace
}  // namespace supple::hertz_test
