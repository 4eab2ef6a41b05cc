// SPDX-License-Identifier: Apache-2.0
#include "cli/run_cli.h"
#include "supple/io/mesh/mesh_file.h"
#include "supple/mesh/box.h"
#include "supple/mesh/quality.h"
#include "supple/mesh/topology.h"

namespace supple::cli_mesh_test {
namespace {

class MeshCommand : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    ASSERT_TRUE(save_mesh(boundary_surface(make_tet_box({1, 2, 3}, {1, 1, 1})).surface, path("box.obj")).ok());
  }
};

TEST_F(MeshCommand, FillsABox) {
  const nlohmann::json result = supple_json({"mesh", "box.obj", "-o", "box.veg", "--tets", "3000"});
  EXPECT_NEAR(result["elements"].get<double>(), 3000, 450);
  EXPECT_NEAR(result["volume"].get<double>(), 6, 0.15);
  EXPECT_GE(result["min_dihedral"].get<double>(), 10);
  EXPECT_EQ(result["pieces"], 1);
  const Result<LoadedMesh> loaded = load_mesh(path("box.veg"));
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  const auto& mesh = std::get<TetMesh>(loaded->mesh);
  EXPECT_EQ(mesh.elements.size(), result["elements"].get<std::size_t>());
  EXPECT_EQ(quality(mesh).inverted, 0);
  EXPECT_TRUE(surface_topology(boundary_surface(mesh).surface).watertight());
}

TEST_F(MeshCommand, SaysWhatItDid) {
  const CliRun run = supple({"mesh", "box.obj", "-o", "box.msh", "--tets", "1000"});
  EXPECT_EQ(run.code, 0) << run.err;
  for (const std::string word : {"tetrahedra", "dihedral", "spacing", "skin to input", "input to skin"})
    EXPECT_NE(run.out.find(word), std::string::npos) << word;
}

TEST_F(MeshCommand, NonsenseIsRefusedAndLeavesNothing) {
  spill(path("flat.obj"), "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n");
  ASSERT_TRUE(save_mesh(make_tet_box({1, 1, 1}, {1, 1, 1}), path("solid.veg")).ok());
  const std::vector<std::string> before = files();
  expect_refusal({"mesh", "flat.obj", "-o", "a.veg"}, 3, "flat");
  expect_refusal({"mesh", "missing.obj", "-o", "a.veg"}, 3, "missing.obj");
  expect_refusal({"mesh", "box.obj", "-o", "a.obj"}, 2, "a.obj");
  expect_refusal({"mesh", "solid.veg", "-o", "a.veg"}, 2, "solid");
  expect_refusal({"mesh", "box.obj", "-o", "a.veg", "--tets", "3"}, 2, "3 tetrahedra");
  expect_refusal({"mesh", "box.obj", "-o", "a.veg", "--tets", "-5"}, 2, "--tets");
  EXPECT_EQ(files(), before);
}

}  // namespace
}  // namespace supple::cli_mesh_test
