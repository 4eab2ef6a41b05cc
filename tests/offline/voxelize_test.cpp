// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/meshing/voxelize.h"

#include "supple/io/mesh/mesh_file.h"
#include "supple/mesh/box.h"
#include "supple/mesh/quality.h"
#include "supple/mesh/topology.h"
#include "supple/offline/meshing/triangle_box.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <set>

namespace supple::voxelize_test {
namespace {

/// An octahedron, refined and pushed onto the unit sphere.
Surface sphere(int refinements) {
  Surface s;
  s.vertices = {Vec3(1, 0, 0), Vec3(-1, 0, 0), Vec3(0, 1, 0), Vec3(0, -1, 0), Vec3(0, 0, 1), Vec3(0, 0, -1)};
  s.triangles = {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4}, {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
  for (int r = 0; r < refinements; ++r) {
    std::vector<Triangle> finer;
    for (const auto& [a, b, c] : s.triangles) {
      const auto middle = [&](Index p, Index q) {
        s.vertices.push_back((s.vertices[to_size(p)] + s.vertices[to_size(q)]).normalized());
        return static_cast<Index>(s.vertices.size() - 1);
      };
      const Index ab = middle(a, b), bc = middle(b, c), ca = middle(c, a);
      finer.insert(finer.end(), {{a, ab, ca}, {b, bc, ab}, {c, ca, bc}, {ab, bc, ca}});
    }
    s.triangles = finer;
  }
  return s;
}

VoxelBody voxels(const Surface& surface, int resolution, bool fill = true, VoxelPieces pieces = VoxelPieces::all) {
  VoxelOptions options;
  options.resolution = resolution;
  options.fill_interior = fill;
  options.pieces = pieces;
  Result<VoxelBody> body = voxelize(surface, options);
  EXPECT_TRUE(body.ok()) << body.error().message;
  return std::move(body).value();
}

Surface box_surface(const Vec3& size) { return boundary_surface(make_hex_box(size, {1, 1, 1})).surface; }

void expect_clean(const VoxelBody& body) {
  const HexMesh& mesh = body.mesh;
  std::set<std::array<double, 3>> places;
  for (const Vec3& p : mesh.vertices) places.insert({p[0], p[1], p[2]});
  EXPECT_EQ(places.size(), mesh.vertices.size());
  EXPECT_TRUE(unreferenced_vertices(mesh).empty());
  EXPECT_EQ(mesh.elements.size(), body.cell.size());
  EXPECT_EQ(to_size(body.surface_bricks + body.interior_bricks), mesh.elements.size());
  const double volume = std::pow(body.voxel_size, 3);
  for (const double v : element_volumes(mesh)) ASSERT_NEAR(v, volume, 1e-9 * volume);
}

TEST(Voxelize, ABoxIsItsVoxels) {
  const VoxelBody body = voxels(box_surface(Vec3(4, 2, 1)), 16);
  EXPECT_EQ(body.cells, (std::array<int, 3>{16, 8, 4}));
  EXPECT_EQ(body.mesh.elements.size(), 16u * 8 * 4);
  EXPECT_EQ(body.mesh.vertices.size(), 17u * 9 * 5);
  EXPECT_EQ(body.interior_bricks, 14 * 6 * 2);
  EXPECT_EQ(body.pieces, 1);
  expect_clean(body);
}

TEST(Voxelize, TheVolumeOfASphereConvergesFromAbove) {
  // Touched cells stand out by about half a cell: volume ≈ V + A h / 2 · (mean of |n_x| + |n_y| + |n_z| = 3/2).
  const Surface surface = sphere(5);
  const double exact = quality(surface).enclosed_volume;
  for (const int n : {16, 32, 64, 128}) {
    const VoxelBody body = voxels(surface, n);
    const double excess = quality(body.mesh).volume - exact;
    const double expected = 4 * std::numbers::pi * body.voxel_size * 0.75;
    EXPECT_NEAR(excess, expected, 0.1 * expected) << n;
    EXPECT_EQ(body.pieces, 1);
  }
  expect_clean(voxels(surface, 40));
}

TEST(Voxelize, EveryPointOfTheSurfaceLiesInATouchedVoxelAndNoneIsAddedElsewhere) {
  // Brute force over all cells and triangles with an independent test: the distance from cell centres, and samples.
  const Surface surface = sphere(2);
  const VoxelBody body = voxels(surface, 20, false);
  std::set<std::array<int, 3>> cells(body.cell.begin(), body.cell.end());
  std::mt19937 generator(3);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (const auto& [a, b, c] : surface.triangles) {
    for (int sample = 0; sample < 200; ++sample) {
      double u = uniform(generator), v = uniform(generator);
      if (u + v > 1) u = 1 - u, v = 1 - v;
      const auto at = [&](Index i) { return surface.vertices[to_size(i)]; };
      const Vec3 p = (at(a) + u * (at(b) - at(a)) + v * (at(c) - at(a)) - body.origin) / body.voxel_size;
      const std::array<int, 3> cell = {static_cast<int>(p[0]), static_cast<int>(p[1]), static_cast<int>(p[2])};
      EXPECT_TRUE(cells.count(cell) == 1);
    }
  }
  for (const auto& [i, j, k] : body.cell) {
    const Vec3 center = body.origin + body.voxel_size * Vec3(i + 0.5, j + 0.5, k + 0.5);
    const double reach = 0.5 * std::sqrt(3.0) * body.voxel_size;
    EXPECT_LT(center.norm(), 1 + reach);
    EXPECT_GT(center.norm(), std::cos(0.5) - reach);  // the flat triangles dip below the sphere
  }
}

TEST(Voxelize, TriangleAndBoxAgreeWithSampling) {
  std::mt19937 generator(7);
  std::uniform_real_distribution<double> uniform(-1.5, 1.5);
  std::uniform_real_distribution<double> unit(0, 1);
  int touching = 0;
  for (int trial = 0; trial < 300; ++trial) {
    std::array<Vec3, 3> t;
    for (Vec3& p : t) p = Vec3(uniform(generator), uniform(generator), uniform(generator));
    bool seen = false;
    double nearest = 10;
    for (int s = 0; s < 4000; ++s) {
      double u = unit(generator), v = unit(generator);
      if (u + v > 1) u = 1 - u, v = 1 - v;
      const Vec3 p = t[0] + u * (t[1] - t[0]) + v * (t[2] - t[0]);
      nearest = std::min(nearest, p.lpNorm<Eigen::Infinity>());
      seen |= nearest <= 0.5;
    }
    const bool touches = TriangleBoxTest(t, 1e-9).touches(Vec3::Zero(), Vec3::Constant(0.5));
    EXPECT_TRUE(touches || !seen);
    EXPECT_TRUE(!touches || nearest < 0.6);  // samples are dense, so a touching triangle has one nearby
    touching += touches;
  }
  EXPECT_GT(touching, 50);
  EXPECT_LT(touching, 250);
}

TEST(Voxelize, AnOpenBoxKeepsItsShell) {
  Surface closed = box_surface(Vec3(1, 1, 1));
  Surface open = closed;
  // Without the two triangles of the face z = 1.
  std::erase_if(open.triangles, [&](const Triangle& t) {
    return std::all_of(t.begin(), t.end(), [&](Index v) { return open.vertices[to_size(v)].z() == 1; });
  });
  ASSERT_EQ(open.triangles.size(), 10u);
  EXPECT_EQ(voxels(closed, 10).mesh.elements.size(), 1000u);
  EXPECT_EQ(voxels(open, 10).mesh.elements.size(), 1000u - 8 * 8 * 9);
  EXPECT_EQ(voxels(closed, 10, false).mesh.elements.size(), 1000u - 8 * 8 * 8);
}

TEST(Voxelize, WindingAndRepetitionDoNotMatter) {
  Surface surface = sphere(3);
  const VoxelBody plain = voxels(surface, 24);
  for (std::size_t t = 0; t < surface.triangles.size(); t += 2)
    std::swap(surface.triangles[t][0], surface.triangles[t][1]);
  surface.triangles.push_back(surface.triangles[5]);
  const VoxelBody flipped = voxels(surface, 24);
  EXPECT_EQ(plain.cell, flipped.cell);
  EXPECT_EQ(plain.mesh.elements, flipped.mesh.elements);
}

TEST(Voxelize, OneTriangleIsASheet) {
  Surface surface;
  surface.vertices = {Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0)};
  surface.triangles = {{0, 1, 2}};
  const VoxelBody body = voxels(surface, 8);
  EXPECT_EQ(body.cells, (std::array<int, 3>{8, 8, 1}));
  // The diagonal x + y = 1 passes through corners of the cells beyond it, which touch it there.
  EXPECT_EQ(body.mesh.elements.size(), 8u * 9 / 2 + 7);
  surface.triangles = {{0, 1, 1}};  // a segment
  EXPECT_EQ(voxels(surface, 8).mesh.elements.size(), 8u);
}

TEST(Voxelize, KeepsTheLargestPieceOrAll) {
  // Cells of 1/8; no face but the outermost lies on a wall between cells.
  Surface surface = box_surface(Vec3(0.97, 0.97, 0.97));
  const Surface small = box_surface(Vec3(0.47, 0.44, 0.44));
  for (const Vec3& p : small.vertices) surface.vertices.emplace_back(p + Vec3(1.53, 0.03, 0.03));
  for (const auto& [a, b, c] : small.triangles) surface.triangles.push_back({a + 8, b + 8, c + 8});
  const VoxelBody all = voxels(surface, 16, true, VoxelPieces::all);
  EXPECT_EQ(all.pieces, 2);
  EXPECT_EQ(all.mesh.elements.size(), 512u + 64u);
  const VoxelBody largest = voxels(surface, 16, true, VoxelPieces::largest);
  EXPECT_EQ(largest.pieces, 2);
  EXPECT_EQ(largest.dropped_bricks, 64);
  EXPECT_EQ(largest.mesh.elements.size(), 512u);
  EXPECT_EQ(connected_components(largest.mesh).count, 1);
  expect_clean(largest);
}

TEST(Voxelize, RefusesWhatCannotBeCut) {
  const auto message = [](const Surface& surface, const VoxelOptions& options) {
    const Result<VoxelBody> body = voxelize(surface, options);
    return body.ok() ? std::string("no error") : body.error().message;
  };
  Surface surface = box_surface(Vec3(1, 1, 1));
  EXPECT_NE(message({}, {}).find("no triangles"), std::string::npos);
  EXPECT_NE(message(surface, {.resolution = 0}).find("1 to 1024"), std::string::npos);
  EXPECT_NE(message(surface, {.resolution = 1025}).find("1 to 1024"), std::string::npos);
  EXPECT_NE(message(surface, {.resolution = 1000}).find("lower resolution"), std::string::npos);
  EXPECT_NE(message(surface, {.resolution = 10, .max_bricks = 999}).find("1000 bricks"), std::string::npos);
  surface.vertices[3].y() = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(message(surface, {}).find("Vertex 3"), std::string::npos);
  surface = box_surface(Vec3(1, 1, 1));
  surface.triangles[4][1] = 8;
  EXPECT_NE(message(surface, {}).find("Triangle 4"), std::string::npos);
  for (Vec3& p : surface.vertices) p.setConstant(2);
  surface.triangles[4][1] = 0;
  EXPECT_NE(message(surface, {}).find("longest side is 0"), std::string::npos);
}

TEST(Voxelize, TakesEverySoup) {
  const std::filesystem::path folder = std::filesystem::path(SUPPLE_SHARED_DIR) / "assets" / "soup";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no shared assets";
  int soups = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const Result<LoadedMesh> loaded = load_mesh(entry.path());
    if (!loaded.ok() || !std::holds_alternative<Surface>(loaded->mesh)) continue;
    SCOPED_TRACE(entry.path().filename());
    const VoxelBody body = voxels(std::get<Surface>(loaded->mesh), 40, true, VoxelPieces::largest);
    EXPECT_GT(body.mesh.elements.size(), 40u);
    EXPECT_EQ(*std::max_element(body.cells.begin(), body.cells.end()), 40);
    EXPECT_EQ(connected_components(body.mesh).count, 1);
    ++soups;
  }
  EXPECT_GE(soups, 15);
}

}  // namespace
}  // namespace supple::voxelize_test
