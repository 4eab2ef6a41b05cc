// SPDX-License-Identifier: Apache-2.0
// The default stiffness: the frequency that was asked for, softest where flesh is thick, the same in every place, turn
// and size; and what such flesh can bear.
#include "supple/offline/fitting/flesh_stiffness.h"

#include "supple/offline/fitting/flesh_frequency.h"

#include "support/bodies.h"

namespace supple::flesh_stiffness_test {
namespace {

constexpr MaterialModel model = MaterialModel::stable_neo_hookean;
constexpr double young = 3e4;

/// A bar along x, ten times as long as it is thick.
TetMesh bar() {
  BoxSpec spec;
  spec.size = Vec3(1, 0.1, 0.1);
  spec.cells = {40, 4, 4};
  TetMesh mesh = tet_box(spec);
  set_uniform_material(mesh, {"flesh", young, 0.45, 1000});
  return mesh;
}

/// A cube of 0.4 m with a finger of 0.1 m in its side; the cube's left face is held.
TetMesh cube_with_finger() {
  BoxSpec spec;
  spec.size = Vec3(0.8, 0.4, 0.4);
  spec.cells = {16, 8, 8};
  TetMesh mesh = tet_box(spec);
  std::erase_if(mesh.elements, [&](const auto& element) {
    Vec3 centre = Vec3::Zero();
    for (const Index v : element) centre += mesh.vertices[to_size(v)] / 4;
    return centre.x() > 0.4 && (std::abs(centre.y() - 0.2) > 0.05 || std::abs(centre.z() - 0.2) > 0.05);
  });
  std::vector<Index> number(mesh.vertices.size(), -1);
  std::vector<Vec3> kept;
  for (auto& element : mesh.elements)
    for (Index& v : element) {
      if (number[to_size(v)] < 0) {
        number[to_size(v)] = static_cast<Index>(kept.size());
        kept.push_back(mesh.vertices[to_size(v)]);
      }
      v = number[to_size(v)];
    }
  mesh.vertices = std::move(kept);
  set_uniform_material(mesh, {"flesh", young, 0.45, 1000});
  return mesh;
}

std::vector<Index> left_side(const TetMesh& mesh) {
  std::vector<Index> held;
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v)
    if (mesh.vertices[v].x() < 1e-9) held.push_back(static_cast<Index>(v));
  return held;
}

double frequency(const TetMesh& mesh, std::span<const Index> held) {
  return must(flesh_frequency(must(ElasticBody::create(mesh, model)), held));
}

void set(TetMesh& mesh, const std::vector<Index>& held, double hertz) {
  ASSERT_TRUE(set_flesh_stiffness(mesh, held, model, hertz, young).ok());
}

double stiffest_at(const TetMesh& mesh, double from, double to) {
  double most = 0;
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    const double x = mesh.vertices[to_size(mesh.elements[e][0])].x();
    if (x >= from && x <= to) most = std::max(most, mesh.material_of(e).young);
  }
  return most;
}

TEST(FleshStiffness, HasTheFrequencyThatWasAskedFor) {
  for (const double hertz : {0.5, 4.0, 30.0}) {
    TetMesh mesh = cube_with_finger();
    const std::vector<Index> held = left_side(mesh);
    set(mesh, held, hertz);
    EXPECT_NEAR(frequency(mesh, held), hertz, 1e-6 * hertz);
  }
}

TEST(FleshStiffness, FingersAreFirmerThanWhatTheyHangOn) {
  TetMesh mesh = cube_with_finger();
  set(mesh, left_side(mesh), 3);
  EXPECT_GT(stiffest_at(mesh, 0.6, 0.8), 4 * stiffest_at(mesh, 0.05, 0.15));
}

TEST(FleshStiffness, NothingGivesWayMuchFartherThanTheSoftestTenth) {
  TetMesh mesh = cube_with_finger();
  const std::vector<Index> held = left_side(mesh);
  set(mesh, held, 3);
  const VecX compliance = must(flesh_compliance(must(ElasticBody::create(mesh, model)), held));
  const double usual = 1 / std::pow(2 * std::numbers::pi * 3, 2);
  EXPECT_LT(compliance.maxCoeff(), 3.5 * usual);  // three times, after two passes
}

TEST(FleshStiffness, PaintIsAbsolute) {
  TetMesh plain = bar(), painted = bar();
  const std::vector<Index> held = left_side(plain);
  std::vector<ElasticMaterial> materials;
  for (std::size_t e = 0; e < painted.elements.size(); ++e) {
    const bool soft = painted.vertices[to_size(painted.elements[e][0])].x() > 0.5;
    materials.push_back({"flesh", soft ? young / 8 : young, 0.45, 1000});
  }
  set_element_materials(painted, std::move(materials));
  set(plain, held, 4);
  set(painted, held, 4);
  for (std::size_t e = 0; e < plain.elements.size(); ++e) {
    const bool soft = plain.vertices[to_size(plain.elements[e][0])].x() > 0.5;
    const double expected = plain.material_of(e).young / (soft ? 8 : 1);
    ASSERT_NEAR(painted.material_of(e).young, expected, 1e-9 * expected);
  }
  EXPECT_LT(frequency(painted, held), 0.9 * 4);  // softer flesh moves more, not less
}

TEST(FleshStiffness, KnowsNoPlaceTurnOrSize) {
  TetMesh here = cube_with_finger(), there = cube_with_finger();
  const std::vector<Index> held = left_side(here);
  const Quat turn(Eigen::AngleAxisd(0.7, Vec3(1, -2, 0.5).normalized()));
  for (Vec3& x : there.vertices) x = 100 * (turn * x) + Vec3(3, -400, 7);
  set(here, held, 4);
  set(there, held, 4);
  for (std::size_t e = 0; e < here.elements.size(); ++e) {
    const double expected = 1e4 * here.material_of(e).young;  // E ∝ ρ f² L²
    ASSERT_NEAR(there.material_of(e).young, expected, 1e-4 * expected);
  }
  const double bearable = must(bearable_acceleration(here, held, model));
  EXPECT_NEAR(must(bearable_acceleration(there, held, model)), 100 * bearable, 1e-4 * 100 * bearable);
}

TEST(FleshStiffness, BearsWhatMovesItByAShareOfItsSize) {
  TetMesh mesh = bar();
  const std::vector<Index> held = left_side(mesh);
  set(mesh, held, 4);
  const double bearable = must(bearable_acceleration(mesh, held, model));
  // The softest tenth gives way by a/ω². It may by two fifths of the thickness, 0.04 m; 8 % of the radius of
  // gyration, 0.29 m, is less.
  const double omega = 2 * std::numbers::pi * 4;
  EXPECT_NEAR(bearable, 0.08 * std::sqrt((1 + 0.02) / 12) * omega * omega, 0.03 * bearable);
  EXPECT_NEAR(must(bearable_acceleration(mesh, held, model, 2)), 2 * bearable, 1e-9 * bearable);
}

TEST(LocalThickness, OfABarIsItsSide) {
  const TetMesh mesh = bar();
  const std::vector<double> thickness = local_thickness(mesh);
  for (std::size_t v = 0; v < thickness.size(); ++v) {
    const Vec3 x = mesh.vertices[v];
    if (std::abs(x.x() - 0.5) < 0.4 && std::abs(x.y() - 0.05) < 0.03 && std::abs(x.z() - 0.05) < 0.03) {
      EXPECT_NEAR(thickness[v], 0.1, 1e-9);
    }
  }
}

}  // namespace
}  // namespace supple::flesh_stiffness_test
