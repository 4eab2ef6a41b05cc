// SPDX-License-Identifier: Apache-2.0
// Every mesh of the asset collection, against the counts of its manifest, which other programs made.
#include "io/io_tools.h"
#include "supple/io/file.h"
#include "supple/io/mesh/vertex_list.h"

#include <fmt/format.h>
#include <Eigen/Geometry>
#include <Eigen/LU>

#include <regex>
#include <sstream>

namespace supple::asset_meshes_test {
namespace {

const std::filesystem::path assets = std::filesystem::path(SUPPLE_SHARED_DIR) / "assets";

struct ManifestRow {
  std::string path;
  std::string what;
};

std::vector<ManifestRow> read_manifest() {
  std::vector<ManifestRow> rows;
  std::ifstream file(assets / "MANIFEST.tsv");
  std::string line;
  while (std::getline(file, line)) {
    std::vector<std::string> cells;
    std::istringstream stream(line);
    for (std::string cell; std::getline(stream, cell, '\t');) cells.push_back(cell);
    if (cells.size() >= 6) rows.push_back({cells[0], cells[5]});
  }
  return rows;
}

double number_in(const std::string& text, const std::string& pattern) {
  std::smatch match;
  if (!std::regex_search(text, match, std::regex(pattern))) return -1;
  return std::stod(match[1]);
}

double volume(const TetMesh& mesh) {
  double sum = 0;
  for (const auto& e : mesh.elements) {
    Mat3 edges;
    for (int k = 0; k < 3; ++k) edges.col(k) = mesh.vertices[e[k + 1]] - mesh.vertices[e[0]];
    EXPECT_GT(edges.determinant(), 0);
    sum += edges.determinant() / 6;
  }
  return sum;
}

void check_tets(const ManifestRow& row, const LoadedMesh& loaded) {
  ASSERT_TRUE(std::holds_alternative<TetMesh>(loaded.mesh));
  const auto& mesh = std::get<TetMesh>(loaded.mesh);
  EXPECT_EQ(mesh.vertices.size(), number_in(row.what, "V=(\\d+)"));
  EXPECT_EQ(mesh.elements.size(), number_in(row.what, "tets=(\\d+)"));
  // The manifest has four digits.
  const double expected = number_in(row.what, "vol=([0-9.e+-]+)");
  EXPECT_NEAR(volume(mesh), expected, 6e-4 * expected);
}

void check_bricks(const ManifestRow& row, const LoadedMesh& loaded) {
  ASSERT_TRUE(std::holds_alternative<HexMesh>(loaded.mesh));
  const auto& mesh = std::get<HexMesh>(loaded.mesh);
  EXPECT_EQ(mesh.vertices.size(), number_in(row.what, "V=(\\d+)"));
  EXPECT_EQ(mesh.elements.size(), number_in(row.what, "elements=(\\d+)"));
  // They are voxels: in our node order, the three edges at node 0 form a right-handed orthogonal frame.
  for (const auto& e : mesh.elements) {
    const Vec3 a = mesh.vertices[e[1]] - mesh.vertices[e[0]];
    const Vec3 b = mesh.vertices[e[3]] - mesh.vertices[e[0]];
    const Vec3 c = mesh.vertices[e[4]] - mesh.vertices[e[0]];
    ASSERT_NEAR(a.cross(b).dot(c) / (a.norm() * b.norm() * c.norm()), 1, 1e-6);
    ASSERT_NEAR((mesh.vertices[e[6]] - mesh.vertices[e[0]] - a - b - c).norm(), 0, 1e-6 * a.norm());
  }
}

void check_surface(const ManifestRow& row, const LoadedMesh& loaded) {
  ASSERT_TRUE(std::holds_alternative<Surface>(loaded.mesh));
  const auto& surface = std::get<Surface>(loaded.mesh);
  EXPECT_EQ(surface.vertices.size(), number_in(row.what, "\\(of (\\d+)\\)"));
  EXPECT_EQ(surface.triangles.size(), number_in(row.what, "(\\d+) tris"));
}

TEST(AssetMeshes, HaveTheCountsOfTheManifest) {
  if (!std::filesystem::exists(assets)) GTEST_SKIP() << "no asset collection at " << assets;
  std::size_t checked = 0;
  for (const ManifestRow& row : read_manifest()) {
    SCOPED_TRACE(row.path);
    const std::string extension = std::filesystem::path(row.path).extension().string();
    const bool is_ours =
        row.path.starts_with("tet/") || row.path.starts_with("soup/") || row.path.starts_with("handles/");
    const bool is_volume = row.what.starts_with("volume:");
    if (!is_ours || !(is_volume || row.what.starts_with("surface:") || extension == ".glb")) continue;
    ++checked;
    const Result<LoadedMesh> loaded = load_mesh(assets / row.path);
    if (extension == ".glb") {
      ASSERT_TRUE(loaded.ok()) << loaded.error().message;
      EXPECT_EQ(std::get<Surface>(loaded->mesh).triangles.size(), number_in(row.what, "(\\d+) tris"));
      continue;
    }
    if (row.path.ends_with(".ortho.veg")) {
      expect_refused(loaded, "ORTHOTROPIC_N1");
      continue;
    }
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    if (row.what.find("nodes/elem=8") != std::string::npos)
      check_bricks(row, *loaded);
    else if (is_volume)
      check_tets(row, *loaded);
    else
      check_surface(row, *loaded);
  }
  EXPECT_GE(checked, 40u);
}

TEST(AssetMeshes, TurtleHasItsTwoMaterials) {
  if (!std::filesystem::exists(assets)) GTEST_SKIP() << "no asset collection at " << assets;
  const auto mesh = get_mesh<TetMesh>(load_mesh(assets / "tet/vega_turtle/turtle-volumetric-heterogeneous.veg"));
  ASSERT_EQ(mesh.sets.size(), 2u);
  EXPECT_EQ(mesh.sets[0].name, "backshell");
  EXPECT_EQ(mesh.sets[0].elements.size() + mesh.sets[1].elements.size(), 1185u);
  ASSERT_EQ(mesh.materials.size(), 2u);
  EXPECT_EQ(mesh.material_of(31).young, 25000000);  // element 32 is the first of shellElementList.txt
  EXPECT_EQ(mesh.material_of(0).young, 250000);
  EXPECT_EQ(mesh.material_of(0).poisson, 0.35);
}

TEST(AssetMeshes, VertexListsBelongToTheirMeshes) {
  if (!std::filesystem::exists(assets)) GTEST_SKIP() << "no asset collection at " << assets;
  const auto turtle = load_vertex_list(assets / "tet/vega_turtle/turtle-volumetric.bou", 347);
  ASSERT_TRUE(turtle.ok());
  EXPECT_EQ(turtle->size(), 23u);
  EXPECT_EQ(turtle->front(), 0);
  EXPECT_EQ(turtle->back(), 264);
  EXPECT_FALSE(load_vertex_list(assets / "tet/vega_turtle/turtle-volumetric.bou", 264).ok());
  EXPECT_TRUE(load_vertex_list(assets / "tet/vega_towercrane/towerCrane_resol166.bou", 9875).ok());
}

TEST(AssetMeshes, SurviveEveryFormatThatHoldsThem) {
  if (!std::filesystem::exists(assets)) GTEST_SKIP() << "no asset collection at " << assets;
  const ScratchFolder folder;
  const auto turtle = get_mesh<TetMesh>(load_mesh(assets / "tet/vega_turtle/turtle-volumetric-heterogeneous.veg"));
  for (const char* name : {"t.veg", "t.msh", "t.mesh", "t.ele"}) {
    ASSERT_TRUE(save_mesh(turtle, folder / name).ok());
    expect_same_geometry(get_mesh<TetMesh>(load_mesh(folder / name)), turtle);
  }
  const auto cow = get_mesh<Surface>(load_mesh(assets / "soup/spot/spot_low_resolution.obj"));
  for (const char* name : {"s.obj", "s.off", "s.ply", "s.msh", "s.mesh"}) {
    ASSERT_TRUE(save_mesh(cow, folder / name).ok());
    expect_same_geometry(get_mesh<Surface>(load_mesh(folder / name)), cow);
  }
}

}  // namespace
}  // namespace supple::asset_meshes_test
