// SPDX-License-Identifier: Apache-2.0
// Every format and encoding: what goes out comes back, bit for bit, as far as the format can hold it.
#include "io/io_tools.h"
#include "supple/io/mesh/gmsh.h"
#include "supple/io/mesh/medit.h"
#include "supple/io/mesh/obj.h"
#include "supple/io/mesh/off.h"
#include "supple/io/mesh/ply.h"
#include "supple/io/mesh/stl.h"
#include "supple/io/mesh/tetgen.h"
#include "supple/io/mesh/veg.h"

#include <fmt/format.h>

namespace supple::round_trip_test {
namespace {

template <class Mesh>
void vega_keeps_everything(const Mesh& mesh) {
  const auto again = get_mesh<Mesh>(parse_veg(encode_veg(mesh), "a.veg"));
  expect_same_geometry(again, mesh);
  expect_same_sets(again.sets, mesh.sets);
  ASSERT_EQ(again.materials.size(), mesh.materials.size());
  for (std::size_t m = 0; m < mesh.materials.size(); ++m) {
    EXPECT_EQ(again.materials[m].name, mesh.materials[m].name);
    EXPECT_EQ(again.materials[m].young, mesh.materials[m].young);
    EXPECT_EQ(again.materials[m].poisson, mesh.materials[m].poisson);
    EXPECT_EQ(again.materials[m].density, mesh.materials[m].density);
  }
  ASSERT_EQ(again.regions.size(), mesh.regions.size());
  for (std::size_t r = 0; r < mesh.regions.size(); ++r) {
    EXPECT_EQ(again.regions[r].set, mesh.regions[r].set);
    EXPECT_EQ(again.regions[r].material, mesh.regions[r].material);
  }
  EXPECT_EQ(again.element_material, mesh.element_material);
}

TEST(RoundTrip, VegaKeepsSetsRegionsAndMaterials) {
  vega_keeps_everything(with_materials(sample_tets()));
  vega_keeps_everything(with_materials(sample_bricks()));
}

TEST(RoundTrip, VegaWritesMaterialsThatNoRegionGives) {
  TetMesh mesh = sample_tets();
  mesh.sets.clear();
  mesh.materials = {{"a", 1, 0.1, 1}, {"a b", 2, 0.2, 2}};
  mesh.element_material.assign(mesh.elements.size(), 1);
  mesh.element_material[3] = 0;
  const auto again = get_mesh<TetMesh>(parse_veg(encode_veg(mesh), "a.veg"));
  EXPECT_EQ(again.element_material, mesh.element_material);
  EXPECT_EQ(again.materials[1].name, "a_b");
  const auto third = get_mesh<TetMesh>(parse_veg(encode_veg(again), "a.veg"));
  EXPECT_EQ(third.element_material, mesh.element_material);
}

TEST(RoundTrip, ElementsOutsideEveryRegionKeepTheDefaultMaterial) {
  TetMesh mesh = sample_tets();
  mesh.materials = {{"default", 5, 0.1, 7}};
  mesh.regions = {{0, 0}};
  assign_materials_from_regions(mesh);
  for (int round = 0; round < 3; ++round) {
    const auto again = get_mesh<TetMesh>(parse_veg(encode_veg(mesh), "a.veg"));
    EXPECT_EQ(again.material_of(0).young, 5);
    EXPECT_EQ(again.material_of(5).young, default_material().young);
    mesh = again;
  }
}

class GmshRoundTrip : public testing::TestWithParam<std::pair<GmshVersion, Encoding>> {};

TEST_P(GmshRoundTrip, KeepsOverlappingSets) {
  const auto [version, encoding] = GetParam();
  const TetMesh tets = sample_tets();
  const Result<LoadedMesh> loaded = parse_gmsh(encode_gmsh(tets, version, encoding), "a.msh");
  const auto again = get_mesh<TetMesh>(loaded);
  expect_same_geometry(again, tets);
  expect_same_sets(again.sets, tets.sets);
  EXPECT_EQ(loaded->format, fmt::format("Gmsh {} {}", version == GmshVersion::v2_2 ? "2.2" : "4.1",
                                        encoding == Encoding::binary ? "binary" : "ASCII"));
  const HexMesh bricks = sample_bricks();
  const auto bricks_again = get_mesh<HexMesh>(parse_gmsh(encode_gmsh(bricks, version, encoding), "a.msh"));
  expect_same_geometry(bricks_again, bricks);
  expect_same_sets(bricks_again.sets, bricks.sets);
}

TEST_P(GmshRoundTrip, KeepsSurfacesAndTheirParts) {
  const auto [version, encoding] = GetParam();
  const auto again = get_mesh<Surface>(parse_gmsh(encode_gmsh(sample_surface(), version, encoding), "a.msh"));
  expect_same_geometry(again, sample_surface());
  expect_same_parts(again, sample_surface());
}

INSTANTIATE_TEST_SUITE_P(AllFour, GmshRoundTrip,
                         testing::Values(std::pair(GmshVersion::v2_2, Encoding::ascii),
                                         std::pair(GmshVersion::v2_2, Encoding::binary),
                                         std::pair(GmshVersion::v4_1, Encoding::ascii),
                                         std::pair(GmshVersion::v4_1, Encoding::binary)));

TEST(RoundTrip, MeditKeepsGeometryAndDisjointSets) {
  TetMesh tets = sample_tets();
  tets.sets = {{"reference_0", {}}, {"reference_1", {0, 1}}, {"reference_2", {5}}};
  for (std::size_t e = 0; e < tets.elements.size(); ++e) {
    if (e > 1 && e != 5) tets.sets[0].elements.push_back(static_cast<Index>(e));
  }
  TetMesh written = tets;
  written.sets.erase(written.sets.begin());  // elements outside every set get reference 0
  const auto again = get_mesh<TetMesh>(parse_medit(encode_medit(written), "a.mesh"));
  expect_same_geometry(again, tets);
  expect_same_sets(again.sets, tets.sets);
  expect_same_geometry(get_mesh<HexMesh>(parse_medit(encode_medit(sample_bricks()), "a.mesh")), sample_bricks());
  const auto surface = get_mesh<Surface>(parse_medit(encode_medit(sample_surface()), "a.mesh"));
  expect_same_geometry(surface, sample_surface());
  ASSERT_EQ(surface.parts.size(), 2u);
  EXPECT_EQ(surface.parts[1].first_triangle, 1);
}

TEST(RoundTrip, TetgenKeepsGeometryAndRegions) {
  TetMesh tets = sample_tets();
  tets.sets = {{"a", {0, 1, 2}}, {"b", {4}}};
  const TetgenFiles files = encode_tetgen(tets);
  const auto again = get_mesh<TetMesh>(parse_tetgen(files.node, "a.node", files.ele, "a.ele"));
  expect_same_geometry(again, tets);
  ASSERT_EQ(again.sets.size(), 3u);
  EXPECT_EQ(again.sets[1].name, "region_1");
  EXPECT_EQ(again.sets[1].elements, tets.sets[0].elements);
  EXPECT_EQ(again.sets[2].elements, tets.sets[1].elements);
}

Surface coloured_surface() {
  Surface surface = sample_surface();
  VertexAttribute colours{"color", 3, {}};
  for (int i = 0; i < 18; ++i) colours.values.push_back(static_cast<float>(i * 14) / 255.0F);
  surface.attributes.push_back(colours);
  return surface;
}

void expect_same_colours(const Surface& a, const Surface& b) {
  ASSERT_EQ(a.attributes.size(), 1u);
  EXPECT_EQ(a.attributes[0].name, "color");
  EXPECT_EQ(a.attributes[0].components, b.attributes[0].components);
  EXPECT_EQ(a.attributes[0].values, b.attributes[0].values);
}

TEST(RoundTrip, ObjKeepsPartsAndColours) {
  const Surface surface = coloured_surface();
  const auto again = get_mesh<Surface>(parse_obj(encode_obj(surface), "a.obj"));
  expect_same_geometry(again, surface);
  expect_same_parts(again, surface);
  expect_same_colours(again, surface);
}

TEST(RoundTrip, OffKeepsColours) {
  const Surface surface = coloured_surface();
  const auto again = get_mesh<Surface>(parse_off(encode_off(surface), "a.off"));
  expect_same_geometry(again, surface);
  expect_same_colours(again, surface);
}

TEST(RoundTrip, PlyKeepsColoursInBothEncodings) {
  Surface surface = coloured_surface();
  for (const std::string& bytes : {encode_ply_ascii(surface), encode_ply_binary(surface)}) {
    const auto again = get_mesh<Surface>(parse_ply(bytes, "a.ply"));
    expect_same_geometry(again, surface);
    expect_same_colours(again, surface);
  }
  surface.attributes[0].components = 4;
  surface.attributes[0].values.resize(24, 0.0F);
  const auto again = get_mesh<Surface>(parse_ply(encode_ply_binary(surface), "a.ply"));
  expect_same_colours(again, surface);
}

TEST(RoundTrip, StlTextIsExactAndKeepsParts) {
  const auto again = get_mesh<Surface>(parse_stl(encode_stl_ascii(sample_surface()), "a.stl"));
  expect_same_geometry(again, sample_surface());
  expect_same_parts(again, sample_surface());
}

TEST(RoundTrip, StlBinaryIsExactInSinglePrecision) {
  Surface surface = sample_surface();
  for (Vec3& x : surface.vertices) {
    for (int k = 0; k < 3; ++k) {
      const volatile auto single = static_cast<float>(x[k]);  // g++ 12 drops the rounding when it vectorises this
      x[k] = single;
    }
  }
  const std::string bytes = encode_stl_binary(surface);
  EXPECT_EQ(bytes.size(), 84u + 50u * surface.triangles.size());
  expect_same_geometry(get_mesh<Surface>(parse_stl(bytes, "a.stl")), surface);
}

TEST(RoundTrip, FilesOfEveryExtension) {
  const ScratchFolder folder;
  for (const std::string& extension : writable_extensions()) {
    SCOPED_TRACE(extension);
    const auto path = folder / ("mesh" + extension);
    const bool solid = save_mesh(sample_tets(), path).ok();
    ASSERT_TRUE(solid || save_mesh(sample_surface(), path).ok());
    const Result<LoadedMesh> loaded = load_mesh(path);
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    EXPECT_TRUE(loaded->warnings.empty()) << loaded->warnings.front();
    EXPECT_EQ(std::holds_alternative<TetMesh>(loaded->mesh), solid);
    ASSERT_TRUE(save_mesh(*loaded, path, {GmshVersion::v2_2, Encoding::ascii}).ok());
    EXPECT_TRUE(load_mesh(path).ok());
  }
}

}  // namespace
}  // namespace supple::round_trip_test
