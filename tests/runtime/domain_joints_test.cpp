// SPDX-License-Identifier: Apache-2.0
// Joints between domains against pendulums and springs in closed form.
#include "supple/asset/domain_archive.h"
#include "support/domain_bodies.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace supple::domain_joints_test {
namespace {

constexpr double length = 0.6, width = 0.1, density = 1000;

/// A rigid bar that hangs by a joint in the middle of its end on a rigid block, both along x; the block is held.
DomainModel jointed_bar(const JointPlan& joint) {
  const TetMesh mesh = soft_beam(Vec3(2 * length, width, width), {12, 2, 2});
  SplitSettings settings;
  settings.fixed = left_end(mesh);
  settings.size = 0;
  settings.names = {"block", "bar"};
  settings.joints = {{}, joint};
  return build_domains(split_mesh(mesh, labels_along_x(mesh, 2), settings).value()).value().model;
}

DomainSettings undamped(double h, const Vec3& gravity) {
  DomainSettings settings;
  settings.time_step = h;
  settings.mass_damping = settings.stiffness_damping = 0;
  settings.gravity = gravity;
  return settings;
}

/// How far a cuboid of the bar's size resists turning about the middle of an end [kg m²].
double bar_inertia() {
  const double mass = density * length * width * width;
  return mass * (length * length / 3 + width * width / 12);
}

/// Seconds from one crossing of zero upwards to the next, of a coordinate that was let go at `from`.
double period_of(DomainDynamics& dynamics, double from) {
  dynamics.coordinates()[0] = from;
  dynamics.initialize();
  std::vector<double> crossings;
  double before = from;
  while (crossings.size() < 4) {
    EXPECT_FALSE(dynamics.step().recovered);
    const double now = dynamics.coordinates()[0];
    const double h = dynamics.settings().time_step;
    if (before < 0 && now >= 0) crossings.push_back(dynamics.time() - h * now / (now - before));
    before = now;
    if (dynamics.time() > 60) return 0;
  }
  return (crossings.back() - crossings.front()) / 3;
}

TEST(DomainJoints, AHingeIsAPendulum) {
  // Along gravity at rest: the period of a compound pendulum is 2π √(I / (m g d)), d = length / 2.
  const DomainModel model = jointed_bar({.kind = JointKind::hinge, .axis = Vec3(0, 0, 2)});
  ASSERT_EQ(model.size(), 1);
  const double g = 9.81, mass = density * length * width * width;
  DomainDynamics dynamics = dynamics_of(model, undamped(1e-3, Vec3(g, 0, 0)));
  const double expected = 2 * std::numbers::pi * std::sqrt(bar_inertia() / (mass * g * length / 2));
  EXPECT_NEAR(period_of(dynamics, 0.02), expected, 1e-3 * expected);
  // In a wide swing of 40 degrees its period is longer by 1 + θ²/16 + 11 θ⁴/3072, and energy stays.
  const double wide = 40 * std::numbers::pi / 180;
  dynamics.reset();
  const double slower = 1 + wide * wide / 16 + 11 * std::pow(wide, 4) / 3072;
  EXPECT_NEAR(period_of(dynamics, std::tan(wide)), slower * expected, 1e-3 * expected);
}

TEST(DomainJoints, AHingeTurnsAboutItsAxisAlone) {
  const DomainModel model = jointed_bar({.kind = JointKind::hinge, .axis = Vec3(0, 0, 1)});
  DomainDynamics dynamics = dynamics_of(model, undamped(1e-3, Vec3(0, -2, -9)));
  for (int k = 0; k < 200; ++k) dynamics.step();
  dynamics.update_frames();
  Mat3 R;
  Vec3 c;
  dynamics.frame(model.domain_count() - 1, R, c);
  EXPECT_GT((R - Mat3::Identity()).norm(), 0.05);
  EXPECT_NEAR((R * Vec3::UnitZ() - Vec3::UnitZ()).norm(), 0, 1e-12);
  EXPECT_NEAR((c - Vec3(length, width / 2, width / 2)).norm(), 0, 1e-9);
}

TEST(DomainJoints, SpringsOfHingesBallsAndSliders) {
  const double k = 50, mass = density * length * width * width;
  const double turning = 2 * std::numbers::pi * std::sqrt(bar_inertia() / k);
  DomainDynamics hinge = dynamics_of(jointed_bar({JointKind::hinge, Vec3::UnitY(), k}), undamped(1e-3, Vec3::Zero()));
  EXPECT_NEAR(period_of(hinge, 0.01), turning, 1e-3 * turning);
  // A ball's first coordinate turns the bar about its own axis.
  const double spin = 2 * std::numbers::pi * std::sqrt(mass * width * width / 6 / k);
  DomainDynamics ball = dynamics_of(jointed_bar({JointKind::ball, Vec3::UnitX(), k}), undamped(1e-4, Vec3::Zero()));
  ASSERT_EQ(ball.coordinates().size(), 3U);
  EXPECT_NEAR(period_of(ball, 0.01), spin, 1e-3 * spin);
  const double sliding = 2 * std::numbers::pi * std::sqrt(mass / k);
  DomainDynamics slider = dynamics_of(jointed_bar({JointKind::slider, Vec3::UnitX(), k}), undamped(1e-3, Vec3::Zero()));
  EXPECT_NEAR(period_of(slider, 0.1), sliding, 1e-3 * sliding);
}

TEST(DomainJoints, OpenTheSurfaceAndStayInTheFile) {
  const JointPlan joint{JointKind::hinge, Vec3::UnitZ(), 3};
  const DomainModel model = jointed_bar(joint);
  // Both sides have their own end: nothing is stretched between them.
  const auto shown = to_size(model.surface.vertex_count());
  const DomainModel fixed = jointed_bar({});
  EXPECT_EQ(shown, to_size(fixed.surface.vertex_count()) + 8 + 2);  // 8 at the rim twice, and the middle of either end
  const std::string bytes = encode_domain_model(model);
  const DomainModel read = decode_domain_model(Archive::parse(std::as_bytes(std::span(bytes)), "bar").value()).value();
  DomainDynamics one = dynamics_of(model, undamped(1e-3, Vec3(0, -9, 0)));
  DomainDynamics two = dynamics_of(read, undamped(1e-3, Vec3(0, -9, 0)));
  for (int k = 0; k < 50; ++k) {
    one.step();
    two.step();
  }
  EXPECT_EQ(one.coordinates()[0], two.coordinates()[0]);
  EXPECT_GT(std::abs(one.coordinates()[0]), 1e-3);
}

TEST(DomainJoints, RefusesWhatTurnsNothing) {
  const TetMesh mesh = soft_beam();
  SplitSettings settings;
  settings.fixed = left_end(mesh);
  settings.size = 4;
  settings.joints = {{}, {.kind = JointKind::hinge, .axis = Vec3::Zero()}};
  const Result<DomainBuild> built = build_domains(split_mesh(mesh, labels_along_x(mesh, 2), settings).value());
  ASSERT_FALSE(built.ok());
  EXPECT_NE(built.error().message.find("axis"), std::string::npos);
  // Mass in the joint itself doesn't resist turning.
  DomainSettings lumped;
  lumped.inertia = SubtreeInertia::interface;
  const DomainModel model = jointed_bar({.kind = JointKind::hinge});
  const auto tree = std::make_shared<const PreparedTree>(prepare_tree(model).value());
  EXPECT_FALSE(DomainDynamics::create(tree, lumped).ok());
}

}  // namespace
}  // namespace supple::domain_joints_test
