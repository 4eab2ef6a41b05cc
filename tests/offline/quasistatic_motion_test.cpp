// SPDX-License-Identifier: Apache-2.0
// Friction and inertia of flesh against closed forms: Coulomb's law on a plate and on a slope, and a rod's tone.
#include "supple/offline/quasistatic/colliders.h"
#include "supple/offline/quasistatic/flesh_swing.h"
#include "supple/offline/quasistatic/quasistatic_solver.h"

#include "support/bodies.h"

#include <numbers>

namespace supple::quasistatic_motion_test {
namespace {

std::vector<Eigen::Vector4d> no_turns(const ExRotatedBody& body) {
  return std::vector<Eigen::Vector4d>(to_size(body.vertex_count()), Eigen::Vector4d::UnitW());
}

VecX at_rest(const ExRotatedBody& body) {
  VecX x(3 * Eigen::Index{body.vertex_count()});
  for (Index v = 0; v < body.vertex_count(); ++v) x.segment<3>(3 * Eigen::Index{v}) = body.rest()[to_size(v)];
  return x;
}

/// A block that is held by its top, pressed on a plate, and pulled along it in several frames.
struct Pulled {
  double moved = 0;  ///< of the bottom's vertices, the farthest
  Vec3 force = Vec3::Zero();
};
Pulled pull_over_plate(QuasistaticMethod method, double friction, double way, bool carried = false) {
  TetMesh mesh = make_tet_box(Vec3(1, 1, 1), {4, 4, 4});
  set_uniform_material(mesh, {.name = "flesh", .young = 5000, .poisson = 0, .density = 1});
  std::vector<Index> top;
  for (Index v = 0; v < std::ssize(mesh.vertices); ++v)
    if (mesh.vertices[to_size(v)][1] == 1) top.push_back(v);
  ExRotatedBody body = ExRotatedBody::create(mesh, top).value();
  Collider plate;
  plate.at = Vec3(0, 0.05, 0);
  plate.friction = friction;
  ColliderContacts contacts(body, {plate});
  QuasistaticSolver solver(std::move(body), {.method = method, .tolerance = 1e-8, .contact_tolerance = 1e-4});
  VecX x = at_rest(solver.body());
  EXPECT_TRUE(solver.solve(no_turns(solver.body()), x, &contacts).converged);
  const VecX before = x;
  constexpr int frames = 4;
  for (int k = 0; k < frames; ++k) {
    contacts.slide_from(x);
    if (carried) {
      // The plate goes where the block goes.
      RigidTransform placement;
      placement.translation = Vec3(-way * (k + 1) / frames, 0, 0);
      contacts.place(0, placement);
    }
    for (Index v = solver.body().held().begin; v < solver.body().held().end; ++v) x[3 * v] += way / frames;
    const QuasistaticReport report = solver.solve(no_turns(solver.body()), x, &contacts, Vec3::Zero(), true);
    EXPECT_TRUE(report.converged);
    EXPECT_LT(report.contact_error, 1e-4);
  }
  // At rest flesh bears what the plate does.
  Pulled result;
  VecX f = VecX::Zero(x.size());
  solver.body().force(x, solver.body().free(), f);
  for (Index v = 0; v < solver.body().free().end; ++v) {
    if (solver.body().rest()[to_size(v)][1] != 0) continue;
    result.force -= f.segment<3>(3 * Eigen::Index{v});
    result.moved = std::max(result.moved, std::abs(x[3 * v] - before[3 * v]));
  }
  return result;
}

TEST(QuasistaticFriction, SkinSticksToAPlateUntilCoulombLetsItSlide) {
  constexpr double friction = 0.4, borne = 5000 * 0.05;
  for (const QuasistaticMethod method : {QuasistaticMethod::volume, QuasistaticMethod::surface}) {
    const Pulled free = pull_over_plate(method, 0, 0.004);
    EXPECT_NEAR(free.moved, 0.004, 1e-4);
    EXPECT_NEAR(free.force[0], 0, 0.01);
    // Shear of ex-rotated flesh: 2 mu A s / L = 5000 s, a fifth of what friction bears.
    const Pulled stuck = pull_over_plate(method, friction, 0.004);
    EXPECT_LT(stuck.moved, 1e-4);  // the solver's tolerance
    EXPECT_NEAR(stuck.force[0], -5000 * 0.004, 0.5);
    const Pulled slid = pull_over_plate(method, friction, 0.08);
    EXPECT_NEAR(slid.moved, 0.08 - friction * borne / 5000, 0.002);
    EXPECT_NEAR(slid.force[1], borne, 0.03 * borne);
    EXPECT_NEAR(slid.force[0], -friction * slid.force[1], 0.01 * friction * borne);
    const Pulled carried = pull_over_plate(method, friction, 0.08, true);
    EXPECT_NEAR(carried.moved, 0.08, 2e-4);
    EXPECT_NEAR(carried.force[0], 0, 0.5);
  }
}

/// A block on a slope, which nothing holds but a thread as soft as nothing.
double slide_down(double angle, double friction, double seconds, double step) {
  TetMesh mesh = make_tet_box(Vec3(1, 1, 1), {2, 2, 2});
  const auto corner = [&](const Vec3& at) {
    for (Index v = 0; v < std::ssize(mesh.vertices); ++v)
      if ((mesh.vertices[to_size(v)] - at).norm() < 1e-12) return v;
    return Index{-1};
  };
  const auto end = static_cast<Index>(mesh.vertices.size());
  mesh.vertices.emplace_back(0.25, 2, 0.25);
  mesh.elements.push_back({corner(Vec3(0, 1, 0)), corner(Vec3(0, 1, 0.5)), corner(Vec3(0.5, 1, 0)), end});
  std::vector<ElasticMaterial> materials(mesh.elements.size(),
                                         {.name = "stiff", .young = 1e6, .poisson = 0, .density = 1000});
  materials.back() = {.name = "thread", .young = 1e-6, .poisson = 0, .density = 1e-6};
  set_element_materials(mesh, std::move(materials));
  ExRotatedBody body = ExRotatedBody::create(mesh, std::vector<Index>{end}).value();
  Collider plate;
  plate.friction = friction;
  ColliderContacts contacts(body, {plate});
  FleshSwing swing(step, 0);
  body.set_inertia(swing.rate());
  body.pose(no_turns(body));
  QuasistaticSolver solver(std::move(body), {.tolerance = 1e-8, .contact_tolerance = 1e-5});
  VecX x = at_rest(solver.body());
  const VecX carried = x;
  swing.begin(x, VecX::Zero(x.size()), carried);
  const Vec3 gravity = 9.81 * Vec3(std::sin(angle), -std::cos(angle), 0);
  const int steps = static_cast<int>(std::lround(seconds / step));
  for (int k = 0; k < steps; ++k) {
    contacts.slide_from(x);
    solver.draw_to(swing.drawn_to(carried));
    EXPECT_TRUE(solver.solve(no_turns(solver.body()), x, &contacts, gravity, true).converged);
    swing.advance(x);
  }
  Vec3 sum = Vec3::Zero();
  for (Index v = 0; v < solver.body().free().end; ++v)
    sum += solver.body().mass()[v] * (x - carried).segment<3>(3 * Eigen::Index{v});
  return sum[0] / 1000;
}

TEST(QuasistaticFriction, ABlockOnASlopeSlidesAsGalileoSays) {
  constexpr double angle = 0.5, seconds = 0.3, step = 0.005;
  const auto closed = [&](double friction) {
    return 0.5 * 9.81 * (std::sin(angle) - friction * std::cos(angle)) * seconds * seconds;
  };
  EXPECT_NEAR(slide_down(angle, 0, seconds, step), closed(0), 0.02 * closed(0));
  EXPECT_NEAR(slide_down(angle, 0.3, seconds, step), closed(0.3), 0.03 * closed(0));
  EXPECT_NEAR(slide_down(angle, 0.7, seconds, step), 0, 0.03 * closed(0));  // tan 0.5 = 0.546
}

/// A rod that is held at one end and let go after it was drawn out.
TEST(QuasistaticInertia, ARodSwingsWithItsOwnToneAndLosesWhatDampingTakes) {
  constexpr double speed = 40, tone = speed / 4;  // c = sqrt(E / rho), f = c / 4 L
  for (const double ratio : {0.0, 0.05}) {
    TetMesh mesh = make_tet_box(Vec3(1, 0.1, 0.1), {16, 1, 1});
    set_uniform_material(mesh, {.name = "rod", .young = speed * speed, .poisson = 0, .density = 1});
    std::vector<Index> end;
    for (Index v = 0; v < std::ssize(mesh.vertices); ++v)
      if (mesh.vertices[to_size(v)][0] == 0) end.push_back(v);
    ExRotatedBody body = ExRotatedBody::create(mesh, end).value();
    constexpr double step = 1 / (200 * tone);
    const double damping = 4 * std::numbers::pi * tone * ratio;
    FleshSwing swing(step, damping);
    body.set_inertia(swing.rate());
    body.pose(no_turns(body));
    QuasistaticSolver solver(std::move(body), {.tolerance = 1e-9});
    const VecX rest = at_rest(solver.body());
    VecX x = rest;
    Index tip = 0;
    for (Index v = 0; v < solver.body().vertex_count(); ++v) {
      x[3 * v] += 0.01 * std::sin(std::numbers::pi / 2 * rest[3 * v]);
      if (rest[3 * v] > rest[3 * tip]) tip = v;
    }
    swing.begin(x, VecX::Zero(x.size()), rest);
    std::vector<double> crossings, peaks = {0.01};
    double last = 0.01, before = 0.01;
    for (int k = 1; k <= 300; ++k) {
      solver.draw_to(swing.drawn_to(rest));
      EXPECT_TRUE(solver.solve(no_turns(solver.body()), x).converged);
      swing.advance(x);
      const double u = x[3 * tip] - rest[3 * tip];
      if ((u < 0) != (last < 0)) crossings.push_back((k - u / (u - last)) * step);
      if (last > before && last >= u && last > 0) peaks.push_back(last);
      before = last;
      last = u;
    }
    ASSERT_GE(crossings.size(), 3u);
    const double period = (crossings[2] - crossings[0]) * std::sqrt(1 - ratio * ratio);
    EXPECT_NEAR(period * tone, 1, 0.005);
    ASSERT_GE(peaks.size(), 2u);
    EXPECT_NEAR(peaks[1], 0.01 * std::exp(-2 * std::numbers::pi * ratio), 0.0001);
  }
}

}  // namespace
}  // namespace supple::quasistatic_motion_test
