// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/object/solve_scene.h"

#include "supple/io/mesh/mesh_file.h"
#include "supple/mesh/box.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace supple::solve_scene_test {
namespace {

/// A bar of two halves in series under a pull of 10 N, with Poisson's ratio 0.
Scene two_halves(const std::filesystem::path& mesh) {
  Scene scene;
  scene.name = "halves";
  scene.mesh = mesh;
  scene.model = MaterialModel::linear;
  scene.material.young = 1000;
  scene.material.poisson = 0;
  scene.fixed = {"min-x"};
  scene.tractions.push_back({"max-x", Vec3(10, 0, 0), {}});
  scene.tracks = {{"middle", "vertices:1"}, {"tip", "max-x"}};
  return scene;
}

TEST(SolveScene, RegionsChangeTheirElementsOnly) {
  HexMesh mesh = make_hex_box({2, 1, 1}, {2, 1, 1});
  mesh.sets = {{"near", {0}}, {"far", {1}}};
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("supple_halves_" + std::to_string(::getpid()) + ".veg");
  ASSERT_TRUE(save_mesh(mesh, path).ok());
  Scene scene = two_halves(path);
  scene.regions = {
      {.set = "far", .select = {}, .surface = {}, .material = {.young = 500, .poisson = {}, .density = {}}}};
  const Result<SceneSummary> summary = solve_scene(scene);
  ASSERT_TRUE(summary.ok()) << summary.error().message;
  EXPECT_NEAR(summary->tracks[0].displacement.x(), 0.01, 1e-10);         // σ/E · 1 m
  EXPECT_NEAR(summary->tracks[1].displacement.x(), 0.01 + 0.02, 1e-10);  // and half as stiff behind it
  scene.regions[0].set = "fra";
  const Result<SceneSummary> unknown = solve_scene(scene);
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message.find("did you mean \"far\"?"), std::string::npos) << unknown.error().message;
  std::filesystem::remove(path);
}

class CancelAtOnce : public Progress {
 public:
  void stage(std::string_view) override {}
  void update(double) override {}
  bool cancelled() const override { return true; }
};

TEST(SolveScene, CancellingLeavesNothing) {
  Scene scene;
  scene.name = "cancelled";
  scene.box.cells = {2, 1, 1};
  scene.fixed = {"min-x"};
  scene.gravity = Vec3(0, -10, 0);
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("supple_cancelled_" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  scene.output.directory = folder / "out";
  CancelAtOnce cancel;
  for (const bool dynamic : {false, true}) {
    scene.dynamic = dynamic;
    EXPECT_FALSE(solve_scene(scene, cancel).ok());
    EXPECT_TRUE(std::filesystem::is_empty(folder));
    EXPECT_TRUE(solve_scene(scene).ok());
    EXPECT_TRUE(std::filesystem::exists(folder / "out" / "final.vtu"));
    std::filesystem::remove_all(folder / "out");
  }
  std::filesystem::remove_all(folder);
}

// Undamped trapezoidal Newmark keeps the total energy of a linear body.
TEST(SolveScene, EnergiesAddUp) {
  Scene scene;
  scene.name = "energy";
  scene.model = MaterialModel::linear;
  scene.box.cells = {8, 1, 1};
  scene.material.young = 1e6;
  scene.fixed = {"min-x"};
  scene.gravity = Vec3(0, -10, 0);
  scene.dynamic = true;
  scene.duration = 0.37;
  scene.dynamics.time_step = 0.01;
  const Result<SceneSummary> summary = solve_scene(scene);
  ASSERT_TRUE(summary.ok()) << summary.error().message;
  EXPECT_GT(summary->elastic_energy, 0);
  EXPECT_NEAR(summary->kinetic_energy + summary->elastic_energy + summary->gravity_energy, 0,
              1e-7 * summary->elastic_energy);
}

}  // namespace
}  // namespace supple::solve_scene_test
