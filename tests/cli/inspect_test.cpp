// SPDX-License-Identifier: Apache-2.0
#include "cli/run_cli.h"
#include "supple/io/mesh/mesh_file.h"
#include "supple/mesh/box.h"

namespace supple::cli_inspect_test {
namespace {

using Inspect = CliTest;

TEST_F(Inspect, BoxOfTetrahedra) {
  TetMesh mesh = make_tet_box({2, 1, 0.5}, {4, 2, 1});
  set_uniform_material(mesh, {.name = "rubber", .young = 1e6, .poisson = 0.4, .density = 900});
  ASSERT_TRUE(save_mesh(mesh, path("box.veg")).ok());
  const nlohmann::json file = supple_json({"inspect", "box.veg"})["files"][0];
  EXPECT_EQ(file["file"], "box.veg");
  EXPECT_EQ(file["kind"], "tetrahedra");
  EXPECT_EQ(file["vertices"], 5 * 3 * 2);
  EXPECT_EQ(file["elements"], 6 * 8);
  EXPECT_NEAR(file["volume"].get<double>(), 1.0, 1e-12);
  EXPECT_NEAR(file["mass"].get<double>(), 900.0, 1e-9);
  EXPECT_NEAR(file["boundary_area"].get<double>(), 2 * (2 * 1 + 2 * 0.5 + 1 * 0.5), 1e-12);
  EXPECT_EQ(file["boundary_triangles"], 2 * 2 * (4 * 2 + 4 * 1 + 2 * 1));
  EXPECT_EQ(file["bounding_box"]["max"], (nlohmann::json{2.0, 1.0, 0.5}));
  EXPECT_EQ(file["topology"]["watertight"], true);
  EXPECT_EQ(file["topology"]["euler_characteristic"], 2);
  EXPECT_EQ(file["quality"]["inverted"], 0);
  // Kuhn's tetrahedra of a cube: 45 to 90 degrees.
  EXPECT_NEAR(file["quality"]["dihedral_degrees"]["min"].get<double>(), 45, 1e-9);
  EXPECT_NEAR(file["quality"]["dihedral_degrees"]["max"].get<double>(), 90, 1e-9);
  EXPECT_EQ(file["materials"][0]["young"], 1e6);
  EXPECT_EQ(file["materials"][0]["elements"], 48);
}

TEST_F(Inspect, TextSaysTheSame) {
  ASSERT_TRUE(save_mesh(make_hex_box({1, 1, 1}, {2, 2, 2}), path("box.msh")).ok());
  const CliRun run = supple({"inspect", "box.msh"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  for (const char* words : {"box.msh\n", "vertices      27", "bricks        8", "volume        1 m³, mass 1000 kg",
                            "watertight", "90.00° to 90.00°", "none in the file"})
    EXPECT_NE(run.out.find(words), std::string::npos) << words << "\n" << run.out;
}

TEST_F(Inspect, OpenSurface) {
  spill(path("open.obj"), "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n");
  const nlohmann::json file = supple_json({"inspect", "open.obj"})["files"][0];
  EXPECT_EQ(file["kind"], "surface");
  EXPECT_EQ(file["triangles"], 2);
  EXPECT_EQ(file["area"], 1.0);
  EXPECT_EQ(file["topology"]["watertight"], false);
  EXPECT_EQ(file["topology"]["boundary_edges"], 4);
  EXPECT_EQ(file["topology"]["holes"], 1);
}

TEST_F(Inspect, BadInputIsThree) {
  expect_refusal({"inspect", "missing.veg"}, 3, "missing.veg");
  expect_refusal({"inspect", "."}, 3, "folder");
  spill(path("garbage.msh"), std::string("\x01\x02\xff\x00garbage", 11));
  expect_refusal({"inspect", "garbage.msh"}, 3, "garbage.msh");
  spill(path("nan.off"), "OFF\n3 1 0\n0 0 0\nnan 0 0\n0 1 0\n3 0 1 2\n");
  expect_refusal({"inspect", "nan.off", "--json", "r.json"}, 3, "nan.off");
  EXPECT_FALSE(std::filesystem::exists(path("r.json")));
}

/// Meshes without area, volume or measure: numbers, or a sentence.
TEST_F(Inspect, NeverPrintsWhatIsNoNumber) {
  const auto tet = [](const std::string& size) {
    return "MeshVersionFormatted 2\nDimension 3\nVertices\n4\n0 0 0 0\n" + size + " 0 0 0\n0 " + size + " 0 0\n0 0 " +
           size + " 0\nTetrahedra\n1\n1 2 3 4 0\nEnd\n";
  };
  const auto triangle = [](const std::string& size) {
    return "v 0 0 0\nv " + size + " 0 0\nv 0 " + size + " 0\nf 1 2 3\n";
  };
  for (const std::string size : {"0", "1e-200", "1e-100", "1e40", "1e80", "1e200", "1e308"}) {
    spill(path("a.mesh"), tet(size));
    spill(path("a.obj"), triangle(size));
    for (const char* file : {"a.mesh", "a.obj"}) {
      const CliRun run = supple({"inspect", file});
      EXPECT_TRUE(run.code == 0 || run.code == 3) << run.err;
      EXPECT_EQ((run.out + run.err).find("nan"), std::string::npos) << size << run.out;
      EXPECT_EQ((run.out + run.err).find("inf"), std::string::npos) << size << run.out;
    }
  }
}

TEST_F(Inspect, SeveralFilesGoOnAfterABadOne) {
  ASSERT_TRUE(save_mesh(make_tet_box({1, 1, 1}, {1, 1, 1}), path("good.veg")).ok());
  const CliRun run = supple({"inspect", "bad.veg", "good.veg", "--json"});
  EXPECT_EQ(run.code, 3);
  EXPECT_NE(run.err.find("bad.veg"), std::string::npos);
  const nlohmann::json files = nlohmann::json::parse(run.out)["files"];
  ASSERT_EQ(files.size(), 2u);
  EXPECT_TRUE(files[0].contains("error"));
  EXPECT_EQ(files[1]["elements"], 6);
}

// Figures of the asset collection's own manifest.
TEST_F(Inspect, Assets) {
  const std::string turtle = asset("tet/vega_turtle/turtle-volumetric-heterogeneous.veg");
  const std::string elephant = asset("soup/cgal_elephant_holes/elephant-with-holes.off");
  if (turtle.empty() || elephant.empty()) GTEST_SKIP() << "no shared assets here";
  const nlohmann::json files = supple_json({"inspect", turtle, elephant})["files"];
  EXPECT_EQ(files[0]["vertices"], 347);
  EXPECT_EQ(files[0]["elements"], 1185);
  EXPECT_NEAR(files[0]["volume"].get<double>(), 45.19, 0.005);
  EXPECT_NEAR(files[0]["quality"]["dihedral_degrees"]["min"].get<double>(), 8.65, 0.005);
  EXPECT_NEAR(files[0]["quality"]["dihedral_degrees"]["max"].get<double>(), 165.59, 0.005);
  EXPECT_EQ(files[0]["materials"].size(), 2u);
  EXPECT_EQ(files[0]["regions"].size(), 2u);
  EXPECT_EQ(files[0]["boundary_triangles"], 530);
  EXPECT_EQ(files[1]["distinct_vertices"], 2733);
  EXPECT_EQ(files[1]["triangles"], 4463);
  EXPECT_EQ(files[1]["topology"]["boundary_edges"], 1353);
  EXPECT_EQ(files[1]["topology"]["holes"], 106);
}

TEST_F(Inspect, Characters) {
  const std::string robot = asset("rigged/three_robotexpressive/RobotExpressive.glb");
  if (robot.empty()) GTEST_SKIP() << "there are no shared assets";
  const nlohmann::json file = supple_json({"inspect", robot})["files"][0];
  EXPECT_EQ(file["skins"].size(), 2u);
  EXPECT_EQ(file["clips"].size(), 14u);
  EXPECT_EQ(file["clips"][0]["name"], "Dance");
  EXPECT_EQ(file["triangles"], 3237);
  EXPECT_FALSE(file["warnings"].empty());
  const CliRun run = supple({"inspect", robot});
  EXPECT_NE(run.out.find("morph targets"), std::string::npos) << run.out;
}

TEST_F(Inspect, BrokenCharactersGetOneSentence) {
  spill(path("a.glb"), "glTF\2");
  expect_refusal({"inspect", "a.glb"}, 3, "cut short");
  spill(path("a.gltf"), R"({"asset": {"version": "2.0"}, "nodes": [{"children": [0]}]})");
  expect_refusal({"inspect", "a.gltf"}, 3, "its own ancestor");
  expect_refusal({"convert", "a.gltf", "b.glb"}, 3, "its own ancestor");
  spill(path("a.fbx"), "Kaydara FBX Binary  ");
  expect_refusal({"inspect", "a.fbx"}, 3, "export glTF");
}

}  // namespace
}  // namespace supple::cli_inspect_test
