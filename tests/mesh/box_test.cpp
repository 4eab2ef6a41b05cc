// SPDX-License-Identifier: Apache-2.0
#include "supple/mesh/box.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>

namespace supple::box_test {
namespace {

double signed_volume(const TetMesh& mesh, const TetMesh::Element& tet) {
  const Vec3& origin = mesh.vertices[tet[0]];
  return (mesh.vertices[tet[1]] - origin).dot((mesh.vertices[tet[2]] - origin).cross(mesh.vertices[tet[3]] - origin)) /
         6;
}

TEST(Box, TetrahedraFillTheBoxWithPositiveVolumes) {
  const TetMesh mesh = make_tet_box(Vec3(2, 3, 4), {2, 3, 5});
  EXPECT_EQ(mesh.vertices.size(), 3u * 4u * 6u);
  EXPECT_EQ(mesh.elements.size(), 6u * 2u * 3u * 5u);
  double volume = 0;
  for (const auto& tet : mesh.elements) {
    EXPECT_GT(signed_volume(mesh, tet), 0);
    volume += signed_volume(mesh, tet);
  }
  EXPECT_NEAR(volume, 24, 1e-12);
}

}  // namespace
}  // namespace supple::box_test
