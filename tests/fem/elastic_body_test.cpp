// SPDX-License-Identifier: Apache-2.0
#include "supple/fem/elastic_body.h"

#include "support/bodies.h"

#include <limits>

namespace supple::elastic_body_test {
namespace {

TEST(ElasticBody, KnowsItsVolumeAndMass) {
  for (const ElementKind kind : all_elements) {
    const BoxSpec spec{.size = Vec3(2, 3, 0.5), .cells = {3, 4, 2}, .distortion = 0.2};
    const ElasticBody body = box_body(kind, spec, MaterialModel::stvk);
    EXPECT_EQ(body.vertex_count(), 4 * 5 * 3);
    EXPECT_EQ(body.element_count(), (kind == ElementKind::tet ? 6 : 1) * 3 * 4 * 2);
    EXPECT_NEAR(body.volume(), 3, 1e-13);
    const VecX ones = VecX::Ones(body.dof_count());
    EXPECT_NEAR(body.lumped_mass().sum(), 3 * 2 * 3, 1e-12);  // three directions, density 2, volume 3
    EXPECT_NEAR(ones.dot(body.consistent_mass() * ones), 3 * 2 * 3, 1e-12);
    // The mass matrix integrates linear velocity fields exactly: ∫ ρ x² dV = ρ V L²/3.
    const VecX linear = displacement(body, [](const Vec3& X) { return Vec3(X[0], 0, 0); });
    EXPECT_NEAR(linear.dot(body.consistent_mass() * linear), 2 * 3 * 4.0 / 3, 1e-12);
  }
}

TEST(ElasticBody, AddsDensitiesPerElement) {
  TetMesh mesh = tet_box({.cells = {2, 1, 1}});
  mesh.materials = {{.name = "light", .young = 1, .poisson = 0, .density = 1},
                    {.name = "heavy", .young = 1, .poisson = 0, .density = 10}};
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) mesh.element_material.push_back(e < 6 ? 0 : 1);
  const ElasticBody body = body_of(mesh, MaterialModel::linear);
  EXPECT_NEAR(body.lumped_mass().sum() / 3, 0.5 * 1 + 0.5 * 10, 1e-13);
}

TEST(ElasticBody, EnergyIsInfiniteWhereItIsUndefined) {
  const ElasticBody body = box_body(ElementKind::tet, {}, MaterialModel::neo_hookean);
  const VecX inverted = homogeneous(body, Vec3(1, 1, -1).asDiagonal());
  EXPECT_EQ(body.energy(inverted), std::numeric_limits<double>::infinity());
  EXPECT_NEAR(body.smallest_volume_ratio(inverted), -1, 1e-13);
  const ElasticBody stable = box_body(ElementKind::tet, {}, MaterialModel::stable_neo_hookean);
  EXPECT_TRUE(std::isfinite(stable.energy(inverted)));
  EXPECT_TRUE(force_at(stable, inverted).allFinite());
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

template <class Mesh>
std::string complaint(const Mesh& mesh) {
  const Result<ElasticBody> body = ElasticBody::create(mesh, MaterialModel::stvk);
  EXPECT_FALSE(body.ok());
  if (body.ok()) return "";
  EXPECT_EQ(body.error().kind, ErrorKind::input);
  return body.error().message;
}

TEST(ElasticBody, RefusesBrokenMeshes) {
  EXPECT_PRED2(contains, complaint(TetMesh{}), "no elements");
  TetMesh out_of_range = tet_box({});
  out_of_range.elements[3][1] = 1000;
  EXPECT_PRED2(contains, complaint(out_of_range), "element 3 names vertex 1000");
  out_of_range.elements[3][1] = -1;
  EXPECT_PRED2(contains, complaint(out_of_range), "element 3 names vertex -1");
  TetMesh flipped = tet_box({});
  std::swap(flipped.elements[5][0], flipped.elements[5][1]);
  EXPECT_PRED2(contains, complaint(flipped), "element 5 is inverted");
  TetMesh flat = tet_box({});
  flat.elements[2][3] = flat.elements[2][2];
  EXPECT_PRED2(contains, complaint(flat), "no volume");
  TetMesh not_finite = tet_box({});
  not_finite.vertices[13][1] = std::nan("");
  EXPECT_FALSE(complaint(not_finite).empty());
}

TEST(ElasticBody, RefusesBrokenMaterials) {
  const auto with = [](double young, double poisson, double density) {
    TetMesh mesh = tet_box({});
    set_uniform_material(mesh, {.name = "goo", .young = young, .poisson = poisson, .density = density});
    return complaint(mesh);
  };
  EXPECT_PRED2(contains, with(-1, 0.3, 1), "\"goo\"");
  EXPECT_PRED2(contains, with(-1, 0.3, 1), "Young");
  EXPECT_PRED2(contains, with(1, 0.5, 1), "Poisson");
  EXPECT_PRED2(contains, with(1, std::nan(""), 1), "Poisson");
  EXPECT_PRED2(contains, with(1, 0.3, 0), "density");

  TetMesh short_list = tet_box({.heterogeneous = true});
  short_list.element_material.pop_back();
  EXPECT_PRED2(contains, complaint(short_list), "material");
  TetMesh wrong_index = tet_box({.heterogeneous = true});
  wrong_index.element_material[7] = 3;
  EXPECT_PRED2(contains, complaint(wrong_index), "element 7");
}

TEST(ElasticBody, IgnoresVerticesThatNothingUses) {
  TetMesh mesh = tet_box({});
  const ElasticBody before = body_of(mesh, MaterialModel::stvk);
  mesh.vertices.emplace_back(5, 5, 5);
  const ElasticBody after = body_of(mesh, MaterialModel::stvk);
  EXPECT_EQ(after.vertex_count(), before.vertex_count() + 1);
  EXPECT_EQ(after.lumped_mass().tail<3>().norm(), 0);
  EXPECT_NEAR(after.volume(), before.volume(), 1e-14);
  const VecX f = force_at(after, 0.01 * random_vector(after.dof_count(), 1));
  EXPECT_EQ(f.tail<3>().norm(), 0);
  EXPECT_GT(f.norm(), 0);
}

}  // namespace
}  // namespace supple::elastic_body_test
