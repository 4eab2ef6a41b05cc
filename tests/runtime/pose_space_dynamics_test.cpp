// SPDX-License-Identifier: Apache-2.0
// Soft tissue on a moving rig: the promises of the step (wherever, however turned, whatever unit of length, nothing
// allocated, nothing broken), and its motion against closed forms.
#include "supple/runtime/posespace/pose_space_dynamics.h"

#include "runtime/allocation_counter.h"
#include "supple/offline/fitting/flesh_frequency.h"
#include "support/soft_limb.h"

#include <gtest/gtest.h>

#include <limits>

namespace supple::pose_space_dynamics_test {
namespace {

using Root = std::function<RigidTransform(double)>;

struct Case {
  SoftLimb limb;
  ReducedBody reduced;

  explicit Case(const LimbSpec& spec = {}, const ReduceSettings& settings = small_reduction())
      : limb(make_soft_limb(spec)), reduced(reduce_limb(limb, settings)) {}
};

PoseSpaceSettings damped(double ratio = 0.1, double time_step = 1.0 / 240) {
  const RayleighDamping damping = rayleigh_damping(4, ratio);
  PoseSpaceSettings settings;
  settings.time_step = time_step;
  settings.mass_damping = damping.mass;
  settings.stiffness_damping = damping.stiffness;
  return settings;
}

template <class T>
VecX coordinates(const PoseSpaceDynamics<T>& dynamics) {
  const auto q = dynamics.coordinates();
  VecX result(static_cast<Eigen::Index>(q.size()));
  for (std::size_t k = 0; k < q.size(); ++k) result[static_cast<Eigen::Index>(k)] = static_cast<double>(q[k]);
  return result;
}

/// q over time, one column per step, along the lively motion.
template <class T>
MatX run(const Case& c, const PoseSpaceSettings& settings, double seconds, const Root& root = {},
         const RigidTransform& place = {}, const SoftForces& forces = {}) {
  auto dynamics = PoseSpaceDynamics<T>::create(c.reduced.model, settings).value();
  const auto steps = static_cast<Eigen::Index>(std::lround(seconds / settings.time_step));
  MatX q(dynamics.size(), steps);
  for (Eigen::Index k = 0; k < steps; ++k) {
    const CharacterPose pose = limb_pose(c.limb, lively(static_cast<double>(k) * settings.time_step, root));
    EXPECT_FALSE(dynamics.step(place * pose.placement, pose.p, forces).recovered);
    q.col(k) = coordinates(dynamics);
  }
  return q;
}

double peak(const MatX& q) { return q.colwise().norm().maxCoeff(); }
double peak_difference(const MatX& a, const MatX& b) { return (a - b).colwise().norm().maxCoeff(); }

/// A walk around a circle of two metres, two rounds a second, while spinning about a slanted axis.
RigidTransform circle(double time) {
  const double angle = 2 * std::numbers::pi * time;
  RigidTransform root;
  root.translation = Vec3(std::cos(angle), 0.2 * std::sin(2 * angle), std::sin(angle));
  root.rotation = turn(360 * time, Vec3(1, 3, 0.5)) * turn(20, Vec3::UnitX());
  return root;
}

// ---- wherever, and whichever way ------------------------------------------------------------------------------------

TEST(PoseSpaceDynamics, MovesTheSameAnywhereInTheWorld) {
  const Case c;
  const RigidTransform far{Vec3(10'000, -4'000, 7'000), turn(77, Vec3(1, -2, 3))};
  const MatX here = run<double>(c, damped(), 1.0, circle);
  EXPECT_GT(peak(surface_shape(*c.reduced.model, 0, here)), 0.02);
  // Rounding of 1e4 m is 2e-12 m; two differences at 240 Hz make 2e-7 m/s² of it.
  EXPECT_LT(peak_difference(run<double>(c, damped(), 1.0, circle, {Vec3(3, 2, 1), far.rotation}), here),
            1e-9 * peak(here));
  EXPECT_LT(peak_difference(run<double>(c, damped(), 1.0, circle, far), here), 1e-7 * peak(here));
  const MatX single = run<float>(c, damped(), 1.0, circle);
  EXPECT_LT(peak_difference(run<float>(c, damped(), 1.0, circle, far), single), 1e-4 * peak(here));
  EXPECT_LT(peak_difference(single, here), 1e-3 * peak(here));
}

TEST(PoseSpaceDynamics, RootMotionInTheRigIsTheSameAsInThePlacement) {
  Case outside;
  const Case inside({.root_in_pose = true});
  ASSERT_GT(inside.limb.rig.rig()->layout().size(), outside.limb.rig.rig()->layout().size());
  // The bases agree; cubature was trained with other random motions, so it is taken over. Corrections in other poses
  // aren't the same: how far poses are apart counts the root.
  PoseSpaceModel model = *outside.reduced.model;
  model.corrections.resize(1);
  model.correction_poses.reset();
  outside.reduced.model = std::make_shared<const PoseSpaceModel>(model);
  model.rest = inside.limb.rig.rig();
  Case same = inside;
  same.reduced.model = std::make_shared<const PoseSpaceModel>(model);
  const MatX a = run<double>(outside, damped(), 1.0, circle);
  EXPECT_LT(peak_difference(run<double>(same, damped(), 1.0, circle), a), 1e-7 * peak(a));
  EXPECT_LT(peak_difference(run<float>(same, damped(), 1.0, circle), a), 1e-3 * peak(a));
}

TEST(PoseSpaceDynamics, GravityTurnsWithTheWorldNotWithTheCharacter) {
  const Case c;
  const RigidTransform turned{Vec3::Zero(), turn(50, Vec3(1, 2, 0))};
  SoftForces down, tilted;
  down.gravity = Vec3(0, -9.81, 0);
  tilted.gravity = turned.rotation * down.gravity;
  const MatX a = run<double>(c, damped(), 0.5, {}, {}, down);
  EXPECT_LT(peak_difference(run<double>(c, damped(), 0.5, {}, turned, tilted), a), 1e-9 * peak(a));
  EXPECT_GT(peak_difference(run<double>(c, damped(), 0.5, {}, turned, down), a), 0.05 * peak(a));
}

TEST(PoseSpaceDynamics, ScalesWithTheUnitOfLength) {
  const Case c;
  PoseSpaceSettings settings = damped();
  settings.iterations = 3;  // whether one is enough is decided by numbers near rounding
  const MatX shown = surface_shape(*c.reduced.model, 0, run<double>(c, settings, 1.0));
  for (const double scale : {0.01, 100.0}) {
    const Case other({.length = scale});
    EXPECT_NEAR(other.reduced.flesh_frequency, 4, 1e-9);
    const MatX scaled = surface_shape(*other.reduced.model, 0, run<double>(other, settings, 1.0));
    EXPECT_LT((scaled / scale - shown).cwiseAbs().maxCoeff(), 1e-4 * shown.cwiseAbs().maxCoeff()) << scale;
    const MatX single = surface_shape(*other.reduced.model, 0, run<float>(other, settings, 1.0));
    EXPECT_LT((single / scale - shown).cwiseAbs().maxCoeff(), 1e-3 * shown.cwiseAbs().maxCoeff()) << scale;
  }
}

// ---- rest -----------------------------------------------------------------------------------------------------------

TEST(PoseSpaceDynamics, SteadyMotionLeavesFleshAtRest) {
  const Case c;
  auto dynamics = PoseSpaceDynamics<double>::create(c.reduced.model, damped()).value();
  const CharacterPose pose = limb_pose(c.limb, {{}, 0.7, -0.3});
  for (int k = 0; k < 50; ++k) {
    // Multiples of 2⁻⁴ have differences without rounding.
    const RigidTransform place{Vec3(0.0625 * k, 1000 - 0.125 * k, 3), turn(30, Vec3(1, 1, 0))};
    ASSERT_FALSE(dynamics.step(place, pose.p).recovered);
    EXPECT_EQ(coordinates(dynamics).norm(), 0);
  }
}

TEST(PoseSpaceDynamics, ComesToRestWhenTheAnimationDoes) {
  const Case c;
  auto dynamics = PoseSpaceDynamics<float>::create(c.reduced.model, damped()).value();
  double moving = 0;
  float energy = 0;
  for (int k = 0; k < 240 * 5; ++k) {
    const CharacterPose pose = limb_pose(c.limb, lively(std::min(k / 240.0, 0.8)));
    dynamics.step(pose.placement, pose.p);
    energy = std::max(energy, dynamics.elastic_energy() + dynamics.kinetic_energy());
    if (k < 200) moving = std::max(moving, coordinates(dynamics).norm());
  }
  EXPECT_GT(moving, 0);
  EXPECT_LT(coordinates(dynamics).norm(), 1e-4 * moving);
  EXPECT_LT(dynamics.elastic_energy() + dynamics.kinetic_energy(), 1e-4 * energy);
}

TEST(PoseSpaceDynamics, SagsUnderGravityAsTheStaticSolutionSays) {
  // Errors of cubature are relative to all modes together; a single one needs a finer choice.
  ReduceSettings fine = small_reduction();
  fine.cubature_tolerance = 0.003;
  const Case c({}, fine);
  auto dynamics = PoseSpaceDynamics<double>::create(c.reduced.model, damped(0.7)).value();
  SoftForces forces;
  forces.gravity = Vec3(1e-4, -2e-4, 3e-4);
  for (int k = 0; k < 240 * 3; ++k) dynamics.step({}, c.limb.rig.neutral().p, forces);
  // Λ q = Uᵀ M g, from the whole body.
  const ElasticBody body = ElasticBody::create(c.reduced.mesh, MaterialModel::stable_neo_hookean).value();
  VecX g(body.dof_count());
  for (Index v = 0; v < body.vertex_count(); ++v) g.segment<3>(3 * v) = forces.gravity;
  const VecX load = c.reduced.basis.transpose() * (body.consistent_mass() * g);
  const VecX expected = load.cwiseQuotient(c.reduced.model->stiffness);
  // In the norm of energy; the softest coordinates magnify what cubature of vertices misses by more.
  const VecX root = c.reduced.model->stiffness.cwiseSqrt();
  EXPECT_LT(root.cwiseProduct(coordinates(dynamics) - expected).norm(), 0.05 * root.cwiseProduct(expected).norm());
}

// ---- oscillations ---------------------------------------------------------------------------------------------------

/// The model with one coordinate only.
std::shared_ptr<const PoseSpaceModel> single_mode(const PoseSpaceModel& model, Eigen::Index mode) {
  PoseSpaceModel one = model;
  one.stiffness = model.stiffness.segment(mode, 1);
  one.corrections = {model.corrections[0].block(mode, mode, 1, 1)};
  one.linear.clear();
  one.mass.clear();
  const auto keep = [&](std::vector<Index>& columns, std::vector<MatX>& matrices) {
    const auto place = std::find(columns.begin(), columns.end(), static_cast<Index>(mode)) - columns.begin();
    const bool there = place < std::ssize(columns);
    columns.assign(there ? 1 : 0, 0);
    for (MatX& matrix : matrices) matrix = there ? MatX(matrix.col(place)) : MatX(matrix.rows(), 0);
  };
  for (ElementBlock& block : one.elements) keep(block.columns, block.gradients);
  for (InertialBlock& block : one.inertia) keep(block.vertices.columns, block.vertices.basis);
  for (VertexBlock& block : one.surface.blocks) keep(block.columns, block.basis);
  return std::make_shared<const PoseSpaceModel>(one);
}

/// Uᵀ K U at rest as the cubature sees it: what a single mode of the model rings with.
double cubature_stiffness(const PoseSpaceModel& model, std::span<const Vec3> rest) {
  CubatureForces<double> forces(
      std::make_shared<const PreparedModel<double>>(std::make_shared<const PoseSpaceModel>(model)));
  forces.set_pose({}, rest);
  std::vector<double> q(to_size(forces.stride()), 0.0), f = q;
  const double small = 1e-7;
  q[0] = small;
  forces.evaluate(q.data());
  forces.add_force(f.data());
  return f[0] / small;
}

TEST(PoseSpaceDynamics, AModeRingsAtItsFrequencyAndDies) {
  ReduceSettings fine = small_reduction();
  fine.cubature_tolerance = 0.003;
  const Case c({}, fine);
  const auto model = single_mode(*c.reduced.model, 0);
  std::vector<Vec3> rest;
  for (const Index v : model->points) rest.push_back(c.limb.body.mesh.vertices[to_size(v)]);
  const double lambda = cubature_stiffness(*model, rest);
  EXPECT_NEAR(lambda, model->stiffness[0], 1e-5 * lambda);
  const double omega = std::sqrt(lambda);
  const double ratio = 0.05;
  PoseSpaceSettings settings = damped();
  settings.time_step = 2 * std::numbers::pi / omega / 400;
  const RayleighDamping damping = rayleigh_damping(omega / (2 * std::numbers::pi), ratio);
  settings.mass_damping = damping.mass, settings.stiffness_damping = damping.stiffness;
  auto dynamics = PoseSpaceDynamics<double>::create(model, settings).value();
  const double start = 1e-4, none = 0;
  dynamics.set_state({&start, 1}, {&none, 1});
  // Zero crossings downward tell the period, heights of peaks the damping.
  std::vector<double> crossings, peaks{start};
  double before = start, rise = 0;
  for (int k = 1; k < 400 * 4; ++k) {
    dynamics.step({}, c.limb.rig.neutral().p);
    const double q = dynamics.coordinates()[0];
    if (before > 0 && q <= 0) crossings.push_back((k - 1 + before / (before - q)) * settings.time_step);
    if (rise > 0 && q < before) peaks.push_back(before);
    rise = q - before;
    before = q;
  }
  ASSERT_GE(crossings.size(), 3u);
  ASSERT_GE(peaks.size(), 3u);
  const double period = (crossings[2] - crossings[0]) / 2;
  EXPECT_NEAR(2 * std::numbers::pi / period, omega * std::sqrt(1 - ratio * ratio), 0.01 * omega);
  const double decrement = std::log(peaks[0] / peaks[2]) / 2;
  EXPECT_NEAR(decrement, 2 * std::numbers::pi * ratio / std::sqrt(1 - ratio * ratio), 0.01 * decrement);
}

/// |q(T) − q_fine(T)| for halved steps; large enough to be nonlinear, driven by gravity that doesn't change.
std::vector<double> errors_of_steps(const Case& c, PoseSpaceIntegrator integrator, const Root& root, bool moving) {
  std::vector<VecX> ends;
  for (const double steps : {80., 160., 320., 2560.}) {
    PoseSpaceSettings settings = damped(0.05, 0.32 / steps);
    settings.integrator = integrator;
    settings.iterations = 4;
    auto dynamics = PoseSpaceDynamics<double>::create(c.reduced.model, settings).value();
    if (!moving) {
      const std::vector<double> q(to_size(dynamics.size()), 0.05), v(q.size(), 0.3);
      dynamics.set_state(q, v);
    }
    for (int k = moving ? 0 : 1; k <= static_cast<int>(steps); ++k) {
      const LimbMotion motion = moving ? lively(k * settings.time_step, root) : LimbMotion{};
      const CharacterPose pose = limb_pose(c.limb, motion);
      EXPECT_FALSE(dynamics.step(pose.placement, pose.p).recovered);
    }
    ends.push_back(coordinates(dynamics));
  }
  std::vector<double> errors;
  for (std::size_t k = 0; k < 3; ++k) errors.push_back((ends[k] - ends[3]).norm() / ends[3].norm());
  return errors;
}

TEST(PoseSpaceDynamics, NewmarkIsOfSecondOrder) {
  const Case c;
  const auto free = errors_of_steps(c, PoseSpaceIntegrator::newmark, {}, false);
  EXPECT_GT(std::log2(free[0] / free[1]), 1.8) << free[0] << " " << free[1];
  EXPECT_GT(std::log2(free[1] / free[2]), 1.8) << free[1] << " " << free[2];
}

TEST(PoseSpaceDynamics, NewmarkIsOfSecondOrderUnderAMovingRig) {
  const Case c;
  const auto driven = errors_of_steps(c, PoseSpaceIntegrator::newmark, {}, true);
  EXPECT_GT(std::log2(driven[0] / driven[1]), 1.7);
  EXPECT_GT(std::log2(driven[1] / driven[2]), 1.7);
}

TEST(PoseSpaceDynamics, BackwardEulerIsOfFirstOrder) {
  const Case c;
  const auto free = errors_of_steps(c, PoseSpaceIntegrator::backward_euler, {}, false);
  EXPECT_NEAR(std::log2(free[1] / free[2]), 1, 0.35);
  EXPECT_LT(free[2], free[1]);
}

/// q after a second on a root that spins slowly; small displacements of the size `pushed` are put in at the start.
VecX spun(const Case& c, double gain, double pushed) {
  PoseSpaceSettings settings = damped(0.02);
  settings.gain = gain;
  settings.iterations = 4;
  auto dynamics = PoseSpaceDynamics<double>::create(c.reduced.model, settings).value();
  for (int k = 0; k < 240; ++k) {
    const RigidTransform root{Vec3::Zero(), turn(60.0 * k / 240, Vec3(1, 3, 0.5))};
    EXPECT_FALSE(dynamics.step(root, c.limb.rig.neutral().p).recovered);
    if (k != 5) continue;
    VecX q = coordinates(dynamics);
    q[0] += pushed, q[1] -= pushed;
    const std::vector<double> at(q.begin(), q.end()), v(dynamics.velocities().begin(), dynamics.velocities().end());
    dynamics.set_state(at, v);
  }
  return coordinates(dynamics);
}

// What multiplied the Coriolis forces of displaced flesh would feed on itself. Small motion adds up: what was put in
// moves the same with the rig's drive, whose own part is taken off again, and without. In that second the root turns by
// 60 degrees, and so does the plane in which flesh swings: a tenth of its Coriolis forces would be a difference of 10
// %.
TEST(PoseSpaceDynamics, TheDriveLeavesForcesOfDisplacedFleshAlone) {
  const Case c;
  const double pushed = 1e-4;
  const VecX alone = spun(c, 0, pushed);
  EXPECT_GT(alone.norm(), 0.1 * pushed);
  // What remains is elastic: the drive bends flesh a little, which stiffens it.
  for (const double gain : {0.05, 0.1})
    EXPECT_LT((spun(c, gain, pushed) - spun(c, gain, 0) - alone).norm(), 0.1 * gain * alone.norm()) << gain;
}

// ---- state ----------------------------------------------------------------------------------------------------------

// A state that is put in while the rig moves is where the flesh is: it must not be felt as a jump.
TEST(PoseSpaceDynamics, AStateCanBeTakenBackInTheMiddleOfAMotion) {
  const Case c;
  const PoseSpaceSettings settings = damped();
  auto plain = PoseSpaceDynamics<double>::create(c.reduced.model, settings).value();
  auto touched = PoseSpaceDynamics<double>::create(c.reduced.model, settings).value();
  double largest = 0;
  for (int k = 0; k < 200; ++k) {
    const CharacterPose pose = limb_pose(c.limb, lively(k * settings.time_step));
    plain.step(pose.placement, pose.p);
    touched.step(pose.placement, pose.p);
    largest = std::max(largest, coordinates(plain).norm());
    if (k != 120) continue;
    // Somewhere else, and back.
    const std::vector<double> q(plain.coordinates().begin(), plain.coordinates().end());
    const std::vector<double> v(plain.velocities().begin(), plain.velocities().end());
    const std::vector<double> zero(q.size(), 0.0);
    touched.set_state(zero, zero);
    touched.set_state(q, v);
  }
  EXPECT_LT((coordinates(plain) - coordinates(touched)).norm(), 2e-3 * largest);
}

TEST(PoseSpaceDynamics, FleshPutToRestStaysThereWhileALimbIsHeld) {
  const Case c;
  auto dynamics = PoseSpaceDynamics<double>::create(c.reduced.model, damped()).value();
  for (int k = 0; k < 100; ++k) {
    const CharacterPose pose = limb_pose(c.limb, lively(k / 240.0));
    dynamics.step(pose.placement, pose.p);
  }
  const CharacterPose held = limb_pose(c.limb, lively(100 / 240.0));
  for (int k = 0; k < 3; ++k) dynamics.step(held.placement, held.p);
  const double before = coordinates(dynamics).norm();
  const std::vector<double> zero(to_size(dynamics.size()), 0.0);
  dynamics.set_state(zero, zero);
  for (int k = 0; k < 20; ++k) {
    dynamics.step(held.placement, held.p);
    EXPECT_LT(coordinates(dynamics).norm(), 1e-9 * before);
  }
}

TEST(PoseSpaceDynamics, ACutIsNotAMotion) {
  const Case c;
  auto dynamics = PoseSpaceDynamics<double>::create(c.reduced.model, damped()).value();
  const CharacterPose a = limb_pose(c.limb, {{}, 0.2, 0});
  const CharacterPose b = limb_pose(c.limb, {{}, 0.8, 0.4});
  for (int k = 0; k < 5; ++k) dynamics.step({Vec3(1, 2, 3), Quat::Identity()}, a.p);
  dynamics.cut();
  for (int k = 0; k < 5; ++k) {
    dynamics.step({Vec3(100, 2, 3), turn(120, Vec3::UnitX())}, b.p);
    EXPECT_EQ(coordinates(dynamics).norm(), 0);
  }
}

// ---- forces ---------------------------------------------------------------------------------------------------------

TEST(PoseSpaceDynamics, SurfaceForcesDoTheWorkOfTheDisplacementShown) {
  // f̃ = (∂u/∂q)ᵀ f: a push on a vertex of a single mode accelerates it by what the vertex moves per unit of q.
  const Case c;
  const auto model = single_mode(*c.reduced.model, 1);
  PoseSpaceSettings settings;
  settings.time_step = 1e-6;
  const RigidTransform place{Vec3(5, 6, 7), turn(80, Vec3(0, 1, 1))};
  const CharacterPose pose = limb_pose(c.limb, {{}, 0.6, 0.2});
  auto dynamics = PoseSpaceDynamics<double>::create(model, settings).value();
  const double unit = 1;
  std::vector<Vec3> shown(to_size(model->surface.vertex_count()));
  dynamics.surface_displacements(place, pose.p, {&unit, 1}, shown);
  const SurfaceForce push{40, Vec3(1, -2, 0.5)};
  SoftForces forces;
  forces.surface = {&push, 1};
  dynamics.step(place, pose.p, forces);
  // From rest, a' of the first step is nearly constant: v = h a'/2 by the trapezoidal rule.
  const double acceleration = dynamics.velocities()[0] / settings.time_step * 2;
  EXPECT_NEAR(acceleration, push.force.dot(shown[40]), 1e-4 * std::abs(acceleration));
}

TEST(PoseSpaceDynamics, WindPushesAndDragBrakes) {
  const Case c;
  SoftForces wind;
  wind.drag = 2;
  wind.wind = Vec3(0, 0, 5);
  auto dynamics = PoseSpaceDynamics<double>::create(c.reduced.model, damped(0.7)).value();
  auto pulled = PoseSpaceDynamics<double>::create(c.reduced.model, damped(0.7)).value();
  SoftForces gravity;
  gravity.gravity = Vec3(0, 0, 10);  // drag · wind
  for (int k = 0; k < 240 * 4; ++k) {
    dynamics.step({}, c.limb.rig.neutral().p, wind);
    pulled.step({}, c.limb.rig.neutral().p, gravity);
  }
  EXPECT_GT(coordinates(pulled).norm(), 0);
  EXPECT_LT((coordinates(dynamics) - coordinates(pulled)).norm(), 1e-3 * coordinates(pulled).norm());
  // Still air against a character that moves: the same as wind from the other side.
  auto moving = PoseSpaceDynamics<double>::create(c.reduced.model, damped(0.7)).value();
  SoftForces air;
  air.drag = 2;
  for (int k = 0; k < 240 * 4; ++k)
    moving.step({Vec3(0, 0, -5.0 * k / 240), Quat::Identity()}, c.limb.rig.neutral().p, air);
  EXPECT_LT((coordinates(moving) - coordinates(pulled)).norm(), 1e-3 * coordinates(pulled).norm());
}

// Air as thick as honey: drag d far above 2/h. One mode of stiffness k creeps home as exp(−k t / d), and no motion of
// the rig carries flesh farther than air that stands still holds it back.
TEST(PoseSpaceDynamics, DragMayBeAsStrongAsOneLikes) {
  const Case c;
  const auto model = single_mode(*c.reduced.model, 0);
  SoftForces honey;
  honey.drag = 1e4;
  const std::vector<double> away = {1e-4}, still = {0};
  for (const PoseSpaceIntegrator integrator : {PoseSpaceIntegrator::newmark, PoseSpaceIntegrator::backward_euler}) {
    PoseSpaceSettings settings;
    settings.integrator = integrator;
    auto dynamics = PoseSpaceDynamics<double>::create(model, settings).value();
    dynamics.step({}, c.limb.rig.neutral().p);
    dynamics.set_state(away, still);
    const double k = 2 * dynamics.elastic_energy() / (away[0] * away[0]);
    for (int n = 0; n < 600; ++n) EXPECT_FALSE(dynamics.step({}, c.limb.rig.neutral().p, honey).recovered);
    EXPECT_NEAR(dynamics.coordinates()[0], away[0] * std::exp(-k * 2.5 / 1e4), 2e-3 * away[0]);
    settings = damped();
    settings.integrator = integrator;
    const MatX q = run<float>(c, settings, 1.0, circle, {}, honey);
    EXPECT_LT(peak(surface_shape(*c.reduced.model, 0, q)) / std::sqrt(c.reduced.model->surface.vertex_count()), 3);
  }
}

// ---- what cannot happen ---------------------------------------------------------------------------------------------

TEST(PoseSpaceDynamics, StepsWithoutAllocating) {
  const Case c;
  auto dynamics = PoseSpaceDynamics<float>::create(c.reduced.model, damped()).value();
  std::vector<CharacterPose> poses;
  for (int k = 0; k < 20; ++k) poses.push_back(limb_pose(c.limb, lively(0.4 + k / 240.0, circle)));
  const SurfaceForce push{3, Vec3(0, 1, 0)};
  SoftForces forces;
  forces.gravity = Vec3(0, -9.81, 0);
  forces.drag = 1;
  forces.surface = {&push, 1};
  std::vector<Vec3> shown(to_size(c.reduced.model->surface.vertex_count()));
  const long before = allocation_count();
  for (const CharacterPose& pose : poses) {
    dynamics.step(pose.placement, pose.p, forces);
    dynamics.surface_displacements(pose.placement, pose.p, dynamics.coordinates(), shown);
  }
  dynamics.cut();
  dynamics.step({Vec3::Constant(1e30), Quat::Identity()}, poses[0].p, forces);
  EXPECT_EQ(allocation_count() - before, 0);
}

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

template <class T>
void survives(const Case& c, const std::function<void(CharacterPose&, SoftForces&)>& spoil, bool must_recover = true) {
  auto dynamics = PoseSpaceDynamics<T>::create(c.reduced.model, damped()).value();
  std::vector<Vec3> shown(to_size(c.reduced.model->surface.vertex_count()));
  bool recovered = false;
  const auto step = [&](int k, bool spoiled) {
    CharacterPose pose = limb_pose(c.limb, lively(std::min(k / 240.0, 0.5)));
    const std::vector<double> clean = pose.p;
    SoftForces forces;
    if (spoiled) spoil(pose, forces);
    const PoseSpaceReport report = dynamics.step(pose.placement, pose.p, forces);
    recovered |= report.recovered;
    EXPECT_TRUE(std::isfinite(report.residual));
    EXPECT_TRUE(coordinates(dynamics).allFinite()) << k;
    dynamics.surface_displacements({}, clean, dynamics.coordinates(), shown);
    for (const Vec3& u : shown) ASSERT_TRUE(u.allFinite());
  };
  for (int k = 0; k < 60; ++k) step(k, false);
  for (int k = 60; k < 64; ++k) step(k, true);
  EXPECT_EQ(recovered, must_recover);
  for (int k = 64; k < 240 * 6; ++k) step(k, false);
  // Whatever it was, it is over: flesh is back at rest.
  double largest = 0;
  for (const Vec3& u : shown) largest = std::max(largest, u.norm());
  EXPECT_LT(largest, 1e-3);
}

template <class T>
void survives_everything() {
  const Case c;
  // Rigs have an answer for any pose, so that these are jumps of a limb.
  survives<T>(
      c, [](CharacterPose& pose, SoftForces&) { pose.p[1] = not_a_number; }, false);
  survives<T>(
      c, [](CharacterPose& pose, SoftForces&) { std::fill(pose.p.begin(), pose.p.end(), not_a_number); }, false);
  survives<T>(c, [](CharacterPose& pose, SoftForces&) { pose.placement.translation.x() = not_a_number; });
  survives<T>(c, [](CharacterPose& pose, SoftForces&) { pose.placement.rotation.w() = not_a_number; });
  survives<T>(c, [](CharacterPose& pose, SoftForces&) { pose.placement.translation.x() = HUGE_VAL; });
  survives<T>(c, [](CharacterPose&, SoftForces& forces) { forces.gravity.x() = not_a_number; });
  survives<T>(c, [](CharacterPose& pose, SoftForces&) { pose.placement.translation.x() = 1e30; });
  for (const double size : {1e2, 1e6, 1e12}) {
    SCOPED_TRACE(size);
    auto dynamics = PoseSpaceDynamics<T>::create(c.reduced.model, damped()).value();
    for (int k = 0; k < 240 * 6; ++k) {
      const double x = k >= 60 && k < 64 ? size : 0;
      dynamics.step({Vec3(x, 0, 0), Quat::Identity()}, c.limb.rig.neutral().p);
      ASSERT_TRUE(coordinates(dynamics).allFinite()) << k;
    }
    EXPECT_LT(surface_shape(*c.reduced.model, 0, coordinates(dynamics)).cwiseAbs().maxCoeff(), 1e-3);
  }
}

TEST(PoseSpaceDynamics, SurvivesAbsurdInputInSinglePrecision) { survives_everything<float>(); }
TEST(PoseSpaceDynamics, SurvivesAbsurdInputInDoublePrecision) { survives_everything<double>(); }

TEST(PoseSpaceDynamics, RefusesSettingsOutOfRange) {
  const Case c;
  for (PoseSpaceSettings bad : {PoseSpaceSettings{.time_step = 0}, PoseSpaceSettings{.mass_damping = -1},
                                PoseSpaceSettings{.stiffness_damping = std::numeric_limits<double>::quiet_NaN()},
                                PoseSpaceSettings{.iterations = 0}})
    EXPECT_FALSE(PoseSpaceDynamics<float>::create(c.reduced.model, bad).ok());
  EXPECT_FALSE(PoseSpaceDynamics<float>::create(std::make_shared<const PoseSpaceModel>(), {}).ok());
}

}  // namespace
}  // namespace supple::pose_space_dynamics_test
