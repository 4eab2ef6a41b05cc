// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/fitting/own_tetrahedra.h"

#include "supple/mesh/box.h"
#include "supple/mesh/topology.h"

#include <gtest/gtest.h>

namespace supple::own_tetrahedra_test {
namespace {

TetMesh unit_box() { return make_tet_box(Vec3(1, 1, 1), {4, 4, 4}); }

void expect_refusal(const Status& status, const std::string& words) {
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::input);
  EXPECT_NE(status.error().message.find(words), std::string::npos) << status.error().message;
  EXPECT_TRUE(status.error().message.starts_with("body.msh: ")) << status.error().message;
}

TEST(OwnTetrahedra, AGoodBodyIsTaken) {
  const TetMesh mesh = unit_box();
  EXPECT_EQ(folded_elements(mesh), 0);
  EXPECT_TRUE(check_tetrahedra(mesh, "body.msh").ok());
  const Result<SkinCover> cover = check_cover(mesh, boundary_surface(mesh).surface, "body.msh");
  ASSERT_TRUE(cover.ok()) << cover.error().message;
  EXPECT_EQ(cover->outside, 0);
  EXPECT_NEAR(cover->size_ratio, 1, 1e-12);
}

TEST(OwnTetrahedra, LooseVerticesGo) {
  TetMesh mesh = unit_box();
  const TetMesh whole = mesh;
  mesh.vertices.insert(mesh.vertices.begin() + 3, Vec3(9, 9, 9));
  for (auto& element : mesh.elements)
    for (Index& v : element) v += v >= 3 ? 1 : 0;
  mesh.vertices.emplace_back(8, 8, 8);
  drop_loose_vertices(mesh);
  EXPECT_EQ(mesh.vertices, whole.vertices);
  EXPECT_EQ(mesh.elements, whole.elements);
}

/// A vertex pushed through the opposite face of one of its elements, which is then turned to positive volume as readers
/// do: it lies on top of its neighbours.
TEST(OwnTetrahedra, FoldsAreRefusedWhateverTheOrderOfNodes) {
  TetMesh mesh;
  mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.3, 0.3, 0.2}};
  mesh.elements = {{0, 1, 2, 3}, {0, 2, 1, 4}};
  std::swap(mesh.elements[1][1], mesh.elements[1][2]);  // now it has positive volume, on the inside of the first
  EXPECT_EQ(folded_elements(mesh), 2);
  expect_refusal(check_tetrahedra(mesh, "body.msh"), "2 of its 2 tetrahedra are inverted");
  mesh.vertices[4] = Vec3(0.3, 0.3, -0.2);
  std::swap(mesh.elements[1][1], mesh.elements[1][2]);
  EXPECT_TRUE(check_tetrahedra(mesh, "body.msh").ok());
}

TEST(OwnTetrahedra, FlatAndCrowdedElementsAreRefused) {
  TetMesh flat;
  flat.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
  flat.elements = {{0, 1, 2, 3}};
  expect_refusal(check_tetrahedra(flat, "body.msh"), "are flat");
  TetMesh crowded;
  crowded.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.1, 0.1, 2}, {0.2, 0.2, -1}};
  crowded.elements = {{0, 1, 2, 3}, {0, 1, 2, 4}, {0, 2, 1, 5}};
  expect_refusal(check_tetrahedra(crowded, "body.msh"), "three tetrahedra or more");
}

TEST(OwnTetrahedra, ASkinOutsideIsRefusedWithItsShare) {
  const TetMesh mesh = unit_box();
  Surface skin = boundary_surface(mesh).surface;
  for (Vec3& x : skin.vertices) x[0] += 0.5;  // what is farther right than the body is outside
  const Result<SkinCover> cover = check_cover(mesh, skin, "body.msh");
  ASSERT_FALSE(cover.ok());
  EXPECT_NE(cover.error().message.find("% of the skin's vertices are outside"), std::string::npos);
  // Slightly outside is fine, and told.
  skin = boundary_surface(mesh).surface;
  for (Vec3& x : skin.vertices) x = Vec3(0.5, 0.5, 0.5) + 1.04 * (x - Vec3(0.5, 0.5, 0.5));
  const Result<SkinCover> near = check_cover(mesh, skin, "body.msh");
  ASSERT_TRUE(near.ok()) << near.error().message;
  EXPECT_EQ(near->outside, 1);
  EXPECT_EQ(near->far, 0);
  EXPECT_EQ(near->visible, 0);
  EXPECT_NEAR(near->farthest, 0.02 * std::sqrt(3.0), 1e-9);
  for (Vec3& x : skin.vertices) x = Vec3(0.5, 0.5, 0.5) + 1.1 / 1.04 * (x - Vec3(0.5, 0.5, 0.5));
  EXPECT_GT(check_cover(mesh, skin, "body.msh").value().visible, 0);
}

}  // namespace
}  // namespace supple::own_tetrahedra_test
