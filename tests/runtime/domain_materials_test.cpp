// SPDX-License-Identifier: Apache-2.0
// Parts of materials that have no polynomial: their forces are sums over few points of the mesh.
#include "supple/asset/domain_archive.h"
#include "supple/fem/statics.h"
#include "supple/offline/domains/part_cubature.h"
#include "supple/offline/domains/tune_frequencies.h"
#include "support/domain_bodies.h"

#include <gtest/gtest.h>

#include <random>

namespace supple::domain_materials_test {
namespace {

TetMesh beam() { return soft_beam(Vec3(0.9, 0.1, 0.12), {18, 2, 2}); }

DomainBuild built(MaterialModel material, int parts, int size) {
  const TetMesh mesh = beam();
  SplitSettings settings;
  settings.size = size;
  settings.fixed = left_end(mesh);
  TreePlan plan = split_mesh(mesh, labels_along_x(mesh, parts), settings).value();
  for (PartPlan& part : plan.parts) part.material = material;
  return build_domains(plan).value();
}

TEST(DomainMaterials, ForceIsTheSlopeOfEnergyAndStiffnessThatOfForce) {
  for (const MaterialModel material : {MaterialModel::corotational, MaterialModel::neo_hookean,
                                       MaterialModel::stable_neo_hookean, MaterialModel::flesh}) {
    const DomainModel model = built(material, 1, 4).model;
    const domains::LaneCubature points(*model.cubature_of(0));
    std::mt19937 random(2);
    std::uniform_real_distribution<double> uniform(-0.05, 0.05);
    std::array<Pack4, 4> q, force;
    for (Pack4& entry : q) entry = Pack4(uniform(random));
    std::array<Pack4, 10> K;
    points.evaluate(q.data(), K.data(), force.data());
    for (int l = 0; l < 4; ++l) {
      constexpr double e = 1e-5;
      const auto moved = [&](double by) {
        auto at = q;
        at[to_size(l)] += Pack4(by);
        return at;
      };
      const auto up = moved(e), down = moved(-e);
      EXPECT_NEAR(force[to_size(l)][1], (points.energy(up.data())[1] - points.energy(down.data())[1]) / (2 * e),
                  1e-5 * std::abs(force[to_size(l)][1]) + 1e-5);
      std::array<Pack4, 4> above, below;
      std::array<Pack4, 10> other;
      points.evaluate(up.data(), other.data(), above.data());
      points.evaluate(down.data(), other.data(), below.data());
      for (int m = 0; m < 4; ++m) {
        const double slope = (above[to_size(m)][2] - below[to_size(m)][2]) / (2 * e);
        EXPECT_NEAR(K[to_size(pair_index(l, m))][2], slope, 1e-5 * std::abs(slope) + 1e-4);
      }
    }
  }
}

/// How far the tip hangs in the end.
double sag(const DomainModel& model, const Vec3& gravity) {
  DomainSettings settings;
  settings.time_step = 0.01;
  settings.stiffness_damping = 0.1;
  settings.gravity = gravity;
  DomainDynamics dynamics = dynamics_of(model, settings);
  for (int k = 0; k < 1500; ++k) EXPECT_FALSE(dynamics.step().recovered);
  std::vector<double> xyz(3 * to_size(model.surface.vertex_count()));
  dynamics.update_frames();
  dynamics.surface_positions(xyz);
  const std::vector<Vec3> rest = rest_positions(model);
  double farthest = 0;
  for (std::size_t v = 0; v < rest.size(); ++v)
    farthest = std::max(farthest, (Eigen::Map<const Vec3>(xyz.data() + 3 * v) - rest[v]).dot(gravity.normalized()));
  return farthest;
}

double full_sag(MaterialModel material, const Vec3& gravity) {
  const TetMesh mesh = beam();
  const ElasticBody body = ElasticBody::create(mesh, material).value();
  VecX g(body.dof_count());
  for (Eigen::Index v = 0; v < g.size(); v += 3) g.segment<3>(v) = gravity;
  const VecX u = solve_static(body, left_end(mesh), body.consistent_mass() * g, {}).value().u;
  double farthest = 0;
  for (Eigen::Index v = 0; v < g.size(); v += 3)
    farthest = std::max(farthest, u.segment<3>(v).dot(gravity.normalized()));
  return farthest;
}

TEST(DomainMaterials, HangsAsTheWholeMeshOfThatMaterialDoes) {
  // Stretched by its weight: materials differ there by more than a reduced body does from its mesh, and what the basis
  // lacks it lacks for all of them.
  const Vec3 gravity(30, 0, 0);
  const double stvk = full_sag(MaterialModel::stvk, gravity);
  const double basis = sag(built(MaterialModel::stvk, 3, 12).model, gravity) / stvk;
  EXPECT_NEAR(basis, 1, 0.05);
  for (const MaterialModel material : {MaterialModel::stable_neo_hookean, MaterialModel::flesh}) {
    const double truth = full_sag(material, gravity);
    EXPECT_GT(std::abs(truth - stvk), 0.06 * truth);
    const DomainBuild build = built(material, 3, 12);
    for (const PartReport& part : build.parts) {
      EXPECT_GT(part.points, 5);
      EXPECT_LT(part.points, part.elements / 2);
      EXPECT_LT(part.force_error, 0.03);
    }
    EXPECT_NEAR(sag(build.model, gravity) / truth, basis, 0.01);
  }
}

TEST(DomainMaterials, AtRestTheyAreAsStiffAsAllOfTheMesh) {
  const DomainModel model = built(MaterialModel::flesh, 1, 6).model;
  const domains::LaneCubature points(*model.cubature_of(0));
  const MatX exact = rest_stiffness(model.parts[0]);
  std::array<Pack4, 6> q, force;
  q.fill(Pack4(0.0));
  std::array<Pack4, 21> K;
  points.evaluate(q.data(), K.data(), force.data());
  for (Index b = 0; b < 6; ++b) {
    EXPECT_NEAR(force[to_size(b)][0], 0, 1e-9 * exact.norm());
    for (Index a = 0; a <= b; ++a) EXPECT_NEAR(K[to_size(pair_index(a, b))][3], exact(a, b), 1e-9 * exact.norm());
  }
  // What was added to the points for that is little.
  EXPECT_LT(model.cubature[0].correction.norm(), 0.1 * exact.norm());
}

TEST(DomainMaterials, StayInTheFile) {
  const DomainModel model = built(MaterialModel::flesh, 2, 5).model;
  const std::string bytes = encode_domain_model(model);
  const DomainModel read = decode_domain_model(Archive::parse(std::as_bytes(std::span(bytes)), "beam").value()).value();
  DomainDynamics one = dynamics_of(model, {}), two = dynamics_of(read, {});
  for (int k = 0; k < 30; ++k) {
    one.step();
    two.step();
  }
  EXPECT_TRUE(std::equal(one.coordinates().begin(), one.coordinates().end(), two.coordinates().begin()));
  DomainModel broken = model;
  broken.cubature[1].gradients.conservativeResize(9, Eigen::NoChange);
  EXPECT_FALSE(check_domain_model(broken).ok());
}

}  // namespace
}  // namespace supple::domain_materials_test
