// SPDX-License-Identifier: Apache-2.0
// Free bodies in contact: they bounce, rest, slide and collide as they should, and keep what must be kept.
#include "supple/runtime/subspace/floating_world.h"

#include "runtime/allocation_counter.h"
#include "supple/fem/modes.h"
#include "supple/offline/contact/contact_shape_builder.h"
#include "supple/offline/forces/cubic_forces.h"
#include "support/bodies.h"

namespace supple::floating_world_test {
namespace {

SubspaceModel soft_box(double young = 2e5, int modes = 12) {
  HexMesh mesh = brick_box({.size = Vec3(0.3, 0.2, 0.2),
                            .cells = {4, 3, 3},
                            .material = {.name = "soft", .young = young, .poisson = 0.3, .density = 500}});
  for (Vec3& x : mesh.vertices) x -= Vec3(0.15, 0.1, 0.1);
  const ElasticBody body = body_of(mesh, MaterialModel::stvk);
  const MatX basis = must(compute_modes(body, {}, {.count = modes})).shapes;
  return must(build_subspace_model(mesh, basis));
}

constexpr double box_mass = 6.0;  // 0.3 × 0.2 × 0.2 × 500
const FloatingSettings damped = {.stiffness_damping = 2e-3};

FloatingWorld world_of(const SubspaceModel& model, int count, std::vector<ContactPlane> planes,
                       const FloatingSettings& settings = damped, const FloatingWorldSettings& contact = {}) {
  const FloatingBody body = must(FloatingBody::create(model, settings));
  const ContactShape shape = must(build_contact_shape(model.surface));
  const auto n = to_size(count);
  return must(FloatingWorld::create(std::vector<FloatingBody>(n, body), std::vector<ContactShape>(n, shape),
                                    std::move(planes), contact));
}

double lowest(const FloatingBody& body) {
  std::vector<Vec3> x(body.surface_rest().size());
  body.surface_positions(x);
  double low = 1e9;
  for (const Vec3& p : x) low = std::min(low, p.y());
  return low;
}

Eigen::Quaterniond turned(double angle, const Vec3& axis) {
  return Eigen::Quaterniond(Eigen::AngleAxisd(angle, axis.normalized()));
}

TEST(FloatingWorld, AFallingBoxBouncesJigglesAndComesToRest) {
  FloatingWorld world = world_of(soft_box(), 1, {{}});
  world.body(0).reset(Vec3(0, 0.8, 0), turned(0.5, Vec3(1, 0.3, 0.6)));
  double energy_in_flight = world.total_energy(), deepest = 0, jiggle = 0;
  int bounces = 0;
  bool flies = true;
  for (int k = 0; k < 6000; ++k) {
    const FloatingWorldReport report = world.step();
    ASSERT_EQ(report.recovered, 0);
    bounces += report.contacts > 0 && flies;
    flies = report.contacts == 0;
    deepest = std::min(deepest, lowest(world.body(0)));
    jiggle = std::max(jiggle, world.body(0).elastic_energy());
    if (flies) {
      // Springs of contacts hold no energy now.
      const double energy = world.total_energy();
      EXPECT_LT(energy, energy_in_flight * (1 + 1e-3)) << k;
      energy_in_flight = energy;
    }
  }
  measured("deepest", deepest);
  measured("bounces", bounces);
  measured("largest_elastic_energy", jiggle);
  measured("speed_at_the_end", world.body(0).velocity().linear.norm());
  measured("height_at_the_end", world.body(0).center_of_mass().y());
  EXPECT_GT(deepest, -0.04);
  EXPECT_GE(bounces, 3);
  EXPECT_GT(jiggle, 1.0);
  EXPECT_LT(world.body(0).velocity().linear.norm(), 2e-3);
  // It lies on one of its faces, whichever.
  const double height = world.body(0).center_of_mass().y();
  EXPECT_NEAR(height, height > 0.125 ? 0.15 : 0.1, 0.003);
}

TEST(FloatingWorld, AtRestContactsCarryTheWeightAndNothingSinks) {
  FloatingWorld world = world_of(soft_box(), 1, {{}});
  world.body(0).reset(Vec3(0, 0.1, 0));
  for (int k = 0; k < 3000; ++k) world.step();
  Vec3 sum = Vec3::Zero();
  for (const Contact& contact : world.contacts()) sum += contact.force;
  EXPECT_NEAR(sum.y(), 9.81 * box_mass, 1e-3 * box_mass);
  const Vec3 before = world.body(0).center_of_mass();
  for (int k = 0; k < 10000; ++k) world.step();
  measured("drift_at_rest_in_10_s", (world.body(0).center_of_mass() - before).norm());
  EXPECT_LT((world.body(0).center_of_mass() - before).norm(), 1e-5);
}

/// On a slope steeper than the friction angle a box slides with g (sin θ − μ cos θ), on a flatter one it stays.
TEST(FloatingWorld, FrictionHoldsOrSlides) {
  constexpr double mu = 0.5;
  for (const double angle : {0.35, 0.7}) {
    FloatingSettings settings = damped;
    settings.gravity = 9.81 * Vec3(std::sin(angle), -std::cos(angle), 0);
    FloatingWorldSettings contact;
    contact.contact.friction = mu;
    FloatingWorld world = world_of(soft_box(2e6), 1, {{}}, settings, contact);
    world.body(0).reset(Vec3(0, 0.1, 0));
    for (int k = 0; k < 500; ++k) world.step();
    const double before = world.body(0).velocity().linear.x();
    for (int k = 0; k < 500; ++k) world.step();
    const double acceleration = (world.body(0).velocity().linear.x() - before) / 0.5;
    const double expected = std::max(0.0, 9.81 * (std::sin(angle) - mu * std::cos(angle)));
    measured("slide_acceleration", acceleration);
    EXPECT_NEAR(acceleration, expected, 0.01 * 9.81);
    if (expected == 0) {
      EXPECT_LT(world.body(0).velocity().linear.norm(), 2e-3);
    }
  }
}

TEST(FloatingWorld, ACollisionInSpaceKeepsTheSumOfMomenta) {
  FloatingSettings space = damped;
  space.gravity.setZero();
  FloatingWorld world = world_of(soft_box(), 2, {}, space);
  const VecX still = VecX::Zero(world.body(0).size());
  world.body(0).reset(Vec3(-0.4, 0, 0), turned(0.3, Vec3(0, 1, 1)));
  world.body(1).reset(Vec3(0.3, 0.05, -0.02), turned(1.1, Vec3(1, 1, 0)));
  world.body(0).set_velocity({Vec3(2, 0, 0), Vec3(0, 1, 0), still});
  world.body(1).set_velocity({Vec3(-1, 0, 0), Vec3(0, 0, 2), still});
  const auto sums = [&] {
    Eigen::Matrix<double, 6, 1> sum = Eigen::Matrix<double, 6, 1>::Zero();
    for (int k = 0; k < 2; ++k) {
      sum.head<3>() += world.body(k).state().linear_momentum;
      sum.tail<3>() += world.body(k).state().angular_momentum;
    }
    return sum;
  };
  const auto before = sums();
  const double energy = world.total_energy();
  int touching = 0, rounds = 0;
  for (int k = 0; k < 600; ++k) {
    const FloatingWorldReport report = world.step();
    ASSERT_EQ(report.recovered, 0);
    touching += report.contacts > 0;
    rounds = std::max(rounds, report.solver_rounds);
  }
  measured("steps_in_contact", touching);
  measured("most_solver_rounds", rounds);
  measured("momentum_change", (sums() - before).norm() / before.norm());
  measured("energy_left", world.total_energy() / energy);
  EXPECT_GT(touching, 5);
  EXPECT_LT((sums() - before).norm(), 1e-12 * before.norm());
  EXPECT_LT(world.total_energy(), energy);
  // They part.
  const Vec3 apart = world.body(1).center_of_mass() - world.body(0).center_of_mass();
  EXPECT_GT(apart.dot(world.body(1).velocity().linear - world.body(0).velocity().linear), 0);
  EXPECT_EQ(world.contacts().size(), 0u);
}

TEST(FloatingWorld, AStackStands) {
  FloatingWorld world = world_of(soft_box(), 3, {{}});
  for (int k = 0; k < 3; ++k) world.body(k).reset(Vec3(0.01 * k, 0.1 + 0.21 * k, 0), turned(0.2 * k, Vec3::UnitY()));
  int most_rounds = 0;
  for (int k = 0; k < 3000; ++k) {
    const FloatingWorldReport report = world.step();
    ASSERT_EQ(report.recovered, 0);
    most_rounds = std::max(most_rounds, report.solver_rounds);
  }
  measured("most_solver_rounds", most_rounds);
  for (int k = 0; k < 3; ++k) {
    const Vec3 center = world.body(k).center_of_mass();
    measured("height", center.y());
    measured("speed", world.body(k).velocity().linear.norm());
    EXPECT_NEAR(center.y(), 0.1 + 0.2 * k, 0.01 * (k + 1));
    EXPECT_LT(world.body(k).velocity().linear.norm(), 5e-3);
    EXPECT_LT(Vec3(center.x() - 0.01 * k, 0, center.z()).norm(), 0.01);
  }
}

TEST(FloatingWorld, StepAllocatesNothing) {
  FloatingWorld world = world_of(soft_box(), 2, {{}, {Vec3(1, 0, 0), -0.16}});
  world.body(0).reset(Vec3(0, 0.1, 0));
  world.body(1).reset(Vec3(0.02, 0.29, 0));
  world.step();
  const long before = allocation_count();
  int contacts = 0;
  for (int k = 0; k < 200; ++k) contacts += world.step().contacts;
  EXPECT_EQ(allocation_count() - before, 0);
  EXPECT_GT(contacts, 0);
}

TEST(FloatingWorld, BadSettingsAreRefused) {
  const SubspaceModel model = soft_box(2e5, 3);
  const FloatingBody body = must(FloatingBody::create(model, {}));
  const ContactShape shape = must(build_contact_shape(model.surface));
  EXPECT_FALSE(FloatingWorld::create({}, {}, {}, {}).ok());
  EXPECT_FALSE(FloatingWorld::create({body}, {}, {}, {}).ok());
  EXPECT_FALSE(FloatingWorld::create({body}, {ContactShape{}}, {}, {}).ok());
  EXPECT_FALSE(FloatingWorld::create({body}, {shape}, {{Vec3::Zero(), 0.0}}, {}).ok());
  EXPECT_FALSE(FloatingWorld::create({body}, {shape}, {}, {.contact = {.stiffness = -1}}).ok());
  const FloatingBody slower = must(FloatingBody::create(model, {.time_step = 0.01}));
  EXPECT_FALSE(FloatingWorld::create({body, slower}, {shape, shape}, {}, {}).ok());
}

}  // namespace
}  // namespace supple::floating_world_test
