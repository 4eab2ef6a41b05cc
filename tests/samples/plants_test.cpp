// SPDX-License-Identifier: Apache-2.0
// Plants that nobody prepared: pieces, copies, what hangs on what, branches, and how fast the whole swings.
#include <gtest/gtest.h>

#include "samples/plants.h"
#include "supple/fem/elastic_body.h"
#include "supple/fem/modes.h"
#include "supple/io/gltf/rest_surface.h"
#include "supple/mesh/box.h"
#include "supple/mesh/low_side.h"
#include "supple/offline/domains/branch_labels.h"
#include "supple/offline/domains/piece_body.h"
#include "supple/offline/domains/plan_plant.h"
#include "supple/offline/domains/split_mesh.h"
#include "supple/offline/domains/tune_frequencies.h"

#include <Eigen/Geometry>

#include <set>

namespace supple::plants_test {
namespace {

Surface tree_surface(int branches, int leaves) {
  Result<Surface> surface = rest_surface(samples::make_tree(branches, leaves));
  EXPECT_TRUE(surface.ok());
  return *surface;
}

TEST(PlantPieces, CopiesAreFoundWhereTheyAre) {
  Surface original;
  original.vertices = {{0, 0, 0}, {1, 0, 0}, {0.2, 0.7, 0}, {0.1, 0.2, 0.9}};
  original.triangles = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};
  CopyPlace given;
  given.scale = 0.4;
  given.rotation = Eigen::AngleAxisd(1.1, Vec3(1, 2, -1).normalized()).toRotationMatrix();
  given.position = Vec3(5, -2, 3);
  Surface both = original;
  for (const Vec3& v : original.vertices) both.vertices.push_back(given.apply(v));
  // The third is mirrored: no turn makes it the first.
  for (const Vec3& v : original.vertices) both.vertices.emplace_back(10 - v.x(), v.y(), v.z());
  for (const Index base : {4, 8})
    for (const Triangle& t : original.triangles) both.triangles.push_back({t[0] + base, t[1] + base, t[2] + base});
  const std::vector<SurfacePiece> pieces = find_pieces(both, 1e-6);
  ASSERT_EQ(pieces.size(), 3U);
  EXPECT_EQ(pieces[1].original, 0);
  EXPECT_EQ(pieces[2].original, 2);
  EXPECT_NEAR(pieces[1].place.scale, given.scale, 1e-12);
  EXPECT_LT((pieces[1].place.rotation - given.rotation).norm(), 1e-12);
  EXPECT_LT((pieces[1].place.position - given.position).norm(), 1e-12);
}

TEST(PlantPieces, SplitVerticesAreOnePiece) {
  Surface seam;
  seam.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1e-9, 0}, {1, 1, 0}, {1e-9, 1, 0}};
  seam.triangles = {{0, 1, 2}, {3, 4, 5}};
  EXPECT_EQ(find_pieces(seam, 1e-6).size(), 1U);
  EXPECT_EQ(find_pieces(seam, 1e-12).size(), 2U);
}

TEST(PlantPieces, BranchesHangOnTheTrunkAndLeavesOnBranches) {
  const Surface surface = tree_surface(3, 4);
  const std::vector<SurfacePiece> pieces = find_pieces(surface, 1e-6);
  ASSERT_EQ(pieces.size(), 1U + 3 + 12);
  const PieceTree tree = hang_pieces(pieces, PlantGround{}, 5);
  EXPECT_EQ(tree.hold[0].parent, -1);
  for (std::size_t b = 1; b <= 3; ++b) {
    EXPECT_EQ(tree.hold[b].parent, 0);
    EXPECT_EQ(pieces[b].original, 1);
  }
  for (std::size_t l = 4; l < pieces.size(); ++l) {
    EXPECT_EQ(tree.hold[l].parent, static_cast<Index>(1 + (l - 4) / 4)) << l;
    EXPECT_EQ(pieces[l].original, 4);
  }
  std::set<Index> placed{-1};
  for (const Index p : tree.order) {
    EXPECT_TRUE(placed.contains(tree.hold[to_size(p)].parent));
    placed.insert(p);
  }
}

/// A Y of bricks cut into tetrahedra: a stem and two arms, joined above where there is a loop.
TetMesh forked(bool with_loop) {
  const TetMesh box = make_tet_box(Vec3(9, 12, 1), {18, 24, 2});
  TetMesh out;
  out.vertices = box.vertices;
  for (const auto& element : box.elements) {
    Vec3 c = Vec3::Zero();
    for (const Index v : element) c += box.vertices[to_size(v)] / 4;
    const bool stem = c.x() > 4 && c.x() < 5 && c.y()<5, bar = c.y()> 4 && c.y() < 5;
    const bool arm = (c.x() < 1 || c.x() > 8) && c.y() > 4;
    if (stem || bar || arm || (with_loop && c.y() > 11)) out.elements.push_back(element);
  }
  return largest_solid(out);
}

TEST(PlantBranches, AForkHasThreeAndALoopStaysInOne) {
  for (const bool with_loop : {false, true}) {
    const TetMesh mesh = forked(with_loop);
    const std::vector<Index> held = vertices_at_zero(mesh.vertices, 1);
    const BranchLabels labels = label_branches(mesh, held);
    EXPECT_EQ(labels.count, with_loop ? 1 : 3);
    EXPECT_EQ(labels.loops > 0, with_loop);
    // Whatever it is, it can be cut so.
    SplitSettings settings;
    settings.fixed = held;
    settings.root = "domain 0";
    const Result<TreePlan> plan = split_mesh(mesh, labels.label, settings);
    EXPECT_TRUE(plan.ok()) << plan.error().message;
  }
}

TEST(PlantPlan, EveryVertexIsShownWhereItIs) {
  const Surface surface = tree_surface(3, 4);
  const Result<PlantPlan> plan = plan_plant(surface, {});
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(plan->found.pieces, 16);
  EXPECT_EQ(plan->found.copies, 2 + 11);
  EXPECT_EQ(plan->found.grounded, 1);
  EXPECT_LE(plan->tree.parts.size(), 8U);  // a trunk, a branch, and leaves held at a few places
  TreePlan small = plan->tree;
  for (PartPlan& part : small.parts) part.size = std::min(part.size, 2);
  Result<DomainBuild> build = build_domains(small);
  ASSERT_TRUE(build.ok()) << build.error().message;
  const std::vector<Vec3> rest = rest_positions(build->model);
  for (std::size_t v = 0; v < surface.vertices.size(); ++v) {
    ASSERT_GE(plan->shown[v], 0);
    EXPECT_LT((rest[to_size(plan->shown[v])] - surface.vertices[v]).norm(), 1e-3);
  }
  tune_frequencies(build->model, 0.7, plan->found.height);
  EXPECT_NEAR(rayleigh_frequency(build->model), 0.7, 1e-9);
}

TEST(PlantPlan, RayleighIsNoLessThanTheFirstModeAndNear) {
  // A cantilever in two domains against the modes of the same mesh. A static shape overestimates the first frequency of
  // a uniform beam by 0.4 %; the rigid interface adds its own.
  TetMesh beam = make_tet_box(Vec3(0.1, 1, 0.1), {2, 16, 2});
  set_uniform_material(beam, {.name = "wood", .young = 1e7, .poisson = 0.3, .density = 700});
  std::vector<Index> label;
  const std::vector<Index> held = vertices_at_zero(beam.vertices, 1);
  for (const auto& element : beam.elements) {
    double y = 0;
    for (const Index v : element) y += beam.vertices[to_size(v)].y() / 4;
    label.push_back(y > 0.5 ? 1 : 0);
  }
  SplitSettings settings;
  settings.fixed = held;
  settings.size = 12;
  const Result<TreePlan> plan = split_mesh(beam, label, settings);
  ASSERT_TRUE(plan.ok());
  const Result<DomainBuild> build = build_domains(*plan);
  ASSERT_TRUE(build.ok());
  const Result<ElasticBody> body = ElasticBody::create(beam, MaterialModel::linear);
  ASSERT_TRUE(body.ok());
  ModesSettings modes;
  modes.count = 1;
  const Result<Modes> truth = compute_modes(*body, held, modes);
  ASSERT_TRUE(truth.ok());
  EXPECT_NEAR(rayleigh_frequency(build->model) / truth->frequencies[0], 1.005, 0.005);
}

TEST(PlantPlan, RefusesWhatHasNoExtent) {
  Surface flat;
  flat.vertices = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}};
  flat.triangles = {{0, 1, 2}};
  const Result<PlantPlan> plan = plan_plant(flat, {});
  ASSERT_FALSE(plan.ok());
  EXPECT_NE(plan.error().message.find("no triangles with an area"), std::string::npos);
}

}  // namespace
}  // namespace supple::plants_test
