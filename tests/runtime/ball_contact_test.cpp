// SPDX-License-Identifier: Apache-2.0
// Contact of a ball with a reduced surface: integrals against quadrature and closed forms, forces against differences
// of their energy, Newton's third law, the work of a hand, and the promises: no tessellation felt, no tunnelling, no
// allocation.
#include "supple/runtime/contact/ball_contact.h"
#include "supple/runtime/contact/touchable_object.h"
#include "supple/runtime/contact/triangle_distance.h"

#include "runtime/allocation_counter.h"

#include "supple/fem/modes.h"
#include "supple/mesh/box.h"
#include "supple/offline/forces/cubic_forces.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include <numbers>
#include <random>

namespace supple::ball_contact_test {
namespace {

/// By cutting the triangle into n² and taking their middles.
PatchIntegrals summed(const std::array<Vec3, 3>& t, const Vec3& c, double radius, int n) {
  PatchIntegrals sum;
  const double area = 0.5 * (t[1] - t[0]).cross(t[2] - t[0]).norm() / (n * n);
  const Vec3 normal = (t[1] - t[0]).cross(t[2] - t[0]).normalized();
  sum.foot = c - normal.dot(c - t[0]) * normal;
  const auto add = [&](double i, double j) {
    const Vec3 x = t[0] + (i * (t[1] - t[0]) + j * (t[2] - t[0])) / n;
    const double s = (x - c).norm(), d = std::max(0.0, radius - s);
    sum.power += area * std::pow(d, 4);
    sum.pressure += area * std::pow(d, 3) / s;
    sum.moment += area * std::pow(d, 3) / s * (x - sum.foot);
  };
  for (int i = 0; i < n; ++i) {
    for (int j = 0; i + j < n; ++j) {
      add(i + 1.0 / 3, j + 1.0 / 3);
      if (i + j < n - 1) add(i + 2.0 / 3, j + 2.0 / 3);
    }
  }
  return sum;
}

TEST(PatchIntegrals, AgreeWithSummationForTrianglesOfAllSizes) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto point = [&](double size) { return Vec3(size * Vec3(uniform(random), uniform(random), uniform(random))); };
  // No nearer to the centre than contact lets them come; their planes may pass through it.
  int touched = 0;
  for (int k = 0; touched < 60; ++k) {
    const double size = k % 3 == 0 ? 0.3 : (k % 3 == 1 ? 1.0 : 3.0);
    const Vec3 shift = point(1.0);
    const std::array<Vec3, 3> t = {shift + point(size), shift + point(size), shift + point(size)};
    const double distance = nearest_on_triangle(Vec3::Zero(), t[0], t[1], t[2]).norm();
    if (distance < 0.7 || distance > 0.95) continue;
    ++touched;
    const PatchIntegrals exact = integrate_patch(t, Vec3::Zero(), 1.0);
    const PatchIntegrals expected = summed(t, Vec3::Zero(), 1.0, 500);
    // Gauss's rule is exact for shallow contact; for the deepest it is good to a part in a hundred.
    const double share = distance > 0.9 ? 5e-4 : 1e-2;
    EXPECT_NEAR(exact.power, expected.power, share * expected.power + 1e-9);
    EXPECT_NEAR(exact.pressure, expected.pressure, share * expected.pressure + 1e-8);
    EXPECT_LT((exact.moment - expected.moment).norm(), share * expected.moment.norm() + 1e-8);
  }
}

TEST(PatchIntegrals, ShallowContactWithAPlaneMatchesTheClosedForm) {
  const std::array<Vec3, 3> plane = {Vec3(-10, 0, -10), Vec3(15, 0, -10), Vec3(0, 0, 20)};
  const double R = 0.5, h = 0.48, d = R - h;
  const PatchIntegrals patch = integrate_patch(plane, Vec3(0.1, h, 0.2), R);
  EXPECT_NEAR(patch.power, 2 * std::numbers::pi * (R * std::pow(d, 5) / 5 - std::pow(d, 6) / 6), 1e-13 * patch.power);
  EXPECT_NEAR(patch.pressure, 2 * std::numbers::pi * std::pow(d, 4) / 4, 1e-13 * patch.pressure);
  EXPECT_LT((patch.pressure_center() - Vec3(0.1, 0, 0.2)).norm(), 1e-12);
}

TEST(PatchIntegrals, DoNotDependOnHowAFaceIsCut) {
  const std::array<Vec3, 3> whole = {Vec3(-0.5, 0.1, -0.4), Vec3(0.7, -0.1, -0.3), Vec3(0, 0.2, 0.8)};
  const Vec3 center(0.05, 0.29, 0.02);
  const double radius = 0.3;
  const PatchIntegrals one = integrate_patch(whole, center, radius);
  ASSERT_GT(one.power, 0);
  std::mt19937 random(2);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int k = 0; k < 50; ++k) {
    // Cut at a random point: three triangles, needles among them.
    const double u = uniform(random), v = (1 - u) * uniform(random);
    const Vec3 middle = whole[0] + u * (whole[1] - whole[0]) + v * (whole[2] - whole[0]);
    PatchIntegrals sum;
    for (std::size_t i = 0; i < 3; ++i) {
      const PatchIntegrals part = integrate_patch({whole[i], whole[(i + 1) % 3], middle}, center, radius);
      sum.power += part.power;
      sum.pressure += part.pressure;
      sum.moment += part.moment;
    }
    EXPECT_NEAR(sum.power, one.power, 1e-12 * one.power);
    EXPECT_NEAR(sum.pressure, one.pressure, 1e-12 * one.pressure);
    EXPECT_LT((sum.moment - one.moment).norm(), 1e-12 * radius * one.pressure);
  }
}

TEST(PatchIntegrals, TrianglesOutsideOrWithoutAreaGiveNothing) {
  EXPECT_EQ(integrate_patch({Vec3(0, 2, 0), Vec3(1, 2, 0), Vec3(0, 2, 1)}, Vec3::Zero(), 1).power, 0);
  EXPECT_EQ(integrate_patch({Vec3(3, 0.5, 0), Vec3(4, 0.5, 0), Vec3(3, 0.5, 1)}, Vec3::Zero(), 1).pressure, 0);
  EXPECT_EQ(integrate_patch({Vec3(0, 0.5, 0), Vec3(1, 0.5, 0), Vec3(2, 0.5, 0)}, Vec3::Zero(), 1).power, 0);
}

// ---- a soft beam ----------------------------------------------------------------------------------------------------

constexpr double length = 0.4, height = 0.1;

/// A cantilever along x, its top at y = 0.1, in its first modes; its surface is the boundary of the mesh.
SubspaceModel beam(int modes = 8, std::array<int, 3> cells = {8, 2, 2}) {
  TetMesh mesh = make_tet_box(Vec3(length, height, height), cells);
  set_uniform_material(mesh, {"soft", 1e5, 0.3, 1000});
  std::vector<Index> fixed;
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
    if (mesh.vertices[v].x() < 1e-9) fixed.push_back(static_cast<Index>(v));
  }
  const ElasticBody body = ElasticBody::create(mesh, MaterialModel::stvk).value();
  return build_subspace_model(mesh, compute_modes(body, fixed, {.count = modes}).value().shapes).value();
}

const Ball resting{.center = Vec3(0.33, height + 0.05 - 0.006, 0.047), .radius = 0.05};

TEST(BallContact, ForcesAreDifferencesOfTheEnergy) {
  const SubspaceModel model = beam();
  const BoundedDeformationTree tree(model.surface);
  const std::vector<double> q = {-0.004, 0.002, 0.001, 0.0005, 0, 0.0004, 0, 0}, still(8, 0.0);
  const auto evaluate = [&](const Ball& ball, const std::vector<double>& at, std::vector<double>& force) {
    BallContact contact = BallContact::create(tree, {.stiffness = 1000}).value();
    return contact.step(ball, at, still, force);
  };
  std::vector<double> reduced(8, 0.0), unused(8, 0.0);
  const BallContactReport report = evaluate(resting, q, reduced);
  ASSERT_GT(report.contacts, 2);
  ASSERT_GT(report.force.norm(), 1);
  constexpr double step = 1e-6;
  for (int i = 0; i < 3; ++i) {
    Ball ahead = resting, behind = resting;
    ahead.center[i] += step;
    behind.center[i] -= step;
    const double slope = (evaluate(ahead, q, unused).energy - evaluate(behind, q, unused).energy) / (2 * step);
    EXPECT_NEAR(report.force[i], -slope, 1e-6 * report.force.norm());
  }
  // The area is the moving surface's own, so stretching it counts in the energy but is no force: of the order of
  // depth / size of the patch.
  double largest = 0;
  for (const double f : reduced) largest = std::max(largest, std::abs(f));
  for (std::size_t a = 0; a < q.size(); ++a) {
    std::vector<double> ahead = q, behind = q;
    ahead[a] += step;
    behind[a] -= step;
    const double slope =
        (evaluate(resting, ahead, unused).energy - evaluate(resting, behind, unused).energy) / (2 * step);
    EXPECT_NEAR(reduced[a], -slope, 0.02 * largest) << a;
  }
}

TEST(BallContact, TheSurfaceGetsTheOppositeOfTheHandsForce) {
  // In a basis of the three translations the reduced force is the total one.
  SubspaceModel model = beam();
  DisplaySurface surface = model.surface;
  surface.basis = MatX::Zero(3 * surface.vertex_count(), 3);
  for (Index v = 0; v < surface.vertex_count(); ++v) surface.basis.middleRows(3 * v, 3) = Mat3::Identity();
  const BoundedDeformationTree tree(surface);
  BallContact contact = BallContact::create(tree, {.stiffness = 1000}).value();
  const std::vector<double> q = {0.001, 0.002, -0.001}, velocity = {0.1, 0.4, -0.2};
  for (int k = 0; k < 2; ++k) {  // the second time the ball moves
    std::vector<double> reduced(3, 0.0);
    Ball ball = resting;
    ball.center += k * Vec3(0.0005, -0.001, 0);
    const BallContactReport report = contact.step(ball, q, velocity, reduced);
    ASSERT_GT(report.force.y(), 1);
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(reduced[to_size(i)], -report.force[i], 1e-12 * report.force.norm());
  }
}

TEST(BallContact, FlatContactFollowsHertzsLaw) {
  const SubspaceModel model = beam(3, {1, 1, 1});
  const BoundedDeformationTree tree(model.surface);
  const std::vector<double> rest(3, 0.0);
  std::vector<double> unused(3, 0.0);
  const double R = 0.02, k = 5000, reference = R / 20;
  for (const double depth : {1e-5, 1e-4, 1e-3}) {
    BallContact contact = BallContact::create(tree, {.stiffness = k}).value();
    const BallContactReport report = contact.step({Vec3(0.2, height + R - depth, 0.05), R}, rest, rest, unused);
    EXPECT_NEAR(report.depth, depth, 1e-12);
    EXPECT_NEAR(report.force.y(), 1.25 * k * depth * std::sqrt(depth / reference), 3 * depth / R * report.force.y());
  }
}

TEST(BallContact, SlidingOverTheTessellationIsSmooth) {
  // The same flat top, cut in 4 and in 3200: the hand must not feel the difference.
  std::vector<double> unused(3, 0.0);
  const std::vector<double> rest(3, 0.0);
  std::vector<std::vector<double>> heights;
  for (const int n : {1, 20}) {
    const SubspaceModel model = beam(3, {2 * n, 1, 2 * n});
    const BoundedDeformationTree tree(model.surface);
    BallContact contact = BallContact::create(tree, {.stiffness = 1000}).value();
    auto& forces = heights.emplace_back();
    for (int k = 0; k < 400; ++k) {
      const Vec3 center(0.15 + 0.0002 * k, height + 0.02 - 0.001, 0.04 + 0.00005 * k);
      const BallContactReport report = contact.step({center, 0.02}, rest, rest, unused);
      forces.push_back(report.force.y());
      EXPECT_LT(std::hypot(report.force.x(), report.force.z()), 1e-9 * report.force.y());
    }
  }
  for (std::size_t k = 1; k < heights[0].size(); ++k) {  // damping plays no part: the motion is along the surface
    EXPECT_NEAR(heights[1][k], heights[0][k], 1e-9 * heights[0][k]);
    EXPECT_NEAR(heights[0][k], heights[0][0], 1e-9 * heights[0][0]);
  }
}

TEST(TouchableObject, PressingSlowlyGivesItsWorkToTheElasticEnergy) {
  const SubspaceModel model = beam();
  auto object =
      TouchableObject::create(model, {.time_step = 1e-3, .mass_damping = 5, .stiffness_damping = 1e-3}).value();
  Ball ball{.center = Vec3(0.35, height + 0.051, 0.05), .radius = 0.05};
  double work = 0;
  BallContactReport before{.tool = ball.center};
  // What damping takes, α m v² t = 5 · 1 · (2.5e-3)² · 16 J or so, is far below the work.
  for (int k = 0; k < 16000; ++k) {
    ball.center.y() -= 0.0000025;  // 2.5 mm/s
    const BallContactReport now = object.step(ball);
    work -= 0.5 * (now.force + before.force).dot(now.tool - before.tool);
    before = now;
  }
  const double gained = object.dynamics().elastic_energy() + before.energy;
  EXPECT_GT(before.force.y(), 1);
  EXPECT_GT(object.dynamics().elastic_energy(), 5 * before.energy) << "the beam must bend for this to mean something";
  EXPECT_NEAR(work, gained, 0.01 * work);
}

TEST(TouchableObject, AnImpactGainsNoEnergy) {
  const SubspaceModel model = beam();
  auto object = TouchableObject::create(model, {.time_step = 1e-3}).value();
  Ball ball{.center = Vec3(0.35, height + 0.06, 0.05), .radius = 0.05};
  double work = 0;
  BallContactReport before{.tool = ball.center};
  for (int k = 0; k < 3000; ++k) {  // strikes at 1 m/s, rests, leaves
    if (k < 40) ball.center.y() -= 0.001;
    if (k >= 1000 && k < 1100) ball.center.y() += 0.001;
    const BallContactReport now = object.step(ball);
    work -= 0.5 * (now.force + before.force).dot(now.tool - before.tool);
    before = now;
    const double held = object.dynamics().elastic_energy() + object.dynamics().kinetic_energy() + now.energy;
    ASSERT_LT(held, 1.05 * work + 1e-4) << k;
  }
  EXPECT_GT(work, 0.01);
}

TEST(TouchableObject, NothingTunnelsThroughAThinMember) {
  // A sheet of one triangle's thickness, the hand at 1 m/s straight through it and on.
  SubspaceModel model = beam();
  DisplaySurface& surface = model.surface;
  std::erase_if(surface.triangles, [&](const Triangle& t) {
    return !std::all_of(t.begin(), t.end(),
                        [&](Index v) { return surface.rest_positions[to_size(v)].y() > height - 1e-9; });
  });
  ASSERT_GT(surface.triangles.size(), 10u);
  for (const double radius : {0.01, 0.05}) {
    auto object = TouchableObject::create(model, {.time_step = 1e-3, .stiffness_damping = 1e-3}).value();
    SurfaceQuery query(object.tree());
    Ball ball{.center = Vec3(0.1, height + 0.1, 0.05), .radius = radius};
    double strongest = 0;
    for (int k = 0; k < 700; ++k) {
      ball.center.y() -= 0.001;
      const BallContactReport report = object.step(ball);
      strongest = std::max(strongest, report.force.norm());
      query.set_shape(object.dynamics().state().q);
      EXPECT_GT(query.nearest(report.tool).distance, 0.5 * radius) << k;
      // On top of the sheet, still: its points below the tool are lower than its centre.
      if (k > 150) {
        ASSERT_GT(report.force.y(), 0) << k;
      }
    }
    EXPECT_GT(strongest, 1);
  }
}

TEST(TouchableObject, StepAllocatesNothing) {
  const SubspaceModel model = beam();
  auto object = TouchableObject::create(model, {.time_step = 1e-3, .stiffness_damping = 1e-3}).value();
  object.step(resting);
  const long before = allocation_count();
  int contacts = 0;
  for (int k = 0; k < 50; ++k) contacts += object.step(resting).contacts;
  EXPECT_EQ(allocation_count() - before, 0);
  EXPECT_GT(contacts, 20);
}

TEST(BallContact, BadSettingsAreRefused) {
  const SubspaceModel model = beam(2, {1, 1, 1});
  const BoundedDeformationTree tree(model.surface);
  EXPECT_FALSE(BallContact::create(tree, {.time_step = 0}).ok());
  EXPECT_FALSE(BallContact::create(tree, {.stiffness = -1}).ok());
  EXPECT_FALSE(BallContact::create(tree, {.damping = std::numeric_limits<double>::quiet_NaN()}).ok());
  EXPECT_FALSE(BallContact::create(tree, {.max_depth = 1}).ok());
  EXPECT_FALSE(BallContact::create(tree, {.max_speed = 0}).ok());
  EXPECT_FALSE(BallContact::create(BoundedDeformationTree(), {}).ok());
  SubspaceModel bare = model;
  bare.surface = {};
  bare.surface.basis.resize(0, 2);
  EXPECT_FALSE(TouchableObject::create(bare, {}).ok());
}

}  // namespace
}  // namespace supple::ball_contact_test
