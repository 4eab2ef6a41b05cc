// SPDX-License-Identifier: Apache-2.0
// An arm of three domains against the simulation of its whole mesh: frequencies, and where it hangs.
#include "supple/fem/modes.h"
#include "supple/fem/statics.h"
#include "support/domain_bodies.h"

#include <gtest/gtest.h>

namespace supple::domain_truth_test {
namespace {

TetMesh arm() { return soft_beam(Vec3(0.9, 0.1, 0.12), {18, 2, 2}, 5e5); }

VecX frequencies_of(const DomainModel& model) {
  DomainDynamics dynamics = dynamics_of(model, {});
  return small_motion_frequencies(small_motion(dynamics));
}

TEST(DomainTruth, FrequenciesApproachThoseOfTheWholeMesh) {
  const TetMesh mesh = arm();
  const ElasticBody body = ElasticBody::create(mesh, MaterialModel::stvk).value();
  const VecX truth = compute_modes(body, left_end(mesh), {.count = 3}).value().frequencies;
  double before = 1;
  for (const int size : {4, 8, 16}) {
    const VecX found = frequencies_of(beam_of_domains(mesh, 3, size, true));
    double worst = 0;
    for (Eigen::Index k = 0; k < 3; ++k) worst = std::max(worst, std::abs(found[k] / truth[k] - 1));
    RecordProperty("error_" + std::to_string(size), std::to_string(worst));
    EXPECT_LT(worst, before * 1.02) << size;
    before = worst;
  }
  EXPECT_LT(before, 0.02);  // what remains is the rigid interfaces
}

TEST(DomainTruth, HangsWhereTheWholeMeshHangs) {
  const TetMesh mesh = arm();
  const ElasticBody body = ElasticBody::create(mesh, MaterialModel::stvk).value();
  const Vec3 gravity(0, -3, 0);
  VecX g(body.dof_count());
  for (Eigen::Index v = 0; v < g.size(); v += 3) g.segment<3>(v) = gravity;
  const VecX weight = body.consistent_mass() * g;
  const VecX u = solve_static(body, left_end(mesh), weight, {}).value().u;
  double truth = 0;
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v)
    truth = std::min(truth, u[3 * static_cast<Eigen::Index>(v) + 1]);

  const DomainModel model = beam_of_domains(mesh, 3, 16, true);
  DomainSettings settings;
  settings.time_step = 0.01;
  settings.gravity = gravity;
  settings.stiffness_damping = 0.1;
  DomainDynamics dynamics = dynamics_of(model, settings);
  for (int k = 0; k < 1600; ++k) dynamics.step();
  EXPECT_LT(dynamics.measure().kinetic_energy, 1e-6);
  std::vector<double> xyz(3 * to_size(model.surface.vertex_count()));
  dynamics.update_frames();
  dynamics.surface_positions(xyz);
  const std::vector<Vec3> rest = rest_positions(model);
  double lowest = 0;
  for (std::size_t v = 0; v < rest.size(); ++v) lowest = std::min(lowest, xyz[3 * v + 1] - rest[v].y());
  EXPECT_LT(truth, -0.1);  // it hangs far enough to see
  // Measured: 2.3 %, and 2.2 % with r = 24: an interface that only its mean motion holds is that much softer. Bases
  // that are a little too stiff hide some of it.
  EXPECT_NEAR(lowest, truth, 0.025 * std::abs(truth));
  RecordProperty("sag_ratio", std::to_string(lowest / truth));
  EXPECT_LT(dynamics.largest_gap(), 0.005);
}

}  // namespace
}  // namespace supple::domain_truth_test
