// SPDX-License-Identifier: Apache-2.0
// Trees of domains against Lagrange's equations of all their vertices, conservation laws and the rule of scale.
#include "runtime/allocation_counter.h"
#include "support/dense_truth.h"
#include "support/domain_bodies.h"

#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include <algorithm>
#include <random>
#include <thread>

namespace supple::domain_dynamics_test {
namespace {

DomainSettings free_of_damping(double h) {
  DomainSettings settings;
  settings.time_step = h;
  settings.mass_damping = settings.stiffness_damping = 0;
  return settings;
}

void fill_random(std::span<double> values, double size, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-size, size);
  for (double& value : values) value = uniform(random);
}

/// q̈ from the positions of all vertices alone: x(q) is differentiated numerically, and Lagrange's equations
///   (JᵀMJ) q̈ = Jᵀ(M g − M d²x/dt²|_{q̈=0} + f) − ∂V/∂q
/// are solved as a dense system. Includes whatever frames, interfaces, scales and couplings do.
VecX lagrange_accelerations(const DomainModel& model, DomainDynamics& dynamics, const Vec3& gravity,
                            const VecX& elastic_force) {
  const auto q = dynamics.coordinates();
  const Eigen::Index n = std::ssize(q);
  const VecX q0 = Eigen::Map<const VecX>(q.data(), n);
  const VecX v0 = Eigen::Map<const VecX>(dynamics.velocities().data(), n);
  const auto x_at = [&](const VecX& value) {
    std::copy(value.begin(), value.end(), q.begin());
    return solid_positions(model, dynamics);
  };
  const VecX x0 = x_at(q0);
  MatX J(x0.size(), n), MJ(x0.size(), n);
  for (Eigen::Index l = 0; l < n; ++l) {
    const double e = 1e-5;
    J.col(l) = (x_at(q0 + e * VecX::Unit(n, l)) - x_at(q0 - e * VecX::Unit(n, l))) / (2 * e);
    MJ.col(l) = solid_mass_times(model, J.col(l));
  }
  const double e = 1e-4 / std::max(1.0, v0.norm());
  const VecX bias = (x_at(q0 + e * v0) - 2 * x0 + x_at(q0 - e * v0)) / (e * e);
  x_at(q0);
  VecX g(x0.size());
  for (Eigen::Index v = 0; v < g.size(); v += 3) g.segment<3>(v) = gravity;
  const VecX rhs = MJ.transpose() * (g - bias) - elastic_force;
  return truth::solve_symmetric(J.transpose() * MJ, rhs);
}

VecX elastic_forces(DomainDynamics& dynamics) {
  const auto q = dynamics.coordinates();
  VecX force(std::ssize(q));
  const double e = 1e-5;
  for (std::size_t l = 0; l < q.size(); ++l) {
    const double value = q[l];
    q[l] = value + e;
    const double up = dynamics.measure().elastic_energy;
    q[l] = value - e;
    const double down = dynamics.measure().elastic_energy;
    q[l] = value;
    force[static_cast<Eigen::Index>(l)] = (up - down) / (2 * e);
  }
  return force;
}

/// A branch that forks, with scaled and turned copies of one twig on it.
DomainModel forked_tree() {
  TetMesh trunk = soft_beam(Vec3(0.6, 0.12, 0.12), {6, 1, 1}), twig = soft_beam(Vec3(0.3, 0.05, 0.05), {4, 1, 1});
  for (Vec3& v : twig.vertices) v -= Vec3(0, 0.025, 0.025);
  TreePlan plan;
  plan.parts.push_back({.name = "trunk", .mesh = trunk, .fixed = left_end(trunk), .size = 6});
  plan.parts.push_back({.name = "twig", .mesh = twig, .fixed = left_end(twig), .size = 4});
  plan.domains.emplace_back();
  const auto add = [&](Index parent, double scale, const Vec3& axis, double angle, const Vec3& place) {
    DomainPlan domain;
    domain.part = 1;
    domain.parent = parent;
    domain.scale = scale;
    domain.frequency = 1.2;
    domain.rotation = Eigen::AngleAxisd(angle, axis.normalized()).toRotationMatrix();
    domain.position = place;
    plan.domains.push_back(domain);
    return static_cast<Index>(plan.domains.size()) - 1;
  };
  const Index first = add(0, 1.3, Vec3(0, 0, 1), 0.7, Vec3(0.55, 0.1, 0.06));
  add(0, 0.8, Vec3(0, 1, 0), -0.9, Vec3(0.35, 0.06, 0.1));
  const Mat3 R = plan.domains[to_size(first)].rotation;
  add(first, 0.5, Vec3(1, 1, 0), 1.1, plan.domains[to_size(first)].position + 1.3 * R * Vec3(0.28, 0.0, 0.01));
  return build_domains(plan).value().model;
}

TEST(DomainDynamics, AccelerationsAreThoseOfLagrangesEquations) {
  const DomainModel model = forked_tree();
  DomainDynamics dynamics = dynamics_of(model, free_of_damping(1e-3));
  fill_random(dynamics.coordinates(), 0.05, 3);
  fill_random(dynamics.velocities(), 0.5, 4);
  dynamics.initialize();
  const VecX expected = lagrange_accelerations(model, dynamics, dynamics.settings().gravity, elastic_forces(dynamics));
  const VecX found = Eigen::Map<const VecX>(dynamics.accelerations().data(), expected.size());
  EXPECT_LT((found - expected).norm(), 1e-5 * expected.norm());
}

TEST(DomainDynamics, PointForcesDoTheWorkOfTheirVertices) {
  const DomainModel model = forked_tree();
  DomainDynamics dynamics = dynamics_of(model, free_of_damping(1e-3));
  dynamics.set_gravity(Vec3::Zero());
  fill_random(dynamics.coordinates(), 0.05, 3);
  dynamics.initialize();
  const VecX before = Eigen::Map<const VecX>(dynamics.accelerations().data(), std::ssize(dynamics.coordinates()));
  const Vec3 force(0.3, -0.2, 0.5);
  const Index domain = 3, vertex = 2;
  dynamics.add_force(domain, vertex, force);
  dynamics.initialize();
  const VecX change = VecX(Eigen::Map<const VecX>(dynamics.accelerations().data(), before.size())) - before;
  // The same push as gravity of all vertices, but on one: JᵀF.
  const auto q = dynamics.coordinates();
  std::vector<double> xyz(3 * to_size(model.surface.vertex_count()));
  const auto place = [&] {
    dynamics.update_frames();
    dynamics.surface_positions(xyz);
    std::size_t shown = 0;
    while (model.surface.domain[shown] != domain || model.surface.vertex[shown] != vertex) ++shown;
    return Vec3(xyz[3 * shown], xyz[3 * shown + 1], xyz[3 * shown + 2]);
  };
  VecX load(before.size());
  for (std::size_t l = 0; l < q.size(); ++l) {
    const double value = q[l], e = 1e-6;
    q[l] = value + e;
    const Vec3 up = place();
    q[l] = value - e;
    load[static_cast<Eigen::Index>(l)] = (up - place()).dot(force) / (2 * e);
    q[l] = value;
  }
  const VecX expected = lagrange_accelerations(model, dynamics, Vec3::Zero(), -load);
  EXPECT_LT((change - expected).norm(), 1e-4 * expected.norm());
}

TEST(DomainDynamics, AMovingRootCarriesEverything) {
  // A root that moves rigidly with the acceleration −g and one at rest under gravity g feel the same.
  const DomainModel model = forked_tree();
  DomainSettings settings;
  settings.time_step = 1e-3;
  const Vec3 g(1, -5, 2);
  settings.gravity = g;
  DomainDynamics still = dynamics_of(model, settings);
  settings.gravity = Vec3::Zero();
  DomainDynamics moved = dynamics_of(model, settings);
  for (int k = 1; k <= 200; ++k) {
    const double t = k * settings.time_step;
    RootMotion root;
    root.position = -t * t / 2 * g;
    root.velocity = -t * g;
    root.acceleration = -g;
    moved.set_root(root);
    still.step();
    moved.step();
  }
  double largest = 0;
  for (std::size_t l = 0; l < still.coordinates().size(); ++l) {
    EXPECT_NEAR(still.coordinates()[l], moved.coordinates()[l], 1e-9);
    largest = std::max(largest, std::abs(still.coordinates()[l]));
  }
  EXPECT_GT(largest, 1e-3);
}

/// The momentum and angular momentum of all vertices, from differences of their positions.
std::pair<Vec3, Vec3> momentum_of(const DomainModel& model, const VecX& before, const VecX& after, double h) {
  const VecX p = solid_mass_times(model, (after - before) / h), middle = 0.5 * (before + after);
  Vec3 linear = Vec3::Zero(), angular = Vec3::Zero();
  for (Eigen::Index v = 0; v < p.size(); v += 3) {
    linear += p.segment<3>(v);
    const Vec3 x = middle.segment<3>(v), f = p.segment<3>(v);
    angular += x.cross(f);
  }
  return {linear, angular};
}

TEST(DomainDynamics, AFreeAssemblyKeepsItsMomentum) {
  const TetMesh mesh = soft_beam(Vec3(0.9, 0.1, 0.12), {9, 1, 1}, 1e5);
  const DomainModel model = beam_of_domains(mesh, 3, 5, false);
  DomainSettings settings = free_of_damping(1e-3);
  settings.gravity = Vec3::Zero();
  DomainDynamics dynamics = dynamics_of(model, settings);
  fill_random(dynamics.velocities(), 0.3, 5);
  RootMotion root = dynamics.root();
  root.velocity = Vec3(0.5, 0.2, -0.1);
  root.angular_velocity = Vec3(2, 1, 3);
  dynamics.set_root(root);
  const DomainMeasures start = dynamics.measure();
  const auto step = [&] {
    const VecX before = solid_positions(model, dynamics);
    EXPECT_FALSE(dynamics.step().recovered);
    return momentum_of(model, before, solid_positions(model, dynamics), settings.time_step);
  };
  const auto [linear, angular] = step();
  for (int k = 0; k < 1000; ++k) dynamics.step();
  const auto [linear_later, angular_later] = step();
  EXPECT_LT((linear - start.momentum).norm(), 1e-4 * start.momentum.norm());
  EXPECT_LT((linear_later - linear).norm(), 1e-5 * linear.norm());
  EXPECT_LT((angular_later - angular).norm(), 3e-4 * angular.norm());  // of a second order difference of positions
  const DomainMeasures end = dynamics.measure();
  EXPECT_LT((end.momentum - start.momentum).norm(), 1e-9 * start.momentum.norm());
  EXPECT_LT((end.angular_momentum - start.angular_momentum).norm(), 1e-9 * start.angular_momentum.norm());
  const double energy = start.kinetic_energy + start.elastic_energy;
  EXPECT_NEAR(end.kinetic_energy + end.elastic_energy, energy, 0.02 * energy);
}

TEST(DomainDynamics, ScaledCopiesAreScaledBodies) {
  // A part at scale s must move as the mesh that is s times as large: frequencies go with 1/s.
  const double s = 1.6;
  TetMesh small = soft_beam(), large = soft_beam();
  for (Vec3& v : large.vertices) v *= s;
  const auto frequencies = [&](const TetMesh& mesh, double scale) {
    TreePlan plan;
    plan.parts.push_back({.name = "beam", .mesh = mesh, .fixed = left_end(mesh), .size = 6});
    plan.domains.push_back({.part = 0, .scale = scale});
    const DomainModel model = build_domains(plan).value().model;
    DomainDynamics dynamics = dynamics_of(model, free_of_damping(1e-3));
    dynamics.set_gravity(Vec3(0, -2, 1));
    for (int k = 0; k < 300; ++k) dynamics.step();
    return solid_positions(model, dynamics);
  };
  const VecX scaled = frequencies(small, s), direct = frequencies(large, 1.0);
  EXPECT_LT((scaled - direct).norm(), 1e-6 * direct.norm());
}

TEST(DomainDynamics, CopiesMoveAlikeInEveryLane) {
  TetMesh trunk = soft_beam(), twig = soft_beam(Vec3(0.2, 0.03, 0.03), {3, 1, 1});
  TreePlan plan;
  plan.parts.push_back({.name = "trunk", .mesh = trunk, .fixed = left_end(trunk), .size = 5});
  plan.parts.push_back({.name = "twig", .mesh = twig, .fixed = left_end(twig), .size = 4});
  plan.domains.emplace_back();
  for (int k = 0; k < 7; ++k) plan.domains.push_back({.part = 1, .parent = 0, .position = Vec3(0.8, 0.05, 0.06)});
  DomainDynamics dynamics = dynamics_of(build_domains(plan).value().model, {});
  for (int k = 0; k < 100; ++k) dynamics.step();
  const PreparedTree& tree = dynamics.tree();
  for (std::size_t d = 2; d < 8; ++d)
    for (std::size_t l = 0; l < 4; ++l)
      EXPECT_EQ(dynamics.coordinates()[tree.offset_of[d] + l], dynamics.coordinates()[tree.offset_of[1] + l]);
}

TEST(DomainDynamics, AllKindsOfInertiaStayBoundedAndAllocateNothing) {
  const DomainModel model = forked_tree();
  for (const SubtreeInertia inertia : {SubtreeInertia::interface, SubtreeInertia::centre, SubtreeInertia::full}) {
    DomainSettings settings;
    settings.time_step = 1.0 / 120;
    settings.inertia = inertia;
    DomainDynamics dynamics = dynamics_of(model, settings);
    WindField wind;
    wind.velocity = Vec3(4, 0, 1);
    wind.turbulence = 0.5;
    wind.gusts = 0.5;
    dynamics.set_wind(wind);
    dynamics.step();
    const long allocations = allocation_count();
    bool recovered = false;
    for (int k = 0; k < 3000; ++k) recovered |= dynamics.step().recovered;
    EXPECT_EQ(allocation_count(), allocations);
    EXPECT_FALSE(recovered);
    const DomainMeasures end = dynamics.measure();
    EXPECT_LT(end.kinetic_energy, end.elastic_energy);  // it sways about its sag
    EXPECT_LT(end.elastic_energy, 20.0);                // of about 5 J
  }
}

TEST(SplitMesh, RefusesWhatIsNoTree) {
  const TetMesh mesh = soft_beam(Vec3(0.4, 0.4, 0.1), {4, 4, 1});
  std::vector<Index> quarters, halves;
  for (const auto& element : mesh.elements) {
    Vec3 centre = Vec3::Zero();
    for (const Index v : element) centre += mesh.vertices[to_size(v)] / 4;
    const bool right = centre.x() > 0.2, up = centre.y() > 0.2;
    quarters.push_back(right ? (up ? 2 : 1) : (up ? 3 : 0));
    halves.push_back(centre.x() < 0.1 || centre.x() > 0.3 ? 0 : 1);
  }
  SplitSettings settings;
  settings.names = {"a", "b", "c", "d"};
  const Result<TreePlan> loop = split_mesh(mesh, quarters, settings);
  ASSERT_FALSE(loop.ok());
  EXPECT_NE(loop.error().message.find("loop"), std::string::npos);
  for (const char* name : {"\"a\"", "\"b\"", "\"d\""}) EXPECT_NE(loop.error().message.find(name), std::string::npos);
  const Result<TreePlan> pieces = split_mesh(mesh, halves, settings);
  ASSERT_FALSE(pieces.ok());
  EXPECT_NE(pieces.error().message.find("2 pieces"), std::string::npos);
  settings.root = "e";
  EXPECT_FALSE(split_mesh(mesh, std::vector<Index>(mesh.elements.size(), 0), settings).ok());
}

TEST(BuildDomains, RefusesScalesOfZeroAndInterfacesThatHoldNothing) {
  const TetMesh mesh = soft_beam();
  TreePlan plan;
  plan.parts.push_back({.name = "twig", .mesh = mesh, .fixed = left_end(mesh), .size = 3});
  plan.domains.emplace_back();
  plan.domains.push_back({.part = 0, .parent = 0, .interface = {1, 2, 5, 7}});
  const auto told = [&](double scale, std::vector<Index> interface) {
    plan.domains[1].scale = scale;
    plan.domains[1].interface = std::move(interface);
    const Result<DomainBuild> built = build_domains(plan);
    return built.ok() ? std::string() : built.error().message;
  };
  EXPECT_NE(told(0, {1, 2, 5, 7}).find("domain 1 (\"twig\") has a scale of 0"), std::string::npos);
  EXPECT_NE(told(1, {5}).find("an interface of one vertex can't hold a part"), std::string::npos);
  EXPECT_NE(told(1, {5, 7}).find("an interface of 2 vertices can't hold a part"), std::string::npos);
}

/// A trunk with twigs and leaves on them: so many that a group has several chunks, and chunks share parents.
DomainModel crown(int twigs, int leaves, int size) {
  TetMesh trunk = soft_beam(Vec3(0.6, 0.12, 0.12), {6, 1, 1}), twig = soft_beam(Vec3(0.3, 0.05, 0.05), {4, 1, 1});
  for (Vec3& v : twig.vertices) v -= Vec3(0, 0.025, 0.025);
  TreePlan plan;
  plan.parts.push_back({.name = "trunk", .mesh = trunk, .fixed = left_end(trunk), .size = 6});
  plan.parts.push_back({.name = "twig", .mesh = twig, .fixed = left_end(twig), .size = size});
  plan.domains.emplace_back();
  const auto add = [&](Index parent, double scale, const Mat3& rotation, const Vec3& place) {
    DomainPlan domain;
    domain.part = 1;
    domain.parent = parent;
    domain.scale = scale;
    domain.rotation = rotation;
    domain.position = place;
    plan.domains.push_back(domain);
  };
  for (int k = 0; k < twigs; ++k)
    add(0, 1,
        Eigen::AngleAxisd(0.7 + k, Vec3::UnitX()).toRotationMatrix() *
            Eigen::AngleAxisd(1.2, Vec3::UnitZ()).toRotationMatrix(),
        Vec3(0.2 + 0.35 * k / twigs, 0.06, 0.06));
  for (int k = 0; k < leaves; ++k) {
    const Index on = 1 + k % twigs;
    const DomainPlan bearer = plan.domains[to_size(on)];
    add(on, 0.4, Mat3(bearer.rotation * Eigen::AngleAxisd(1.0 + 2 * k, Vec3(1, 1, 0).normalized())),
        bearer.position + bearer.rotation * Vec3(0.1 + 0.15 * k / leaves, 0.0, 0.01));
  }
  return build_domains(plan).value().model;
}

/// Two threads that take the jobs alternately, the last ones first.
void on_two_threads(void* user, std::int64_t count, JobBody body, void* context) {
  ++*static_cast<int*>(user);
  const auto half = [=](std::int64_t first) {
    for (std::int64_t i = count - 1 - first; i >= 0; i -= 2) body(context, i);
  };
  std::thread other(half, 1);
  half(0);
  other.join();
}

TEST(DomainDynamics, AnyNumberOfThreadsGivesTheSameBits) {
  const DomainModel model = crown(200, 500, 4);
  const auto tree = std::make_shared<const PreparedTree>(prepare_tree(model).value());
  const auto shares = [](const DomainChunk& chunk) { return chunk.shared_parent >= 0; };
  ASSERT_TRUE(std::any_of(tree->chunks.begin(), tree->chunks.end(), shares));
  ASSERT_GT(tree->most_chunks, 2U);
  DomainSettings settings;
  settings.iterations = 2;
  DomainDynamics one = DomainDynamics::create(tree, settings).value();
  DomainDynamics two = DomainDynamics::create(tree, settings).value();
  int loops = 0;
  two.set_jobs(on_two_threads, &loops);
  WindField wind;
  wind.velocity = Vec3(3, 0, 1);
  wind.turbulence = 0.4;
  for (DomainDynamics* dynamics : {&one, &two}) dynamics->set_wind(wind);
  for (int k = 0; k < 10; ++k) {
    ASSERT_FALSE(one.step().recovered);
    ASSERT_FALSE(two.step().recovered);
  }
  EXPECT_GT(loops, 10);
  EXPECT_TRUE(std::equal(one.coordinates().begin(), one.coordinates().end(), two.coordinates().begin()));
  EXPECT_TRUE(std::equal(one.accelerations().begin(), one.accelerations().end(), two.accelerations().begin()));
}

TEST(DomainDynamics, ManyDomainsObeyLagrangesEquations) {
  // Sums over chunks and their shared parents included.
  const DomainModel model = crown(90, 3, 1);
  DomainDynamics dynamics = dynamics_of(model, free_of_damping(1e-3));
  ASSERT_GT(dynamics.tree().most_chunks, 1U);
  fill_random(dynamics.coordinates(), 0.05, 3);
  fill_random(dynamics.velocities(), 0.5, 4);
  dynamics.initialize();
  const VecX expected = lagrange_accelerations(model, dynamics, dynamics.settings().gravity, elastic_forces(dynamics));
  const VecX found = Eigen::Map<const VecX>(dynamics.accelerations().data(), expected.size());
  EXPECT_LT((found - expected).norm(), 1e-5 * expected.norm());
}

/// Pulled for a fifth of a second and let go, with the damping that scenes have: the energy then, and the largest one
/// in each tenth of the steps that follow.
struct EnergyRun {
  double start = 0;
  std::vector<double> most = std::vector<double>(10, 0.0);
};

EnergyRun let_go(bool held, double h, int steps) {
  DomainSettings settings;
  settings.time_step = h;
  DomainDynamics dynamics = dynamics_of(beam_of_domains(soft_beam(), 3, 6, held), settings);
  RootMotion root = dynamics.root();
  root.angular_velocity = Vec3(0.5, 1.5, 0.3);
  if (!held) dynamics.set_root(root);
  for (int k = 0; k < 0.2 / h; ++k) dynamics.step();
  dynamics.set_gravity(Vec3::Zero());
  const auto energy = [&] {
    const DomainMeasures now = dynamics.measure();
    return now.kinetic_energy + now.elastic_energy;
  };
  EnergyRun run{.start = energy()};
  for (int k = 0; k < steps; ++k) {
    EXPECT_FALSE(dynamics.step().recovered);
    double& most = run.most[to_size(10 * k / steps)];
    if (k % 20 == 0) most = std::max(most, energy());
  }
  return run;
}

TEST(DomainDynamics, EnergyNeverGrows) {
  for (const bool held : {true, false}) {
    const EnergyRun run = let_go(held, 1.0 / 240, 100000);
    EXPECT_GT(run.start, 0.01);
    // Rounding is 1e-16 of what was there in each step.
    for (std::size_t k = 1; k < run.most.size(); ++k)
      EXPECT_LE(run.most[k], run.most[k - 1] + 1e-10 * run.start) << held << k;
    EXPECT_LT(run.most[1], run.start);
  }
}

TEST(DomainDynamics, EnergyBeyondTheFirstIsTheStepsErrorAndFallsWithIt) {
  // One iteration linearises forces: in the first swing, a quarter of the length, that adds 1.7 % at 240 steps a
  // second.
  const auto excess = [](double h) {
    const EnergyRun run = let_go(true, h, static_cast<int>(1 / h));
    return *std::max_element(run.most.begin(), run.most.end()) / run.start - 1;
  };
  const double coarse = excess(1.0 / 240), fine = excess(1.0 / 960);
  EXPECT_LT(coarse, 0.03);
  EXPECT_LT(fine, 0.4 * std::abs(coarse));
}

TEST(DomainDynamics, FrequenciesCanBeChangedAtRunTime) {
  SplitSettings split;
  split.fixed = left_end(soft_beam());
  split.size = 5;
  TreePlan plan = split_mesh(soft_beam(), labels_along_x(soft_beam(), 3), split).value();
  DomainDynamics changed = dynamics_of(build_domains(plan).value().model, free_of_damping(1e-3));
  plan.domains[2].frequency = 1.7;
  DomainDynamics built = dynamics_of(build_domains(plan).value().model, free_of_damping(1e-3));
  changed.set_frequency(2, 1.7);
  for (DomainDynamics* dynamics : {&changed, &built}) {
    fill_random(dynamics->coordinates(), 0.02, 5);
    dynamics->initialize();
  }
  for (std::size_t k = 0; k < built.accelerations().size(); ++k)
    EXPECT_NEAR(changed.accelerations()[k], built.accelerations()[k], 1e-9 * std::abs(built.accelerations()[k]) + 1e-9);
}

}  // namespace
}  // namespace supple::domain_dynamics_test
