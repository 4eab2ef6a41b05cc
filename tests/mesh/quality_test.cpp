// SPDX-License-Identifier: Apache-2.0
#include "supple/mesh/quality.h"

#include "supple/mesh/box.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <numeric>

namespace supple::quality_test {
namespace {

TetMesh one_tet(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
  TetMesh mesh;
  mesh.vertices = {a, b, c, d};
  mesh.elements = {{0, 1, 2, 3}};
  return mesh;
}

TetMesh regular_tet() { return one_tet(Vec3(1, 1, 1), Vec3(-1, 1, -1), Vec3(1, -1, -1), Vec3(-1, -1, 1)); }

TEST(Quality, RegularTetrahedron) {
  const QualityReport report = quality(regular_tet());
  EXPECT_NEAR(report.volume, 8.0 / 3, 1e-14);
  EXPECT_NEAR(report.dihedral.min, std::acos(1.0 / 3) * 180 / M_PI, 1e-12);
  EXPECT_NEAR(report.dihedral.max, std::acos(1.0 / 3) * 180 / M_PI, 1e-12);
  EXPECT_NEAR(report.shape.min, 1, 1e-14);
  EXPECT_NEAR(report.edge_length.mean, std::sqrt(8.0), 1e-14);
  EXPECT_EQ(report.dihedral_histogram[7], 6);
  EXPECT_NEAR(report.mass, 1000 * 8.0 / 3, 1e-11);
}

TEST(Quality, CornerTetrahedronHasKnownRadii) {
  // Legs 1: V = 1/6, S = 3/2 + √3/2, r = 3 V / S, R = √3/2.
  const QualityReport report = quality(one_tet(Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1)));
  const double inradius = 0.5 / (1.5 + std::sqrt(3.0) / 2);
  EXPECT_NEAR(report.shape.min, 3 * inradius / (std::sqrt(3.0) / 2), 1e-14);
  EXPECT_NEAR(report.dihedral.max, 90, 1e-12);
  EXPECT_NEAR(report.dihedral.min, std::atan(std::sqrt(2.0)) * 180 / M_PI, 1e-12);
}

TEST(Quality, DoesNotDependOnPlaceSizeOrOrientation) {
  TetMesh mesh = one_tet(Vec3(0, 0, 0), Vec3(1, 0.1, 0), Vec3(0.2, 1, 0.3), Vec3(0.1, 0.4, 0.9));
  const QualityReport before = quality(mesh);
  const Mat3 turn = Eigen::AngleAxisd(0.7, Vec3(1, 2, 3).normalized()).toRotationMatrix();
  for (Vec3& p : mesh.vertices) p = 1e-3 * (turn * p) + Vec3(3, -2, 1);
  const QualityReport after = quality(mesh);
  EXPECT_NEAR(after.dihedral.min, before.dihedral.min, 1e-9);
  EXPECT_NEAR(after.dihedral.max, before.dihedral.max, 1e-9);
  EXPECT_NEAR(after.shape.min, before.shape.min, 1e-11);
  EXPECT_NEAR(after.volume, 1e-9 * before.volume, 1e-20);
}

TEST(Quality, CountsInvertedDegenerateAndSliverElements) {
  TetMesh mesh = regular_tet();
  mesh.elements.push_back({1, 0, 2, 3});                   // inverted
  mesh.elements.push_back({0, 0, 2, 3});                   // degenerate
  mesh.vertices.emplace_back(1.0 / 3, 1.0 / 3, -1.0 / 3);  // the centre of face 0 1 2
  mesh.vertices.back() += 0.005 * Vec3(-1, -1, 1);
  mesh.elements.push_back({0, 1, 2, 4});  // a sliver with dihedrals of about 0.6 degrees
  const QualityReport report = quality(mesh);
  EXPECT_EQ(report.inverted, 1);
  EXPECT_EQ(report.degenerate, 1);
  EXPECT_EQ(report.slivers, 2);  // the degenerate one has angles of zero too
}

TEST(Quality, KuhnBoxHasFortyFiveToNinetyDegreesAndAddsUp) {
  TetMesh mesh = make_tet_box(Vec3(2, 2, 2), {2, 2, 2});
  set_uniform_material(mesh, {.name = "cork", .young = 1e6, .poisson = 0.1, .density = 240});
  const QualityReport report = quality(mesh);
  EXPECT_NEAR(report.volume, 8, 1e-13);
  EXPECT_NEAR(report.mass, 8 * 240, 1e-10);
  EXPECT_NEAR(report.dihedral.min, 45, 1e-10);
  EXPECT_NEAR(report.dihedral.max, 90, 1e-10);
  EXPECT_NEAR(report.edge_length.max, std::sqrt(3.0), 1e-14);
  EXPECT_EQ(std::accumulate(report.dihedral_histogram.begin(), report.dihedral_histogram.end(), 0), 6 * 48);
  EXPECT_EQ(report.bounds.size(), Vec3(2, 2, 2));
}

TEST(Quality, BrickVolumeIsExactForATrilinearMap) {
  // x(r) = r + k r0 r1 r2 e0 on [-1,1]³ has det J = 1 + k r1 r2, so V = 8 and the smallest corner value is 1 - |k|.
  std::array<Vec3, 8> corners;
  const HexMesh unit = make_hex_box(Vec3(2, 2, 2), {1, 1, 1});
  for (std::size_t c = 0; c < 8; ++c) {
    const Vec3 r = unit.vertices[to_size(unit.elements[0][c])] - Vec3(1, 1, 1);
    corners[c] = r + Vec3(0.3 * r.prod(), 0, 0);
  }
  EXPECT_NEAR(brick_volume(corners), 8, 1e-14);
  EXPECT_NEAR(min_corner_jacobian(corners), 0.7, 1e-14);
}

TEST(Quality, BrickVolumeEqualsThatOfItsTetrahedraWhereFacesArePlanar) {
  HexMesh mesh = make_hex_box(Vec3(1, 2, 3), {1, 1, 1});
  for (Vec3& p : mesh.vertices) p = Vec3(p[0] * (1 + 0.5 * p[2]), p[1] * (1 + 0.5 * p[2]), p[2]);  // a frustum
  // ∫ 2 (1 + z/2)² dz over [0, 3]
  EXPECT_NEAR(element_volumes(mesh)[0], 2 * (3 + 4.5 + 9.0 / 4), 1e-13);
}

TEST(Quality, BoxOfBricks) {
  const QualityReport report = quality(make_hex_box(Vec3(1, 2, 3), {2, 2, 2}));
  EXPECT_NEAR(report.volume, 6, 1e-14);
  EXPECT_NEAR(report.dihedral.min, 90, 1e-12);
  EXPECT_NEAR(report.dihedral.max, 90, 1e-12);
  EXPECT_NEAR(report.shape.min, 1, 1e-14);
  EXPECT_NEAR(report.min_jacobian, 6.0 / 64, 1e-15);
  EXPECT_EQ(report.inverted, 0);
}

TEST(Quality, BrickWithOneCornerPushedThroughIsInverted) {
  HexMesh mesh = make_hex_box(Vec3(1, 1, 1), {1, 1, 1});
  mesh.vertices[to_size(mesh.elements[0][6])] = Vec3(0.1, 0.1, 0.1);
  const QualityReport report = quality(mesh);
  EXPECT_EQ(report.inverted, 1);
  EXPECT_LT(report.shape.min, 0);
  EXPECT_LT(report.min_jacobian, 0);
}

TEST(Quality, SurfaceReport) {
  Surface s;
  s.vertices = {Vec3(0, 0, 0), Vec3(3, 0, 0), Vec3(0, 4, 0), Vec3(6, 0, 0)};
  s.triangles = {{0, 1, 2}, {0, 1, 3}};
  const SurfaceQualityReport report = quality(s);
  EXPECT_NEAR(report.area, 6, 1e-14);
  EXPECT_EQ(report.degenerate, 1);
  EXPECT_NEAR(report.angle.min, std::atan(0.75) * 180 / M_PI, 1e-12);
  EXPECT_NEAR(report.angle.max, 90, 1e-12);
  EXPECT_EQ(report.edge_length.max, 6);
}

TEST(Quality, EmptyMeshesGiveZeros) {
  const QualityReport report = quality(TetMesh{});
  EXPECT_EQ(report.volume, 0);
  EXPECT_EQ(report.dihedral.max, 0);
  EXPECT_EQ(quality(HexMesh{}).min_jacobian, 0);
  EXPECT_EQ(quality(Surface{}).bounds.diagonal(), 0);
}

}  // namespace
}  // namespace supple::quality_test
