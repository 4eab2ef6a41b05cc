// SPDX-License-Identifier: Apache-2.0
#include "cli/run_cli.h"
#include "supple/io/mesh/mesh_file.h"
#include "supple/mesh/box.h"

namespace supple::cli_convert_test {
namespace {

class Convert : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    TetMesh mesh = make_tet_box({1, 1, 1}, {2, 2, 2});
    set_uniform_material(mesh, {.name = "flesh", .young = 5e4, .poisson = 0.3, .density = 1000});
    ASSERT_TRUE(save_mesh(mesh, path("box.veg")).ok());
  }
};

TEST_F(Convert, AroundAllSolidFormats) {
  std::string from = "box.veg";
  for (const std::string to : {"a.msh", "b.mesh", "c.node", "d.veg"}) {
    const nlohmann::json result = supple_json({"convert", from, to});
    EXPECT_EQ(result["vertices"], 27) << to;
    EXPECT_EQ(result["elements"], 48) << to;
    from = to;
  }
  const Result<LoadedMesh> last = load_mesh(path("d.veg"));
  ASSERT_TRUE(last.ok());
  const Result<LoadedMesh> first = load_mesh(path("box.veg"));
  EXPECT_EQ(std::get<TetMesh>(last->mesh).elements, std::get<TetMesh>(first->mesh).elements);
  EXPECT_EQ(std::get<TetMesh>(last->mesh).vertices, std::get<TetMesh>(first->mesh).vertices);
}

TEST_F(Convert, SolidToSurfaceTakesTheBoundaryAndSaysSo) {
  const CliRun run = supple({"convert", "box.veg", "box.stl"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("boundary surface"), std::string::npos);
  const nlohmann::json file = supple_json({"inspect", "box.stl"})["files"][0];
  EXPECT_EQ(file["triangles"], 6 * 8);
  EXPECT_NEAR(file["enclosed_volume"].get<double>(), 1.0, 1e-12);
}

TEST_F(Convert, Encodings) {
  ASSERT_EQ(supple({"convert", "box.veg", "a.msh", "--ascii", "--gmsh", "2.2"}).code, 0);
  EXPECT_EQ(slurp(path("a.msh")).substr(0, 19), "$MeshFormat\n2.2 0 8");
  ASSERT_EQ(supple({"convert", "box.veg", "b.msh"}).code, 0);
  EXPECT_EQ(slurp(path("b.msh")).substr(0, 19), "$MeshFormat\n4.1 1 8");
  ASSERT_EQ(supple({"convert", "box.veg", "c.stl", "--ascii"}).code, 0);
  EXPECT_EQ(slurp(path("c.stl")).substr(0, 5), "solid");
  expect_refusal({"convert", "box.veg", "d.msh", "--gmsh", "3"}, 2, "--gmsh");
  expect_refusal({"convert", "box.veg", "d.msh", "--ascii", "--binary"}, 2, "--");
}

TEST_F(Convert, MaterialsThatGetLostAreNamed) {
  EXPECT_NE(supple({"convert", "box.veg", "a.msh"}).err.find("materials"), std::string::npos);
  EXPECT_EQ(supple({"convert", "box.veg", "a.veg"}).err, "");
}

TEST_F(Convert, OntoItself) {
  const std::string before = slurp(path("box.veg"));
  expect_refusal({"convert", "box.veg", "box.veg"}, 2, "--force");
  EXPECT_EQ(slurp(path("box.veg")), before);
  ASSERT_EQ(supple({"convert", "box.veg", "box.veg", "--force"}).code, 0);
  EXPECT_EQ(supple_json({"inspect", "box.veg"})["files"][0]["elements"], 48);
  EXPECT_EQ(files(), std::vector<std::string>{"box.veg"});
}

TEST_F(Convert, ForParaView) {
  ASSERT_EQ(supple({"convert", "box.veg", "box.vtu"}).code, 0);
  EXPECT_NE(slurp(path("box.vtu")).find("NumberOfCells=\"48\""), std::string::npos);
}

TEST_F(Convert, NonsenseIsRefusedAndLeavesNothing) {
  spill(path("face.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  const std::vector<std::string> before = files();
  expect_refusal({"convert", "face.obj", "face.veg"}, 2, "surface");
  expect_refusal({"convert", "box.veg", "box.xyz"}, 2, "box.xyz");
  expect_refusal({"convert", "missing.obj", "b.obj"}, 3, "missing.obj");
  expect_refusal({"convert", "box.veg", "no/such/folder/b.msh"}, 3, "no/such/folder");
  EXPECT_EQ(files(), before);
}

TEST_F(Convert, AFailedWriteKeepsTheOldFile) {
  spill(path("old.stl"), "precious");
  expect_refusal({"convert", "missing.obj", "old.stl"}, 3, "missing.obj");
  EXPECT_EQ(slurp(path("old.stl")), "precious");
}

TEST_F(Convert, CharactersKeepEverything) {
  const std::string fox = asset("rigged/khr_fox/Fox.glb"), cow = asset("rigged/farm_cow/Cow.gltf");
  if (fox.empty()) GTEST_SKIP() << "there are no shared assets";
  const nlohmann::json result = supple_json({"convert", cow, "cow.glb"});
  EXPECT_EQ(result["skins"], 1);
  EXPECT_EQ(result["animations"], 5);
  EXPECT_EQ(supple_json({"inspect", "cow.glb"})["files"][0]["clips"].size(), 5u);
  // To a mesh format goes the surface at rest, and a mesh may become a .glb.
  EXPECT_EQ(supple_json({"convert", fox, "fox.obj"})["triangles"], 576);
  EXPECT_EQ(supple_json({"convert", "fox.obj", "again.glb"})["triangles"], 576);
  EXPECT_EQ(supple_json({"inspect", "again.glb"})["files"][0]["triangles"], 576);
}

}  // namespace
}  // namespace supple::cli_convert_test
