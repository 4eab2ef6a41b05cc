// SPDX-License-Identifier: Apache-2.0
// The subspace scenes have the sizes of the paper's Figure 3 and are fit to be simulated.
#include "samples/subspace_samples.h"

#include "samples/shapes.h"
#include "supple/mesh/bounds.h"
#include "supple/mesh/quality.h"
#include "supple/mesh/topology.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <set>

namespace supple::subspace_samples_test {
namespace {

struct PaperRow {
  std::string name;
  double surface_vertices, triangles;
  int resolution;
  double vertices, elements;
};

const std::vector<PaperRow>& figure3() {
  static const std::vector<PaperRow> rows = {{"spoon", 3321, 6638, 100, 3698, 2005},
                                             {"bridge", 41361, 59630, 128, 11829, 5854},
                                             {"tower", 45882, 105788, 140, 20713, 11304},
                                             {"heart", 12186, 23616, 80, 28041, 14444}};
  return rows;
}

const std::vector<SubspaceSample>& scenes() {
  static const std::vector<SubspaceSample> all = make_subspace_samples();
  return all;
}

TEST(SubspaceSamples, HaveTheSizesOfThePaper) {
  ASSERT_EQ(scenes().size(), figure3().size());
  for (std::size_t i = 0; i < scenes().size(); ++i) {
    const SubspaceSample& scene = scenes()[i];
    const PaperRow& paper = figure3()[i];
    SCOPED_TRACE(paper.name);
    EXPECT_EQ(scene.name, paper.name);
    EXPECT_EQ(scene.resolution, paper.resolution);
    EXPECT_NEAR(static_cast<double>(scene.surface.vertices.size()), paper.surface_vertices,
                0.1 * paper.surface_vertices);
    EXPECT_NEAR(static_cast<double>(scene.surface.triangles.size()), paper.triangles, 0.1 * paper.triangles);
    EXPECT_NEAR(static_cast<double>(scene.bricks.vertices.size()), paper.vertices, 0.1 * paper.vertices);
    EXPECT_NEAR(static_cast<double>(scene.bricks.elements.size()), paper.elements, 0.1 * paper.elements);
  }
}

TEST(SubspaceSamples, AreOneSoundPieceOfBricks) {
  for (const SubspaceSample& scene : scenes()) {
    SCOPED_TRACE(scene.name);
    const HexMesh& bricks = scene.bricks;
    EXPECT_EQ(connected_components(bricks).count, 1);
    EXPECT_TRUE(unreferenced_vertices(bricks).empty());
    EXPECT_EQ(boundary_surface(bricks).crowded_faces, 0);
    EXPECT_EQ(quality(bricks).inverted, 0);
    std::set<std::array<double, 3>> places;
    for (const Vec3& p : bricks.vertices) places.insert({p[0], p[1], p[2]});
    EXPECT_EQ(places.size(), bricks.vertices.size());
    EXPECT_EQ(bricks.materials.size(), 1u);
  }
}

TEST(SubspaceSamples, TheSurfaceLiesInTheBricks) {
  for (const SubspaceSample& scene : scenes()) {
    SCOPED_TRACE(scene.name);
    ASSERT_EQ(scene.embedding.size(), scene.surface.vertices.size());
    for (std::size_t p = 0; p < scene.embedding.size(); ++p) ASSERT_TRUE(scene.embedding.inside(p));
    EXPECT_TRUE(unreferenced_vertices(scene.surface).empty());
    EXPECT_EQ(quality(scene.surface).degenerate, 0);
  }
}

TEST(SubspaceSamples, AreHeldWhereTheyShouldBe) {
  for (const SubspaceSample& scene : scenes()) {
    SCOPED_TRACE(scene.name);
    EXPECT_GE(scene.fixed_vertices.size(), 16u);
    EXPECT_LT(scene.fixed_vertices.size(), scene.bricks.vertices.size() / 10);
    Bounds fixed;
    for (const Index v : scene.fixed_vertices) fixed.add(scene.bricks.vertices[to_size(v)]);
    const Bounds all = bounds_of(scene.bricks.vertices);
    if (scene.name == "spoon") {
      EXPECT_LT(fixed.max.x(), 0.1 * all.max.x());
    }
    if (scene.name == "bridge") {
      EXPECT_EQ(fixed.size().x(), all.size().x());
    }
    if (scene.name == "tower") {
      EXPECT_LT(fixed.max.y(), 0.02 * all.max.y());
      EXPECT_EQ(fixed.size().x(), all.size().x());
    }
    if (scene.name == "heart") {
      EXPECT_EQ(fixed.max.y(), all.max.y());
    }
  }
  EXPECT_NEAR(bounds_of(scenes()[0].surface.vertices).size().x(), 2.5, 1e-9);
}

TEST(SubspaceSamples, SpoonIsClosedAndHeartIsOpen) {
  const SurfaceTopology spoon = surface_topology(scenes()[0].surface);
  EXPECT_TRUE(spoon.watertight());
  EXPECT_TRUE(spoon.consistently_wound());
  EXPECT_EQ(spoon.euler_characteristic, 2);
  EXPECT_GT(quality(scenes()[0].surface).enclosed_volume, 0);
  const SurfaceTopology heart = surface_topology(scenes()[3].surface);
  EXPECT_EQ(heart.components, 1);
  EXPECT_EQ(heart.holes, 12);  // one for each vessel
  EXPECT_TRUE(heart.consistently_wound());
}

TEST(SubspaceSamples, AreTheSameEveryTime) {
  const SubspaceSample again = make_heart();
  EXPECT_EQ(again.surface.vertices, scenes()[3].surface.vertices);
  EXPECT_EQ(again.surface.triangles, scenes()[3].surface.triangles);
  EXPECT_EQ(again.bricks.elements, scenes()[3].bricks.elements);
  EXPECT_EQ(again.fixed_vertices, scenes()[3].fixed_vertices);
  EXPECT_EQ(again.embedding.weights, scenes()[3].embedding.weights);
}

TEST(Shapes, AnImplicitSphereIsASphere) {
  const Surface sphere =
      implicit_surface([](const Vec3& p) { return p.norm() - 1; }, Vec3::Constant(-1.23), Vec3::Constant(1.27), 0.1);
  for (const Vec3& p : sphere.vertices) EXPECT_NEAR(p.norm(), 1, 1e-6);
  const SurfaceTopology topology = surface_topology(sphere);
  EXPECT_TRUE(topology.watertight());
  EXPECT_TRUE(topology.consistently_wound());
  EXPECT_EQ(topology.euler_characteristic, 2);
  EXPECT_NEAR(quality(sphere).enclosed_volume, 4 * std::numbers::pi / 3, 0.03);
}

TEST(Shapes, PartsAreClosedAndFaceOutward) {
  Surface box, beam, swept;
  add_box(box, Vec3(1, 2, 3), Vec3(1, 0.5, 0.25).asDiagonal());
  EXPECT_NEAR(quality(box).enclosed_volume, 8 * 0.125, 1e-12);
  add_beam(beam, Vec3(0, 0, 0), Vec3(3, 4, 0), 0.2, 0.1, Vec3::UnitY());
  EXPECT_NEAR(quality(beam).enclosed_volume, 5 * 0.02, 1e-12);
  add_swept_beam(swept, {Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(2, 0, 0)}, 0.2, 0.1, Vec3::UnitY());
  EXPECT_NEAR(quality(swept).enclosed_volume, 2 * 0.02, 1e-12);
  for (const Surface& part : {box, beam, swept}) EXPECT_TRUE(surface_topology(part).watertight());
}

}  // namespace
}  // namespace supple::subspace_samples_test
