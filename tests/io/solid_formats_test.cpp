// SPDX-License-Identifier: Apache-2.0
// The odd corners of Vega, Gmsh, MEDIT and TetGen files, each in a tiny file of its own.
#include "io/io_tools.h"
#include "supple/io/bytes.h"
#include "supple/io/mesh/gmsh.h"
#include "supple/io/mesh/medit.h"
#include "supple/io/mesh/tetgen.h"
#include "supple/io/mesh/veg.h"

#include <fmt/format.h>
#include <Eigen/LU>
#include <map>

namespace supple::solid_formats_test {
namespace {

const std::string four_vertices = "*VERTICES\n4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n";
const std::string one_tet = four_vertices + "*ELEMENTS\nTET\n1 4 0\n1 1 2 3 4\n";

TEST(Vega, CountsFromZeroWhenTheFirstLineDoes) {
  const auto mesh = get_mesh<TetMesh>(
      parse_veg("*VERTICES\n5 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n4 1 1 1\n*ELEMENTS\nTET\n2 4 0\n"
                "0 0 1 2 3\n1 1 2 3 4\n*SET a\n1\n*MATERIAL m\nENU, 1, 2, 0.3\n*REGION\na, m\n",
                "a.veg"));
  EXPECT_EQ(mesh.elements[0], (TetMesh::Element{0, 1, 2, 3}));
  EXPECT_EQ(mesh.sets[0].elements, std::vector<Index>{1});
  EXPECT_EQ(mesh.material_of(1).young, 2);
  EXPECT_EQ(mesh.material_of(0).young, default_material().young);
}

TEST(Vega, TakesWindowsLineEndsPlusSignsAndFortranExponents) {
  const auto mesh =
      get_mesh<TetMesh>(parse_veg("\xEF\xBB\xBF*VERTICES\r\n4 3 0 0\r\n1 0 0 0\r\n2 +1.5D+0 0 0\r\n3 0 1e-999 1\r\n4 0 "
                                  "1 0\r\n*elements\r\nTET\r\n1 4 0\r\n"
                                  "1 1 2 4 3\r\n*MATERIAL m\r\nENU, 1, 2d3, .3\r\n",
                                  "a.veg"));
  ASSERT_EQ(mesh.vertices.size(), 4u);
  EXPECT_EQ(mesh.vertices[1][0], 1.5);
  EXPECT_EQ(mesh.vertices[2][1], 0);
  EXPECT_EQ(mesh.material_of(0).young, 2000);
}

TEST(Vega, LaterRegionsWin) {
  const auto mesh = get_mesh<TetMesh>(parse_veg(
      one_tet + "*REGION\nallElements, a\n*REGION\ns, b\n*SET s\n1\n*MATERIAL a\nENU,1,1,0\n*MATERIAL b\nENU,1,7,0\n",
      "a.veg"));
  EXPECT_EQ(mesh.material_of(0).young, 7);
}

Result<LoadedMesh> parse_with_includes(const std::string& main, const std::map<std::string, std::string>& files) {
  return parse_veg(main, "folder/main.veg", [&](const std::string& path) -> Result<std::string> {
    const auto found = files.find(path);
    return found == files.end() ? Result<std::string>(input_error("There is no file " + path + "."))
                                : Result<std::string>(found->second);
  });
}

TEST(Vega, IncludesFilesRelativeToTheOneThatIncludesThem) {
  const std::map<std::string, std::string> files = {{"parts/set.txt", "*INCLUDE deeper/numbers.txt"},
                                                    {"parts/deeper/numbers.txt", "# a list\n1,\n"}};
  const auto mesh =
      get_mesh<TetMesh>(parse_with_includes(one_tet + "*SET s\n*INCLUDE parts/set.txt\n*SET t\n1\n", files));
  ASSERT_EQ(mesh.sets.size(), 2u);
  EXPECT_EQ(mesh.sets[0].elements, std::vector<Index>{0});
}

TEST(Vega, SaysWhichIncludeIsMissingOrCircular) {
  expect_refused(parse_with_includes(one_tet + "*SET s\n*INCLUDE gone.txt\n", {}), "gone.txt");
  expect_refused(
      parse_with_includes("*INCLUDE a.txt", {{"a.txt", "*INCLUDE sub/../b.txt"}, {"b.txt", "*INCLUDE a.txt"}}),
      "\"a.txt\" includes itself");
  expect_refused(parse_with_includes("*INCLUDE main.veg", {}), "includes itself");
  // Files that double at each of 15 levels would be 2^15 of them.
  std::map<std::string, std::string> bomb;
  for (char c = 'a'; c < 'o'; ++c) bomb[{c}] = fmt::format("*INCLUDE {0}\n*INCLUDE {0}\n", char(c + 1));
  bomb["o"] = "# nothing\n";
  expect_refused(parse_with_includes("*INCLUDE a", bomb), "too many included files");
  expect_refused(parse_veg("*INCLUDE a", "a.veg"), "can't be reached");
}

TEST(Vega, RefusesWhatItCantHold) {
  expect_refused(parse_veg(one_tet + "*MATERIAL m\nMOONEYRIVLIN, 1, 2, 3, 4, 5\n", "a.veg"), "MOONEYRIVLIN");
  expect_refused(parse_veg(one_tet + "*MATERIAL m\nENU, 1, 2, 0.5\n", "a.veg"), "Poisson");
  expect_refused(parse_veg(one_tet + "*MATERIAL m\nENU, 1, nan, 0.4\n", "a.veg"), "finite");
  expect_refused(parse_veg(one_tet + "*MATERIAL m\n*SET s\n", "a.veg"), "no values");
  expect_refused(parse_veg(one_tet + "*MATERIAL m\nENU,1,1,0\n*MATERIAL m\n", "a.veg"), "twice");
  expect_refused(parse_veg(one_tet + "*REGION\nnowhere, m\n", "a.veg"), "line 12: there is no set \"nowhere\"");
  expect_refused(parse_veg(one_tet + "*SET s\n2\n", "a.veg"), "names element 2");
  expect_refused(parse_veg(four_vertices + "*ELEMENTS\nTET\n1 4 0\n1 1 2 3 5\n", "a.veg"), "element 1 uses vertex 5");
  expect_refused(parse_veg(four_vertices + "*ELEMENTS\nPRISM\n", "a.veg"), "PRISM");
  expect_refused(parse_veg("*VERTICES\n4 3 0 0\n1 0 0 0\n3 0 0 0\n", "a.veg"), "line 4: number 3 is out of order");
  expect_refused(parse_veg("*VERTICES\n1 3 0 0\n1 0 nan 0\n", "a.veg"), "finite");
  expect_refused(parse_veg("*VERTICES\n1 3 0 0\n1 0 1e999 0\n", "a.veg"), "finite");
  expect_refused(parse_veg("*VERTICES\n2000000000 3 0 0\n1 0 0 0\n*ELEMENTS\nTET\n2000000000 4 0\n", "a.veg"),
                 "cut short");
}

TEST(Solids, AreTurnedAroundWithAWarning) {
  const Result<LoadedMesh> loaded =
      parse_veg(four_vertices + "*ELEMENTS\nTET\n3 4 0\n1 1 2 3 4\n2 1 3 2 4\n3 1 2 3 3\n", "a.veg");
  const auto mesh = get_mesh<TetMesh>(loaded);
  EXPECT_EQ(mesh.elements[0], (TetMesh::Element{0, 1, 2, 3}));
  const auto& e = mesh.elements[1];
  Mat3 edges;
  for (int k = 0; k < 3; ++k) edges.col(k) = mesh.vertices[e[k + 1]] - mesh.vertices[e[0]];
  EXPECT_EQ(edges.determinant(), 1);
  ASSERT_EQ(loaded->warnings.size(), 2u);
  EXPECT_EQ(loaded->warnings[0], "Turned 1 of 3 elements around: their volume was negative.");
  EXPECT_EQ(loaded->warnings[1], "1 of 3 elements have no volume.");
}

TEST(Solids, BricksAreTurnedAroundToo) {
  HexMesh box = make_hex_box(Vec3(1, 2, 3), {1, 1, 1});
  const HexMesh::Element good = box.elements[0];
  for (const auto& mirrored :
       {HexMesh::Element{good[4], good[5], good[6], good[7], good[0], good[1], good[2], good[3]},
        HexMesh::Element{good[0], good[3], good[2], good[1], good[4], good[7], good[6], good[5]}}) {
    box.elements[0] = mirrored;
    const Result<LoadedMesh> loaded = parse_veg(encode_veg(box), "a.veg");
    const auto mesh = get_mesh<HexMesh>(loaded);
    ASSERT_EQ(loaded->warnings.size(), 1u);
    const auto& e = mesh.elements[0];
    Mat3 edges;
    edges << mesh.vertices[e[1]] - mesh.vertices[e[0]], mesh.vertices[e[3]] - mesh.vertices[e[0]],
        mesh.vertices[e[4]] - mesh.vertices[e[0]];
    EXPECT_DOUBLE_EQ(edges.determinant(), 6);
    EXPECT_TRUE((mesh.vertices[e[6]] - mesh.vertices[e[0]]).isApprox(edges.rowwise().sum()));
  }
}

std::string gmsh2(const std::string& elements, const std::string& nodes = "") {
  return "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n" +
         (nodes.empty() ? "5\n1 0 0 0\n2 1 0 0\n30 0 1 0\n4 0 0 1\n5000000000 1 1 1\n" : nodes) +
         "$EndNodes\n$Elements\n" + elements + "$EndElements\n";
}

TEST(Gmsh, NodeNumbersMayHaveGaps) {
  const auto mesh =
      get_mesh<TetMesh>(parse_gmsh(gmsh2("2\n1 4 2 0 1 1 2 30 4\n2 4 2 0 1 2 30 4 5000000000\n"), "a.msh"));
  EXPECT_EQ(mesh.elements[1], (TetMesh::Element{1, 2, 3, 4}));
  EXPECT_TRUE(mesh.sets.empty());
  expect_refused(parse_gmsh(gmsh2("1\n1 4 2 0 1 1 2 30 3\n"), "a.msh"), "uses node 3 in element 1");
  expect_refused(parse_gmsh(gmsh2("1\n1 4 2 0 1 1 2 30 -9223372036854775808\n"), "a.msh"),
                 "uses node -9223372036854775808");
}

TEST(Gmsh, RefusesMixedAndCurvedElements) {
  expect_refused(parse_gmsh(gmsh2("2\n1 4 0 1 2 30 4\n2 5 0 1 2 30 4 1 2 30 4\n"), "a.msh"),
                 "mixes 1 tetrahedra and 1 bricks");
  expect_refused(parse_gmsh(gmsh2("1\n1 11 0 1 2 30 4 1 2 30 4 1 2\n"), "a.msh"), "10-node tetrahedra");
  expect_refused(parse_gmsh(gmsh2("1\n1 6 0 1 2 30 4 1 2\n"), "a.msh"), "prisms");
  expect_refused(parse_gmsh(gmsh2("1\n1 9 0 1 2 30 4 1 2\n"), "a.msh"), "6-node triangles");
  expect_refused(parse_gmsh(gmsh2("1\n1 77 0 1 2\n"), "a.msh"), "unknown type 77");
  expect_refused(parse_gmsh("$MeshFormat\n4 0 8\n$EndMeshFormat\n", "a.msh"), "version 4 isn't supported");
  expect_refused(parse_gmsh(gmsh2("1\n1 4 0 1 2 30 4\n", "2\n1 0 0 0\n1 1 0 0\n"), "a.msh"), "same number");
  expect_refused(parse_gmsh(gmsh2("1\n1 15 0 1\n"), "a.msh"), "no faces");
}

TEST(Gmsh, SurfaceElementsInAVolumeFileAreLeftOut) {
  const auto mesh =
      get_mesh<TetMesh>(parse_gmsh(gmsh2("3\n1 15 2 0 1 1\n2 9 2 0 1 1 2 30 4 1 2\n3 4 0 1 2 30 4\n"), "a.msh"));
  EXPECT_EQ(mesh.elements.size(), 1u);
}

TEST(Gmsh, QuadsBecomeTriangles) {
  const auto surface = get_mesh<Surface>(parse_gmsh(gmsh2("2\n1 3 0 1 2 30 4\n2 2 0 1 2 30\n"), "a.msh"));
  EXPECT_EQ(surface.triangles.size(), 3u);
}

TEST(Gmsh, Version4GroupsComeFromEntitiesAndUnknownSectionsAreSkipped) {
  const auto mesh = get_mesh<TetMesh>(
      parse_gmsh("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Comments\n1 2 $Nodes\n$EndComments\n"
                 "$PhysicalNames\n1\n3 7 \"soft tissue\"\n$EndPhysicalNames\n"
                 "$Entities\n1 0 0 2\n1 0 0 0 0\n1 0 0 0 1 1 1 2 7 8 0\n2 0 0 0 1 1 1 1 8 2 1 -1\n$EndEntities\n"
                 "$Nodes\n2 5 1 100\n0 1 0 1\n1\n0 0 0\n3 1 1 4\n20\n30\n40\n100\n"
                 "1 0 0 .1 .2 .3\n0 1 0 .1 .2 .3\n0 0 1 .1 .2 .3\n1 1 1 .1 .2 .3\n$EndNodes\n"
                 "$Elements\n3 3 1 3\n0 1 15 1\n1 1\n3 1 4 1\n2 1 20 30 40\n3 2 4 1\n3 20 30 40 100\n$EndElements\n"
                 "$Surface\n1\n1 20 30\n$EndSurface\n",
                 "a.msh"));
  EXPECT_EQ(mesh.vertices[4], Vec3(1, 1, 1));
  ASSERT_EQ(mesh.sets.size(), 2u);
  EXPECT_EQ(mesh.sets[0].name, "soft tissue");
  EXPECT_EQ(mesh.sets[0].elements, std::vector<Index>{0});
  EXPECT_EQ(mesh.sets[1].name, "physical_8");
  EXPECT_EQ(mesh.sets[1].elements, (std::vector<Index>{0, 1}));
}

template <class T>
void append_big(std::string& bytes, T value) {
  append_bytes(bytes, byte_swapped(value));
}

TEST(Gmsh, BigEndianBinaryIsRead) {
  std::string bytes = "$MeshFormat\n2.2 1 8\n";
  append_big(bytes, std::int32_t{1});
  bytes += "\n$EndMeshFormat\n$Nodes\n4\n";
  for (std::int32_t i = 0; i < 4; ++i) {
    append_big(bytes, i + 1);
    for (int k = 0; k < 3; ++k) append_big(bytes, i == k + 1 ? 2.5 : 0.0);
  }
  bytes += "\n$EndNodes\n$Elements\n1\n";
  for (const std::int32_t value : {4, 1, 1, 1, 9, 1, 2, 3, 4}) append_big(bytes, value);
  bytes += "\n$EndElements\n";
  const auto mesh = get_mesh<TetMesh>(parse_gmsh(bytes, "a.msh"));
  EXPECT_EQ(mesh.vertices[3], Vec3(0, 0, 2.5));
  ASSERT_EQ(mesh.sets.size(), 1u);
  EXPECT_EQ(mesh.sets[0].name, "physical_9");
}

TEST(Medit, UnknownSectionsAreSkippedAndReferencesBecomeSets) {
  const std::string start =
      "MeshVersionFormatted 1\n# comment\nDimension\n3\nVertices\n5\n0 0 0 1\n1 0 0 1\n0 1 0 1\n0 0 1 1\n1 1 1 1\n";
  const auto mesh = get_mesh<TetMesh>(parse_medit(start + "Normals\n1\n0 -1 .5\nEdges 1 1 2 0\nTriangles\n1\n1 2 3 "
                                                          "0\nTetrahedra\n2\n1 2 3 4 10\n2 3 4 5 -2\nEnd\nrubbish",
                                                  "a.mesh"));
  ASSERT_EQ(mesh.sets.size(), 2u);
  EXPECT_EQ(mesh.sets[0].name, "reference_-2");
  EXPECT_EQ(mesh.sets[0].elements, std::vector<Index>{1});
  const auto surface =
      get_mesh<Surface>(parse_medit(start + "Triangles 1\n1 2 3 0\nQuadrilaterals 1\n1 2 3 4 0\nEnd", "a.mesh"));
  EXPECT_EQ(surface.triangles.size(), 3u);
  expect_refused(parse_medit(start + "Tetrahedra 1\n1 2 3 4 0\nHexahedra 1\n1 2 3 4 5 1 2 3 0\n", "a.mesh"), "mixes");
  expect_refused(parse_medit(start + "Tetrahedra 1\n1 2 3 6 0\n", "a.mesh"), "element 1 uses vertex 6");
  expect_refused(parse_medit(start + "Tetrahedra 1\n1 2 3 0 0\n", "a.mesh"), "element 1 uses vertex 0");
  expect_refused(parse_medit(start + "Prisms 1\n1 2 3 4 5 1 0\n", "a.mesh"), "Prisms");
  expect_refused(parse_medit("MeshVersionFormatted 1\nDimension 2\n", "a.mesh"), "dimension 2");
  expect_refused(parse_medit("MeshVersionFormatted 1\nDimension 3\nVertices 999999999\n0 0 0 0\n", "a.mesh"),
                 "more than the rest");
}

TEST(Tetgen, ReadsAttributesMarkersAndRegions) {
  const std::string nodes =
      "# made by hand\n5 3 1 1\n0 0 0 0 0.5 1\n1 1 0 0 0.5 1\n2 0 1 0 0.5 1\n3 0 0 1 0.5 1 # marker\n4 1 1 1 0.5 1\n";
  const auto mesh = get_mesh<TetMesh>(parse_tetgen(nodes, "a.node", "2 4 1\n0 0 1 2 3 1.0\n1 1 2 3 4 2\n", "a.ele"));
  EXPECT_EQ(mesh.elements[1], (TetMesh::Element{1, 2, 3, 4}));
  ASSERT_EQ(mesh.sets.size(), 2u);
  EXPECT_EQ(mesh.sets[1].name, "region_2");
  expect_refused(parse_tetgen(nodes, "a.node", "1 10 0\n0 0 1 2 3 4 0 1 2 3 4\n", "a.ele"), "10 nodes");
  expect_refused(parse_tetgen(nodes, "a.node", "1 4 0\n0 0 1 2 5\n", "a.ele"), "a.ele, line 2: vertex 5 doesn't exist");
  expect_refused(parse_tetgen(nodes, "a.node", "2 4 0\n0 0 1 2 3\n", "a.ele"), "cut short");
}

TEST(Tetgen, FindsThePartnerOfEitherFile) {
  const ScratchFolder folder;
  ASSERT_TRUE(save_mesh(sample_tets(), folder / "a.1.node").ok());
  EXPECT_TRUE(std::filesystem::exists(folder / "a.1.ele"));
  expect_same_geometry(get_mesh<TetMesh>(load_mesh(folder / "a.1.node")), sample_tets());
  expect_same_geometry(get_mesh<TetMesh>(load_mesh(folder / "a.1.ele")), sample_tets());
  std::filesystem::remove(folder / "a.1.ele");
  expect_refused(load_mesh(folder / "a.1.node"), "needs its partner a.1.ele");
}

}  // namespace
}  // namespace supple::solid_formats_test
