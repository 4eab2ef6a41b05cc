// SPDX-License-Identifier: Apache-2.0
#include "supple/mesh/material_regions.h"

#include "supple/mesh/box.h"
#include "supple/mesh/topology.h"

#include <gtest/gtest.h>

namespace supple::material_regions_test {
namespace {

Surface box_surface(const Vec3& low, const Vec3& high) {
  Surface surface = boundary_surface(make_hex_box(high - low, {2, 2, 2})).surface;
  for (Vec3& p : surface.vertices) p += low;
  return surface;
}

TEST(Regions, ByBoxAndBySurfaceAgree) {
  const HexMesh mesh = make_hex_box(Vec3(6, 5, 4), {6, 5, 4});
  // Surface edges and diagonals pass exactly through the columns of the elements' centres.
  const Vec3 low(0.5, 0.5, 0.7), high(4.5, 3.5, 2.9);
  Surface surface = box_surface(low, high);
  const std::vector<Index> inside = elements_in(mesh, surface);
  EXPECT_EQ(inside, elements_in(mesh, Bounds{low, high - Vec3(1e-9, 1e-9, 0)}));
  EXPECT_EQ(inside.size(), 4u * 3 * 2);
  for (Triangle& t : surface.triangles) std::swap(t[0], t[1]);
  EXPECT_EQ(elements_in(mesh, surface), inside);
}

TEST(Regions, LaterOnesWinAndTheOldMaterialStaysElsewhere) {
  HexMesh mesh = make_hex_box(Vec3(4, 1, 1), {4, 1, 1});
  set_uniform_material(mesh, {"flesh", 1e4, 0.4, 1000});
  ASSERT_TRUE(assign_region(mesh, Bounds{Vec3(0, 0, 0), Vec3(2, 1, 1)}, {"bone", 1e7, 0.3, 1800}).ok());
  ASSERT_TRUE(assign_region(mesh, std::vector<Index>{1}, {"joint", 1e3, 0.3, 1100}).ok());
  const std::vector<Index> expected = {1, 2, 0, 0};
  EXPECT_EQ(mesh.element_material, expected);
  EXPECT_EQ(mesh.material_of(1).name, "joint");
  EXPECT_EQ(mesh.material_of(3).name, "flesh");
  assign_materials_from_regions(mesh);  // the regions alone say the same
  EXPECT_EQ(mesh.element_material, expected);
  EXPECT_EQ(mesh.materials.size(), 3u);
}

TEST(Regions, RefuseToBeEmptyOrOutOfRange) {
  TetMesh mesh = make_tet_box(Vec3(1, 1, 1), {1, 1, 1});
  EXPECT_FALSE(assign_region(mesh, Bounds{Vec3(5, 5, 5), Vec3(6, 6, 6)}, {"a"}).ok());
  EXPECT_FALSE(assign_region(mesh, std::vector<Index>{6}, {"a"}).ok());
  EXPECT_TRUE(mesh.regions.empty());
  EXPECT_TRUE(mesh.materials.empty());
}

}  // namespace
}  // namespace supple::material_regions_test
