// SPDX-License-Identifier: Apache-2.0
// Expected numbers are closed forms of boxes, or those of assets/MANIFEST.tsv, which another program counted.
#include "supple/mesh/topology.h"

#include "mesh/asset_reader.h"
#include "supple/mesh/box.h"
#include "supple/mesh/edges.h"
#include "supple/mesh/normals.h"
#include "supple/mesh/quality.h"

#include <gtest/gtest.h>

namespace supple::topology_test {
namespace {

Surface square() {
  Surface s;
  s.vertices = {Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(1, 1, 0), Vec3(0, 1, 0)};
  s.triangles = {{0, 1, 2}, {0, 2, 3}};
  return s;
}

template <class Mesh>
void expect_box_boundary(const Mesh& mesh, Index triangles, double area, double volume) {
  const BoundarySurface boundary = boundary_surface(mesh);
  const SurfaceTopology census = surface_topology(boundary.surface);
  EXPECT_EQ(census.triangles, triangles);
  EXPECT_TRUE(census.watertight());
  EXPECT_TRUE(census.consistently_wound());
  EXPECT_EQ(census.euler_characteristic, 2);
  EXPECT_EQ(census.components, 1);
  EXPECT_EQ(census.unreferenced_vertices, 0);
  EXPECT_EQ(boundary.crowded_faces, 0);
  const SurfaceQualityReport report = quality(boundary.surface);
  EXPECT_NEAR(report.area, area, 1e-12 * area);
  EXPECT_NEAR(report.enclosed_volume, volume, 1e-12 * volume);  // positive: outward
  for (std::size_t v = 0; v < boundary.volume_vertex.size(); ++v)
    EXPECT_EQ(boundary.surface.vertices[v], mesh.vertices[to_size(boundary.volume_vertex[v])]);
  for (std::size_t t = 0; t < boundary.element.size(); ++t) {
    const auto& element = mesh.elements[to_size(boundary.element[t])];
    for (const Index corner : boundary.surface.triangles[t]) {
      const Index v = boundary.volume_vertex[to_size(corner)];
      EXPECT_NE(std::find(element.begin(), element.end(), v), element.end());
    }
  }
}

TEST(Topology, BoxBoundariesAreClosedAndFaceOutward) {
  const Vec3 size(2, 3, 4);
  const Index triangles = 2 * 2 * (2 * 3 + 3 * 5 + 5 * 2);
  expect_box_boundary(make_tet_box(size, {2, 3, 5}), triangles, 2 * (6 + 12 + 8), 24);
  expect_box_boundary(make_hex_box(size, {2, 3, 5}), triangles, 2 * (6 + 12 + 8), 24);
}

TEST(Topology, InnerVerticesAreNotOnTheBoundary) {
  const BoundarySurface boundary = boundary_surface(make_hex_box(Vec3(1, 1, 1), {3, 4, 5}));
  EXPECT_EQ(boundary.volume_vertex.size(), 4u * 5u * 6u - 2u * 3u * 4u);
}

TEST(Topology, OverlappingElementsAreReportedAsCrowdedFaces) {
  TetMesh mesh = make_tet_box(Vec3(1, 1, 1), {1, 1, 1});
  mesh.elements.push_back(mesh.elements[0]);
  // Two of the doubled tetrahedron's faces had a neighbour: three uses each. The two others are used twice, so they
  // leave the boundary.
  const BoundarySurface boundary = boundary_surface(mesh);
  EXPECT_EQ(boundary.crowded_faces, 2);
  EXPECT_EQ(boundary.surface.triangles.size(), 10u);
}

TEST(Topology, PiecesAreCountedAndLabelledInOrder) {
  TetMesh mesh = make_tet_box(Vec3(1, 1, 1), {1, 1, 1});
  const auto shift = static_cast<Index>(mesh.vertices.size());
  for (const TetMesh::Element& e : std::vector(mesh.elements))
    mesh.elements.push_back({e[0] + shift, e[1] + shift, e[2] + shift, e[3] + shift});
  for (const Vec3& p : std::vector(mesh.vertices)) mesh.vertices.push_back(p + Vec3(5, 0, 0));
  mesh.vertices.emplace_back(9, 9, 9);
  const Components pieces = connected_components(mesh);
  EXPECT_EQ(pieces.count, 2);
  EXPECT_EQ(pieces.label.front(), 0);
  EXPECT_EQ(pieces.label.back(), 1);
  EXPECT_EQ(unreferenced_vertices(mesh), std::vector<Index>{16});
  EXPECT_EQ(connected_components(boundary_surface(mesh).surface).count, 2);
}

TEST(Topology, OpenSquare) {
  const SurfaceTopology census = surface_topology(square());
  EXPECT_EQ(census.edges, 5);
  EXPECT_EQ(census.boundary_edges, 4);
  EXPECT_EQ(census.holes, 1);
  EXPECT_EQ(census.euler_characteristic, 1);
  EXPECT_FALSE(census.closed());
}

TEST(Topology, FlippedDuplicateAndDegenerateTrianglesAreCounted) {
  Surface s = square();
  s.triangles[1] = {0, 3, 2};
  s.triangles.push_back({2, 1, 0});
  s.triangles.push_back({3, 3, 1});
  const SurfaceTopology census = surface_topology(s);
  EXPECT_EQ(census.inconsistent_edges, 1);
  EXPECT_EQ(census.duplicate_triangles, 1);
  EXPECT_EQ(census.degenerate_triangles, 1);
  EXPECT_EQ(census.boundary_edges, 4);
}

TEST(Topology, EmptySurface) {
  const SurfaceTopology census = surface_topology(Surface{});
  EXPECT_EQ(census.edges, 0);
  EXPECT_FALSE(census.watertight());
  EXPECT_TRUE(boundary_surface(TetMesh{}).surface.triangles.empty());
}

TEST(Topology, WeldJoinsEqualPositionsAndKeepsParts) {
  Surface s;
  s.vertices = {Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(1, 1, 0), Vec3(-0.0, 0, 0), Vec3(1, 1, 0), Vec3(0, 1, 0)};
  s.triangles = {{0, 1, 2}, {3, 4, 5}};
  s.parts = {{"both", 0, 2}};
  s.attributes = {{"paint", 1, {0, 1, 2, 3, 4, 5}}};
  EXPECT_EQ(surface_topology(s).components, 2);
  const WeldedSurface welded = weld(s);
  EXPECT_EQ(welded.surface.vertices.size(), 4u);
  EXPECT_EQ(welded.welded_vertex, (std::vector<Index>{0, 1, 2, 0, 2, 3}));
  EXPECT_EQ(surface_topology(welded.surface).components, 1);
  EXPECT_EQ(welded.surface.attributes[0].values, (std::vector<float>{0, 1, 2, 5}));
  EXPECT_EQ(welded.surface.parts.size(), 1u);
}

TEST(Topology, CreasesSplitACubeIntoItsFaces) {
  const Surface cube = boundary_surface(make_hex_box(Vec3(1, 1, 1), {2, 2, 2})).surface;
  EXPECT_EQ(split_at_creases(cube, 30).surface.vertices.size(), 6u * 9u);
  EXPECT_EQ(split_at_creases(cube, 180).surface.vertices.size(), cube.vertices.size());
  EXPECT_EQ(feature_edges(cube, 30).size(), 12u * 2u);
  const CreasedSurface split = split_at_creases(cube, 30);
  const std::vector<Vec3> normals = vertex_normals(split.surface.triangles, split.surface.vertices);
  for (const Vec3& n : normals) EXPECT_NEAR(n.cwiseAbs().maxCoeff(), 1, 1e-14);
}

// ---- against MANIFEST.tsv -------------------------------------------------------------------------------------------

struct KnownSurface {
  const char* file;
  Index welded, triangles, components, boundary_edges, holes, nonmanifold_edges, inconsistent_edges,
      nonmanifold_vertices, duplicates;
};

void PrintTo(const KnownSurface& known, std::ostream* out) { *out << known.file; }

class KnownSurfaces : public testing::TestWithParam<KnownSurface> {};

TEST_P(KnownSurfaces, CensusAgreesWithTheManifest) {
  const KnownSurface& known = GetParam();
  const std::filesystem::path path = test::asset(known.file);
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not here";
  const Surface surface = path.extension() == ".off" ? test::read_off(path) : test::read_obj(path);
  const SurfaceTopology census = surface_topology(weld(surface).surface);
  EXPECT_EQ(census.vertices, known.welded);
  EXPECT_EQ(census.triangles, known.triangles);
  EXPECT_EQ(census.components, known.components);
  EXPECT_EQ(census.boundary_edges, known.boundary_edges);
  EXPECT_EQ(census.holes, known.holes);
  EXPECT_EQ(census.nonmanifold_edges, known.nonmanifold_edges);
  EXPECT_EQ(census.inconsistent_edges, known.inconsistent_edges);
  EXPECT_EQ(census.nonmanifold_vertices, known.nonmanifold_vertices);
  EXPECT_EQ(census.duplicate_triangles, known.duplicates);
  EXPECT_EQ(census.watertight(), known.boundary_edges == 0 && known.nonmanifold_edges == 0);
}

INSTANTIATE_TEST_SUITE_P(
    Manifest, KnownSurfaces,
    testing::Values(
        KnownSurface{"soup/mh_base/base.obj", 19158, 36972, 154, 784, 28, 0, 0, 0, 0},
        KnownSurface{"soup/spot/spot_control_mesh.obj", 188, 372, 1, 0, 0, 0, 0, 0, 0},
        KnownSurface{"soup/plane_holes/plane_holes.obj", 8519, 16747, 1, 341, 27, 0, 0, 0, 0},
        KnownSurface{"soup/hand_open/hand_lowres.obj", 810, 1602, 1, 16, 1, 0, 0, 0, 0},
        KnownSurface{"soup/trimesh_chair/chair_model.obj", 3158, 12756, 3, 10, 2, 51, 12, 0, 6382},
        KnownSurface{"soup/manifold_openscad_crash/openscad-nonmanifold-crash.obj", 658, 1442, 1, 2, 2, 18, 0, 34, 3},
        KnownSurface{"soup/gc_pathological/moebius.obj", 280, 448, 1, 112, 1, 0, 4, 0, 0},
        KnownSurface{"soup/gc_pathological/hourglass_ico.obj", 23, 40, 1, 0, 0, 0, 0, 1, 0},
        KnownSurface{"soup/gc_pathological/fan3.obj", 5, 3, 1, 6, 1, 1, 0, 0, 0},
        KnownSurface{"soup/gc_pathological/triple_vierbein.obj", 75, 108, 1, 60, 1, 20, 3, 0, 0},
        KnownSurface{"soup/cgal_elephant_holes/elephant-with-holes.off", 2733, 4463, 1, 1353, 106, 0, 0, 65, 0},
        KnownSurface{"soup/bridge_vega/simpleBridge.obj", 16084, 32014, 39, 0, 0, 0, 0, 0, 0},
        KnownSurface{"tet/vega_turtle/turtle.obj", 1880, 3654, 6, 128, 9, 32, 48, 0, 0},
        KnownSurface{"tet/vega_towercrane/towerCrane_resol166.obj", 8034, 16300, 1, 0, 0, 19, 0, 0, 0}));

struct KnownSolid {
  const char* file;
  Index vertices, tets;
  double volume, min_dihedral, max_dihedral;
  Index boundary_triangles, euler_characteristic;
  Vec3 size;
};

void PrintTo(const KnownSolid& known, std::ostream* out) { *out << known.file; }

class KnownSolids : public testing::TestWithParam<KnownSolid> {};

TEST_P(KnownSolids, BoundaryAndQualityAgreeWithTheManifest) {
  const KnownSolid& known = GetParam();
  const std::filesystem::path path = test::asset(known.file);
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not here";
  const TetMesh mesh = test::read_veg<4>(path);
  const QualityReport report = quality(mesh);
  EXPECT_EQ(report.vertices, known.vertices);
  EXPECT_EQ(report.elements, known.tets);
  EXPECT_EQ(report.inverted, 0);
  EXPECT_EQ(report.degenerate, 0);
  EXPECT_EQ(report.slivers, 0);
  EXPECT_NEAR(report.volume, known.volume, 5e-4 * known.volume);  // the manifest prints four digits
  EXPECT_NEAR(report.dihedral.min, known.min_dihedral, 0.0051);
  EXPECT_NEAR(report.dihedral.max, known.max_dihedral, 0.0051);
  EXPECT_LT((report.bounds.size() - known.size).cwiseQuotient(known.size).cwiseAbs().maxCoeff(), 5e-4);
  const BoundarySurface boundary = boundary_surface(mesh);
  EXPECT_EQ(boundary.crowded_faces, 0);
  const SurfaceTopology census = surface_topology(boundary.surface);
  EXPECT_EQ(census.triangles, known.boundary_triangles);
  EXPECT_EQ(census.euler_characteristic, known.euler_characteristic);
  EXPECT_EQ(census.components, 1);
  EXPECT_EQ(census.nonmanifold_vertices, 0);
  EXPECT_TRUE(census.watertight());
  EXPECT_TRUE(census.consistently_wound());
  EXPECT_NEAR(quality(boundary.surface).enclosed_volume, report.volume, 1e-10 * report.volume);
}

INSTANTIATE_TEST_SUITE_P(Manifest, KnownSolids,
                         testing::Values(KnownSolid{"tet/vega_turtle/turtle-volumetric-homogeneous.veg", 347, 1185,
                                                    45.19, 8.65, 165.59, 530, 2, Vec3(7.191, 7.47, 3.733)},
                                         KnownSolid{"tet/vega_bridge/simpleBridge-ic_128_0.15_.1.veg", 4000, 12827,
                                                    30.71, 7.32, 165.39, 7058, -50, Vec3(20.3, 3.288, 2.782)},
                                         KnownSolid{"tet/vega_beam3/beam3_tet.veg", 208, 450, 0.0048, 35.26, 125.26,
                                                    412, 2, Vec3(0.12, 1, 0.04)}));

TEST(Topology, VoxelTowerHasTheBoundaryThatItsAuthorsExported) {
  const auto tower = test::asset("tet/vega_towercrane/towerCrane_resol166.veg");
  if (!std::filesystem::exists(tower)) GTEST_SKIP() << tower << " is not here";
  const HexMesh mesh = test::read_veg<8>(tower);
  EXPECT_EQ(mesh.elements.size(), 5571u);
  const SurfaceTopology census = surface_topology(boundary_surface(mesh).surface);
  EXPECT_EQ(census.triangles, 16300);
  EXPECT_EQ(census.vertices, 8034);
  EXPECT_EQ(census.nonmanifold_edges, 19);
  EXPECT_EQ(quality(mesh).inverted, 0);
}

}  // namespace
}  // namespace supple::topology_test
