// SPDX-License-Identifier: Apache-2.0
// Free bodies: against Euler's equations of a rigid one, against the full finite-element body, and what must be kept in
// flight.
#include "supple/runtime/subspace/floating_body.h"

#include "runtime/allocation_counter.h"
#include "supple/fem/dynamics.h"
#include "supple/fem/modes.h"
#include "supple/offline/forces/cubic_forces.h"
#include "supple/offline/modes/modal_basis.h"
#include "supple/runtime/subspace/state_archive.h"
#include "support/bodies.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace supple::floating_body_test {
namespace {

struct FreeSpecimen {
  HexMesh mesh;
  ElasticBody body;
  SubspaceModel model;
};

/// A box that does not lie around the origin, and all modes of its deformation, or some.
FreeSpecimen free_box(const BoxSpec& spec, int modes) {
  HexMesh mesh = brick_box(spec);
  for (Vec3& x : mesh.vertices) x += Vec3(0.1, -0.2, 0.05);
  ElasticBody body = body_of(mesh, MaterialModel::stvk);
  const MatX basis = must(compute_modes(body, {}, {.count = modes})).shapes;
  SubspaceModel model = must(build_subspace_model(mesh, basis));
  return {std::move(mesh), std::move(body), std::move(model)};
}

BoxSpec two_bricks(double young) {
  return {.size = Vec3(0.4, 0.15, 0.1),
          .cells = {2, 1, 1},
          .material = {.name = "soft", .young = young, .poisson = 0.3, .density = 1000}};
}

FloatingSettings in_space(double time_step) {
  return {
      .time_step = time_step, .gravity = Vec3::Zero(), .max_iterations = 10, .max_corrections = 30, .tolerance = 1e-13};
}

FloatingVelocity tumbling(int r, const Vec3& angular) { return {Vec3(0.3, 1, -0.2), angular, VecX::Zero(r)}; }

/// World positions of the simulation mesh.
VecX world_positions(const SubspaceModel& model, const FloatingState& state) {
  const VecX u = model.basis * state.q;
  VecX x(u.size());
  for (Index v = 0; v < model.vertex_count(); ++v) {
    const Vec3 y = model.rest_positions[to_size(v)] + u.segment<3>(3 * v);
    x.segment<3>(3 * v) = state.position + state.orientation * y;
  }
  return x;
}

FloatingBody must_create(const SubspaceModel& model, const FloatingSettings& settings) {
  return must(FloatingBody::create(model, settings));
}

// ---- rigid ----------------------------------------------------------------------------------------------------------

struct Top {
  Eigen::Quaterniond orientation;
  Vec3 spin;  ///< body frame
};

/// Euler's equations, I ω̇ = I ω × ω, by Runge and Kutta's method of fourth order.
Top euler_reference(const Mat3& inertia, Top top, double duration, int steps) {
  const Mat3 inverse = inertia.inverse();
  const auto rate = [&](const Top& t) {
    const Eigen::Quaterniond w(0, t.spin.x(), t.spin.y(), t.spin.z());
    const Eigen::Quaterniond turned = t.orientation * w;
    return Top{Eigen::Quaterniond(0.5 * turned.coeffs()), inverse * (inertia * t.spin).cross(t.spin)};
  };
  const auto moved = [](const Top& t, const Top& k, double h) {
    return Top{Eigen::Quaterniond(t.orientation.coeffs() + h * k.orientation.coeffs()), t.spin + h * k.spin};
  };
  const double h = duration / steps;
  for (int n = 0; n < steps; ++n) {
    const Top k1 = rate(top), k2 = rate(moved(top, k1, h / 2)), k3 = rate(moved(top, k2, h / 2)),
              k4 = rate(moved(top, k3, h));
    top = moved(moved(moved(moved(top, k1, h / 6), k2, h / 3), k3, h / 3), k4, h / 6);
    top.orientation.normalize();
  }
  return top;
}

/// So stiff that it is rigid: near the middle axis it tumbles, which no linearised frame would show.
TEST(FloatingBody, AStiffBodyTumblesByEulersEquations) {
  const FreeSpecimen s = free_box(two_bricks(1e13), 12);
  const Vec3 spin(0.1, 8, 0.05);
  const double duration = 2.0;
  const auto orientation_error = [&](int steps) {
    FloatingBody body = must_create(s.model, in_space(duration / steps));
    body.set_velocity(tumbling(body.size(), spin));
    MatX A(6 + body.size(), 6 + body.size());
    const VecX zero = VecX::Zero(body.size());
    body.inertia().mass_matrix(zero, body.inertia().moments_at(zero), A);
    const Mat3 cross = A.block<3, 3>(3, 0);
    const Mat3 central = A.block<3, 3>(3, 3) + cross * cross / body.inertia().mass();
    for (int k = 0; k < steps; ++k) EXPECT_FALSE(body.step().recovered);
    const Top reference = euler_reference(central, {Eigen::Quaterniond::Identity(), spin}, duration, 20000);
    return body.state().orientation.angularDistance(reference.orientation);
  };
  const double coarse = orientation_error(1000), fine = orientation_error(2000);
  measured("rigid_orientation_error_1ms", fine);
  EXPECT_LT(fine, 2e-3);
  EXPECT_NEAR(order_of(coarse, fine), 2, 0.1);
}

// ---- deformable -----------------------------------------------------------------------------------------------------

struct FreeMotion {
  VecX q;
  FloatingVelocity velocity;
};

/// Bent, vibrating, tumbling and flying.
FreeMotion lively_start(const SubspaceModel& model, double amplitude) {
  FreeMotion start{VecX::Zero(model.size()), tumbling(model.size(), Vec3(6, 9, -14))};
  start.q.head(4) << amplitude, -0.7 * amplitude, 0.4 * amplitude, 0.5 * amplitude;
  start.velocity.q.head(3) << 30 * amplitude, 20 * amplitude, -40 * amplitude;
  return start;
}

void begin(FloatingBody& body, const FreeMotion& start) {
  body.reset(Vec3(0.5, 1, 2), Eigen::Quaterniond(some_rotation()));
  body.set_deformation(start.q);
  body.set_velocity(start.velocity);
}

/// The same start in full space, and its end.
VecX full_positions(const FreeSpecimen& s, const FreeMotion& start, double duration, int steps) {
  FloatingBody frame = must_create(s.model, in_space(1));
  begin(frame, start);
  const VecX x = world_positions(s.model, frame.state());
  const VecX shape_velocity = s.model.basis * start.velocity.q;
  FullDynamics full = must(FullDynamics::create(
      s.body, {}, {.time_step = duration / steps, .max_newton_iterations = 30, .newton_tolerance = 1e-12}));
  DynamicsState state = full.rest_state();
  state.u = x - s.body.rest_positions();
  for (Index v = 0; v < s.model.vertex_count(); ++v) {
    const Vec3 arm = x.segment<3>(3 * v) - frame.state().position;
    state.v.segment<3>(3 * v) = start.velocity.linear + start.velocity.angular.cross(arm) +
                                frame.state().orientation * shape_velocity.segment<3>(3 * v);
  }
  const VecX none = VecX::Zero(s.body.dof_count());
  EXPECT_TRUE(full.initialize(state, none).ok());
  for (int k = 0; k < steps; ++k) EXPECT_FALSE(full.step(state, none).recovered);
  return s.body.rest_positions() + state.u;
}

VecX reduced_positions(const FreeSpecimen& s, const FreeMotion& start, double duration, int steps) {
  FloatingBody body = must_create(s.model, in_space(duration / steps));
  begin(body, start);
  for (int k = 0; k < steps; ++k) EXPECT_FALSE(body.step().recovered);
  return world_positions(s.model, body.state());
}

/// With all 30 deformations of 36 coordinates nothing is approximated: both must arrive at the same place, and what is
/// left must be the error of the time step. Any wrong or missing inertial term shows here.
TEST(FloatingBody, InACompleteBasisItMovesAsTheFullBody) {
  const FreeSpecimen s = free_box(two_bricks(2e5), 30);
  const FreeMotion start = lively_start(s.model, 0.05);
  const double duration = 0.1;
  // Richardson's extrapolation of the full solution: fourth order.
  const VecX coarse_full = full_positions(s, start, duration, 1000),
             fine_full = full_positions(s, start, duration, 2000);
  const VecX exact = fine_full + (fine_full - coarse_full) / 3;
  const double coarse = (reduced_positions(s, start, duration, 200) - exact).lpNorm<Eigen::Infinity>();
  const double middle = (reduced_positions(s, start, duration, 400) - exact).lpNorm<Eigen::Infinity>();
  const double fine = (reduced_positions(s, start, duration, 800) - exact).lpNorm<Eigen::Infinity>();
  const double full_error = (full_positions(s, start, duration, 800) - exact).lpNorm<Eigen::Infinity>();
  measured("full_newmark_error_h_0.125ms", full_error);
  measured("full_basis_error_h_0.5ms", coarse);
  measured("full_basis_error_h_0.125ms", fine);
  measured("full_basis_order", order_of(middle, fine));
  EXPECT_LT(fine, 2 * full_error);
  EXPECT_NEAR(order_of(coarse, middle), 2, 0.2);
  EXPECT_NEAR(order_of(middle, fine), 2, 0.1);
}

TEST(FloatingBody, KeepsMomentaInFlight) {
  const FreeSpecimen s = free_box(two_bricks(2e5), 20);
  FloatingBody body = must_create(s.model, {.gravity = Vec3::Zero()});
  begin(body, lively_start(s.model, 0.05));
  const FloatingState start = body.state();
  const Vec3 from = body.center_of_mass();
  constexpr int steps = 4000;
  for (int k = 0; k < steps; ++k) body.step();
  EXPECT_LT((body.state().linear_momentum - start.linear_momentum).norm(), 1e-12 * start.linear_momentum.norm());
  EXPECT_LT((body.state().angular_momentum - start.angular_momentum).norm(), 1e-12 * start.angular_momentum.norm());
  // What the momenta claim must also be what the body does: its centre moves at constant speed …
  const Vec3 expected = from + steps * 1e-3 / body.inertia().mass() * start.linear_momentum;
  measured("centre_drift", (body.center_of_mass() - expected).norm() / (expected - from).norm());
  EXPECT_LT((body.center_of_mass() - expected).norm(), 1e-10 * (expected - from).norm());
  // … and its vertices, weighed by the full mass matrix, turn with that momentum.
  const VecX before = world_positions(s.model, body.state());
  body.step();
  const VecX after = world_positions(s.model, body.state());
  VecX moved;
  s.body.consistent_mass().multiply((after - before) / 1e-3, moved);
  Vec3 angular = Vec3::Zero();
  for (Index v = 0; v < s.model.vertex_count(); ++v)
    angular += before.segment<3>(3 * v).cross(Vec3(moved.segment<3>(3 * v)));
  measured("angular_momentum_of_vertices", (angular - start.angular_momentum).norm() / start.angular_momentum.norm());
  EXPECT_LT((angular - start.angular_momentum).norm(), 1e-8 * start.angular_momentum.norm());
}

/// The largest relative error of the energy in each half of a flight.
std::array<double, 2> energy_errors(const SubspaceModel& model, double time_step, int steps) {
  FloatingBody body = must_create(model, {.time_step = time_step, .gravity = Vec3::Zero()});
  begin(body, lively_start(model, 0.05));
  const double energy = body.total_energy();
  std::array<double, 2> worst{};
  for (int k = 0; k < steps; ++k) {
    body.step();
    if (k % 5 != 0) continue;
    double& half = worst[to_size(2 * k / steps)];
    half = std::max(half, std::abs(body.total_energy() - energy) / energy);
  }
  return worst;
}

TEST(FloatingBody, TheErrorOfItsEnergyIsBoundedAndOfSecondOrder) {
  const FreeSpecimen s = free_box(two_bricks(2e5), 20);
  const auto coarse = energy_errors(s.model, 1e-3, 10000);
  const auto fine = energy_errors(s.model, 0.5e-3, 10000);
  measured("energy_error_h_1ms", coarse[1]);
  measured("energy_error_h_0.5ms", fine[1]);
  EXPECT_LT(coarse[1], 0.01);
  EXPECT_LT(coarse[1], 1.3 * coarse[0]);
  EXPECT_GT(order_of(coarse[0], fine[0]), 1.7);
}

/// A bar that spins and swings: linear modes alone cannot foreshorten, with their derivatives it is near the full one.
TEST(FloatingBody, ModalDerivativesBringItNearTheFullBody) {
  const BoxSpec bar{.size = Vec3(0.6, 0.1, 0.1),
                    .cells = {6, 1, 1},
                    .material = {.name = "soft", .young = 3e6, .poisson = 0.3, .density = 1000}};
  FreeSpecimen s = free_box(bar, 6);
  FreeMotion start{VecX::Zero(6), tumbling(6, Vec3(2, 5, -8))};
  start.q[0] = 0.02, start.velocity.q[1] = 1;
  const VecX full = full_positions(s, start, 0.05, 250);
  const double modes_alone = (reduced_positions(s, start, 0.05, 250) - full).lpNorm<Eigen::Infinity>();

  const MatX modes = s.model.basis;
  s.model =
      must(build_subspace_model(s.mesh, must(build_modal_basis(s.body, {}, {.linear_modes = 6, .size = 24})).basis));
  VecX into;
  s.body.consistent_mass().multiply(modes * start.q, into);
  const VecX q = s.model.basis.transpose() * into;
  s.body.consistent_mass().multiply(modes * start.velocity.q, into);
  const FreeMotion same{q, {start.velocity.linear, start.velocity.angular, s.model.basis.transpose() * into}};
  const double with_derivatives = (reduced_positions(s, same, 0.05, 250) - full).lpNorm<Eigen::Infinity>();
  measured("error_with_6_modes", modes_alone);
  measured("error_with_derivatives_r24", with_derivatives);
  EXPECT_LT(modes_alone, 0.01 * 0.6);
  EXPECT_LT(with_derivatives, 0.25 * modes_alone);
}

TEST(FloatingBody, FallsOnAParabolaAndDampingDoesNotSlowIt) {
  const FreeSpecimen s = free_box(two_bricks(2e5), 10);
  FloatingBody body = must_create(s.model, {.mass_damping = 5, .stiffness_damping = 0.01});
  begin(body, lively_start(s.model, 0.05));
  const Vec3 from = body.center_of_mass(), velocity = body.state().linear_momentum / body.inertia().mass();
  const Vec3 arm = from;
  const Vec3 spin = body.state().angular_momentum - arm.cross(body.state().linear_momentum);
  double energy = body.total_energy();
  for (int k = 0; k < 1000; ++k) {
    body.step();
    const double now = body.total_energy();
    EXPECT_LT(now, energy + 1e-3 * std::abs(energy));
    energy = now;
  }
  const Vec3 expected = from + velocity + 0.5 * Vec3(0, -9.81, 0);
  EXPECT_LT((body.center_of_mass() - expected).norm(), 1e-9);
  const Vec3 spin_now = body.state().angular_momentum - body.center_of_mass().cross(body.state().linear_momentum);
  EXPECT_LT((spin_now - spin).norm(), 1e-9 * spin.norm());
}

/// A couple of forces and one alone: linear and angular momentum grow by force and torque, step for step.
TEST(FloatingBody, PointForcesGiveTheirImpulses) {
  const FreeSpecimen s = free_box(two_bricks(2e5), 10);
  FloatingBody body = must_create(s.model, in_space(1e-3));
  body.reset(Vec3(1, 2, 3), Eigen::Quaterniond(some_rotation()));
  std::vector<Vec3> before(body.surface_rest().size()), after(before);
  const Vec3 force(0.3, -0.2, 0.5);
  for (int k = 0; k < 50; ++k) {
    const FloatingState start = body.state();
    body.surface_positions(before);
    EXPECT_TRUE(body.add_force(5, force));
    body.step();
    body.surface_positions(after);
    const Vec3 torque = 0.5 * (before[5] + after[5]).cross(force);
    EXPECT_LT((body.state().linear_momentum - start.linear_momentum - 1e-3 * force).norm(), 1e-15);
    EXPECT_LT((body.state().angular_momentum - start.angular_momentum - 1e-3 * torque).norm(), 1e-14);
  }
  EXPECT_GT(body.elastic_energy(), 0);
  const Vec3 moved = body.center_of_mass();
  for (int k = 0; k < 50; ++k) body.step();
  EXPECT_LT((body.center_of_mass() - moved - 0.05 / body.inertia().mass() * body.state().linear_momentum).norm(),
            1e-10);
}

/// Forces at some vertices of the simulation mesh, stacked.
VecX some_forces(const SubspaceModel& model) {
  VecX forces = VecX::Zero(3 * static_cast<Eigen::Index>(model.vertex_count()));
  forces.segment<3>(3 * 2) = Vec3(0.3, -0.2, 0.5);
  forces.segment<3>(3 * 7) = Vec3(-4, 2, 1);
  return forces;
}

/// The vertex of the surface that lies where one of the simulation mesh does.
int surface_vertex(const SubspaceModel& model, int vertex) {
  const auto& surface = model.surface.rest_positions;
  const Vec3& x = model.rest_positions[to_size(vertex)];
  const auto found = std::find_if(surface.begin(), surface.end(), [&](const Vec3& y) { return (y - x).norm() < 1e-9; });
  return static_cast<int>(found - surface.begin());
}

TEST(FloatingBody, AReducedLoadActsAsItsForcesDo) {
  const FreeSpecimen s = free_box(two_bricks(2e5), 10);
  const VecX forces = some_forces(s.model);
  const FloatingLoad load = reduce_load(s.model, forces);
  FloatingBody by_points = must_create(s.model, in_space(1e-3)), by_load = must_create(s.model, in_space(1e-3));
  for (FloatingBody* body : {&by_points, &by_load}) begin(*body, lively_start(s.model, 0.05));
  for (int k = 0; k < 100; ++k) {
    for (const int v : {2, 7}) by_points.add_force(surface_vertex(s.model, v), forces.segment<3>(3 * v));
    by_load.add_load(load);
    by_points.step(), by_load.step();
  }
  const FloatingState &a = by_points.state(), &b = by_load.state();
  EXPECT_LT((a.linear_momentum - b.linear_momentum).norm(), 1e-12 * a.linear_momentum.norm());
  EXPECT_LT((a.angular_momentum - b.angular_momentum).norm(), 1e-10 * a.angular_momentum.norm());
  EXPECT_LT((world_positions(s.model, a) - world_positions(s.model, b)).lpNorm<Eigen::Infinity>(), 1e-10);
}

/// A force that turns with a spinning body takes it nowhere: after a whole turn its impulses have cancelled.
TEST(FloatingBody, ALoadOfTheBodyTurnsWithIt) {
  const FreeSpecimen s = free_box(two_bricks(1e10), 6);
  const double turn = 0.5;  // [s]
  FloatingBody body = must_create(s.model, in_space(turn / 1000));
  FloatingVelocity spin{Vec3::Zero(), Vec3(0, 0, 2 * EIGEN_PI / turn), VecX::Zero(6)};
  // Spins about the axis through its centre, in place.
  spin.linear = -spin.angular.cross(body.center_of_mass());
  body.set_velocity(spin);
  VecX forces = VecX::Zero(3 * static_cast<Eigen::Index>(s.model.vertex_count()));
  for (Index v = 0; v < s.model.vertex_count(); ++v) forces[3 * v] = 1e-3;  // along the bar: no torque about its centre
  const FloatingLoad load = reduce_load(s.model, forces);
  const double newtons = load.force.x();
  double most = 0;
  for (int k = 0; k < 1000; ++k) {
    body.add_load(load, LoadFrame::body);
    EXPECT_FALSE(body.step().recovered);
    most = std::max(most, body.state().linear_momentum.norm());
  }
  EXPECT_NEAR(most, newtons * turn / EIGEN_PI, 0.01 * newtons * turn);  // ∫ over half a turn
  EXPECT_LT(body.state().linear_momentum.norm(), 0.01 * newtons * turn);
}

/// v̇ = g − α v for the centre; spin and vibration decay as well.
TEST(FloatingBody, DragSlowsAllMotion) {
  const FreeSpecimen s = free_box(two_bricks(2e5), 10);
  const auto error = [&](double time_step) {
    FloatingSettings settings = in_space(time_step);
    settings.gravity = Vec3(0, -9.81, 0);
    settings.drag = 3;
    FloatingBody body = must_create(s.model, settings);
    begin(body, lively_start(s.model, 0.05));
    const Vec3 from = body.center_of_mass(), start = body.state().linear_momentum / body.inertia().mass();
    const Vec3 spin = body.state().angular_momentum - from.cross(body.state().linear_momentum);
    for (int k = 0; k < static_cast<int>(std::lround(0.5 / time_step)); ++k) body.step();
    const double decay = std::exp(-1.5);
    const Vec3 final_speed = settings.gravity / 3;
    const Vec3 expected = from + final_speed * 0.5 + (start - final_speed) * (1 - decay) / 3;
    const Vec3 left = body.state().angular_momentum - body.center_of_mass().cross(body.state().linear_momentum);
    EXPECT_LT((left - decay * spin).norm(), 1e-3 * spin.norm());
    return (body.center_of_mass() - expected).norm();
  };
  const double coarse = error(2e-3), fine = error(1e-3);
  EXPECT_LT(fine, 1e-5);
  EXPECT_NEAR(order_of(coarse, fine), 2, 0.1);
}

TEST(FloatingBody, ASavedStateContinuesWithTheSameBits) {
  const FreeSpecimen s = free_box(two_bricks(2e5), 10);
  FloatingBody body = must_create(s.model, in_space(1e-3)), other = must_create(s.model, in_space(1e-3));
  begin(body, lively_start(s.model, 0.05));
  for (int k = 0; k < 20; ++k) body.step();
  const auto path = std::filesystem::temp_directory_path() / ("supple_flight_" + std::to_string(::getpid()));
  std::ofstream(path, std::ios::binary) << encode_floating_state(body);
  ASSERT_TRUE(resume_floating_state(path, other).ok());
  for (int k = 0; k < 20; ++k) body.step(), other.step();
  EXPECT_EQ(encode_floating_state(other), encode_floating_state(body));

  FloatingBody smaller = must_create(free_box(two_bricks(2e5), 9).model, in_space(1e-3));
  const Status refused = resume_floating_state(path, smaller);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("another model"), std::string::npos);
  EXPECT_FALSE(load_subspace_state(path, 10).ok());
  std::filesystem::remove(path);
}

/// What versions before wrote for free objects: a deformation, and no place.
TEST(FloatingBody, AStateWithoutAFrameRestsAtTheOrigin) {
  const FreeSpecimen s = free_box(two_bricks(2e5), 4);
  FloatingBody body = must_create(s.model, in_space(1e-3));
  const auto path = std::filesystem::temp_directory_path() / ("supple_frameless_" + std::to_string(::getpid()));
  std::ofstream(path, std::ios::binary) << encode_subspace_state(
      {{0.01, -0.02, 0, 0.005}, {1, 2, 3, 4}, {0, 0, 0, 0}, 0.75});
  ASSERT_TRUE(resume_floating_state(path, body).ok());
  std::filesystem::remove(path);
  EXPECT_EQ(body.state().time, 0.75);
  EXPECT_EQ(body.state().q, (VecX(4) << 0.01, -0.02, 0, 0.005).finished());
  const FloatingVelocity velocity = body.velocity();
  EXPECT_LT((velocity.q - (VecX(4) << 1, 2, 3, 4).finished()).norm(), 1e-10);
  EXPECT_LT(velocity.linear.norm() + velocity.angular.norm(), 1e-9);
}

TEST(FloatingBody, ASavedStateContinues) {
  const FreeSpecimen s = free_box(two_bricks(2e5), 10);
  FloatingBody body = must_create(s.model, in_space(1e-3));
  begin(body, lively_start(s.model, 0.05));
  for (int k = 0; k < 20; ++k) body.step();
  FloatingBody other = must_create(s.model, in_space(1e-3));
  other.set_state(body.state());
  for (int k = 0; k < 20; ++k) body.step(), other.step();
  EXPECT_EQ(other.state().time, body.state().time);
  EXPECT_LT((world_positions(s.model, other.state()) - world_positions(s.model, body.state())).norm(), 1e-10);
  other.reset();
  EXPECT_EQ(other.state().q.norm(), 0);
  EXPECT_EQ(other.state().linear_momentum.norm(), 0);
}

TEST(FloatingBody, StepAllocatesNothingAndNoNaNLeaves) {
  const FreeSpecimen s = free_box(two_bricks(2e5), 20);
  FloatingBody body = must_create(s.model, {});
  begin(body, lively_start(s.model, 0.05));
  const FloatingLoad load = reduce_load(s.model, some_forces(s.model));
  const long before = allocation_count();
  for (int k = 0; k < 50; ++k) {
    body.add_force(1, Vec3(1, 2, 3));
    body.add_load(load);
    body.add_load(load, LoadFrame::body);
    body.step();
  }
  EXPECT_EQ(allocation_count() - before, 0);
  body.add_force(0, Vec3(std::nan(""), 0, 0));
  const VecX q = body.state().q;
  EXPECT_TRUE(body.step().recovered);
  EXPECT_EQ(body.state().q, q);
  EXPECT_FALSE(body.step().recovered);
}

TEST(FloatingBody, BadModelsAndSettingsAreRefused) {
  FreeSpecimen s = free_box(two_bricks(2e5), 5);
  EXPECT_FALSE(FloatingBody::create(s.model, {.time_step = 0}).ok());
  EXPECT_FALSE(FloatingBody::create(s.model, {.mass_damping = -1}).ok());
  EXPECT_FALSE(FloatingBody::create(s.model, {.drag = -1}).ok());
  const SubspaceModel rigid = must(build_subspace_model(s.mesh, must(compute_modes(s.body, {}, {.count = 2})).rigid));
  EXPECT_FALSE(FloatingBody::create(rigid, {}).ok());
  s.model.fixed_vertices = {0};
  EXPECT_FALSE(FloatingBody::create(s.model, {}).ok());
}

}  // namespace
}  // namespace supple::floating_body_test
