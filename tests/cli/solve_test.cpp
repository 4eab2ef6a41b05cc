// SPDX-License-Identifier: Apache-2.0
#include "cli/run_cli.h"
#include "supple/io/mesh/mesh_file.h"
#include "supple/mesh/box.h"

#include <thread>

namespace supple::cli_solve_test {
namespace {

using Solve = CliTest;

const std::string stretched_bar = R"(
mesh = "box"
[box]
size = [2, 1, 1]
cells = [4, 2, 2]
element = "brick"
[material]
model = "linear"
young = 1000
poisson = 0
[[fix]]
select = "min-x"
[[traction]]
select = "max-x"
value = [10, 0, 0]
[solver]
kind = "static"
[[track]]
name = "tip"
select = "max-x"
[output]
directory = "out"
)";

std::string with(std::string scene, const std::string& what, const std::string& instead) {
  return scene.replace(scene.find(what), what.size(), instead);
}

// Uniform strain: σ / E · L = 10 / 1000 · 2 m; the wall pulls back with σ A = 10 N; energy ½ · 10 N · 0.02 m.
TEST_F(Solve, AStretchedBarIsTheTextbookBar) {
  spill(path("bar.toml"), stretched_bar);
  const nlohmann::json result = supple_json({"solve", "bar.toml"});
  EXPECT_EQ(result["kind"], "static");
  EXPECT_EQ(result["fixed_vertices"], 9);
  EXPECT_NEAR(result["tracks"][0]["displacement"][0].get<double>(), 0.02, 1e-9);
  EXPECT_NEAR(result["tracks"][0]["displacement"][1].get<double>(), 0, 1e-9);
  EXPECT_NEAR(result["peak_displacement"].get<double>(), 0.02, 1e-9);
  EXPECT_NEAR(result["reaction"][0].get<double>(), -10, 1e-7);
  EXPECT_NEAR(result["energy"]["elastic"].get<double>(), 0.1, 1e-8);
  EXPECT_EQ(files(), (std::vector<std::string>{"bar.toml", "out", "out/final.vtu", "out/history.csv"}));
}

// A pressure inside nothing: on the end of a bar it compresses as the traction does, to first order.
TEST_F(Solve, PressurePushesInward) {
  spill(path("bar.toml"), with(with(stretched_bar, "[[traction]]", "[[pressure]]"), "[10, 0, 0]", "10"));
  const nlohmann::json result = supple_json({"solve", "bar.toml"});
  EXPECT_NEAR(result["tracks"][0]["displacement"][0].get<double>(), -0.02, 1e-8);
}

// Nothing holds it, nothing resists: after n steps of trapezoidal Newmark, u = ½ g t² exactly.
TEST_F(Solve, FreeFall) {
  spill(path("fall.toml"), R"(
mesh = "box"
gravity = [0, -10, 0]
[box]
size = [1, 1, 1]
cells = [2, 2, 2]
[solver]
kind = "dynamic"
dt = 0.01
duration = 0.5
[[track]]
name = "all"
select = "all"
[output]
directory = "out"
every = 10
)");
  const nlohmann::json result = supple_json({"solve", "fall.toml"});
  EXPECT_EQ(result["steps"], 50);
  EXPECT_EQ(result["converged"], true);
  EXPECT_NEAR(result["tracks"][0]["displacement"][1].get<double>(), -1.25, 1e-9);
  EXPECT_NEAR(result["energy"]["kinetic"].get<double>(), 0.5 * 1000 * 25, 1e-5);
  EXPECT_NEAR(result["energy"]["gravity"].get<double>(), -12500, 1e-5);
  const std::string history = slurp(path("out/history.csv"));
  EXPECT_EQ(std::count(history.begin(), history.end(), '\n'), 52);  // heading, start, 50 steps
  EXPECT_NE(history.find("all_x_m,all_y_m,all_z_m\n"), std::string::npos);
  const std::string series = slurp(path("out/series.pvd"));
  EXPECT_NE(series.find("frame_000005.vtu"), std::string::npos);
  EXPECT_EQ(series.find("frame_000006.vtu"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(path("out/frame_000005.vtu")));
}

// A force of 6 N on 1000 kg for 0.1 s leaves a velocity of 0.0006 m/s.
TEST_F(Solve, AForceActsInItsWindowOnly) {
  spill(path("push.toml"), R"(
mesh = "box"
[box]
size = [1, 1, 1]
cells = [1, 1, 1]
[[force]]
select = "all"
total = [6, 0, 0]
start = 0.205
end = 0.305
[solver]
kind = "dynamic"
integrator = "backward_euler"
dt = 0.01
duration = 0.5
)");
  const nlohmann::json result = supple_json({"solve", "push.toml"});
  const double speed = std::sqrt(2 * result["energy"]["kinetic"].get<double>() / 1000);
  EXPECT_NEAR(speed, 6.0 * 0.1 / 1000, 2e-6);
  EXPECT_EQ(result["files"].size(), 0u);
}

TEST_F(Solve, AMeshWithOptions) {
  ASSERT_TRUE(save_mesh(make_tet_box({1, 0.2, 0.2}, {6, 2, 2}), path("beam.veg")).ok());
  const nlohmann::json hanging =
      supple_json({"solve", "beam.veg", "--fix", "min-x", "--static", "--young", "1e6", "-o", "hang"});
  EXPECT_NEAR(hanging["reaction"][1].get<double>(), 40 * 9.81, 1e-3);
  EXPECT_TRUE(std::filesystem::exists(path("hang/final.vtu")));
  const nlohmann::json swinging = supple_json({"solve", "beam.veg", "--fix", "min-x", "--duration", "0.2", "--dt",
                                               "0.02", "--gravity", "0,0,-5", "--young", "1e6"});
  EXPECT_EQ(swinging["steps"], 10);
  EXPECT_EQ(swinging["gravity"], (nlohmann::json{0.0, 0.0, -5.0}));
  expect_refusal({"solve", "beam.veg", "--gravity", "down"}, 2, "--gravity");
  spill(path("bar.toml"), stretched_bar);
  expect_refusal({"solve", "bar.toml", "--static"}, 2, "--static");
}

TEST_F(Solve, TheSameNumbersForAnyThreadCount) {
  ASSERT_TRUE(save_mesh(make_tet_box({1, 0.3, 0.3}, {10, 3, 3}), path("beam.veg")).ok());
  const std::vector<std::string> base = {"solve", "beam.veg", "--fix", "min-x", "--duration", "0.1", "--threads"};
  std::vector<nlohmann::json> results;
  for (const char* threads : {"1", "2"}) {
    std::vector<std::string> arguments = base;
    arguments.emplace_back(threads);
    results.push_back(supple_json(arguments));
    results.back().erase("timing");
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST_F(Solve, FaultsInTheSceneNameLineAndWayOut) {
  const auto bar = [](const std::string& what, const std::string& instead) {
    return with(stretched_bar, what, instead);
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {bar("young = 1000", "yuong = 1000"), "line 9: [material] has no key \"yuong\"; did you mean \"young\"?"},
      {bar("kind = \"static\"", "kind = \"statics\""), "static, dynamic"},
      {bar("value = [10, 0, 0]", "value = [10, 0]"), "three finite numbers"},
      {bar("young = 1000", "young = -1"), "positive"},
      {bar("poisson = 0", "poisson = 0.5"), "less than 0.5"},
      {bar("select = \"max-x\"", "select = \"x>7\""), "(0, 0, 0) and (2, 1, 1)"},
      {bar("select = \"max-x\"", "select = \"vertices:0\""), "no boundary face"},
      {bar("kind = \"static\"", "kind = \"static\"\ndt = 0.1"), "kind = \"dynamic\""},
      {bar("mesh = \"box\"", "mesh = \"none.veg\""), "[box]"},
      {bar("[[fix]]\nselect = \"min-x\"", ""), "fix at least three"},
      {bar("[solver]", "[solver"), "line 16"},
      {"", "mesh"},
      {"mesh = \"none.veg\"\n[solver]\nkind = \"static\"\n", "none.veg"},
  };
  for (const auto& [scene, words] : cases) {
    spill(path("bad.toml"), scene);
    expect_refusal({"solve", "bad.toml"}, 3, words);
    EXPECT_EQ(files(), std::vector<std::string>{"bad.toml"}) << words;
  }
  expect_refusal({"solve", "missing.toml"}, 3, "missing.toml");
}

TEST_F(Solve, WhatCannotBeSolvedIsToldAndLeavesNothing) {
  // One Newton iteration per load step isn't enough to crush a body.
  std::string scene = with(stretched_bar, "model = \"linear\"", "model = \"neo_hookean\"");
  scene = with(scene, "[10, 0, 0]", "[-1e9, 0, 0]");
  scene = with(scene, "kind = \"static\"", "kind = \"static\"\nnewton_iterations = 1");
  spill(path("crushed.toml"), scene);
  expect_refusal({"solve", "crushed.toml"}, 3, "crushed.toml: no equilibrium");
  EXPECT_NE(supple({"solve", "crushed.toml"}).err.find("stable_neo_hookean"), std::string::npos);
  EXPECT_EQ(files(), std::vector<std::string>{"crushed.toml"});
  // Who has that material already isn't told to take it.
  spill(path("crushed.toml"), with(scene, "neo_hookean", "stable_neo_hookean"));
  expect_refusal({"solve", "crushed.toml"}, 3, "crushed.toml: no equilibrium");
  EXPECT_EQ(supple({"solve", "crushed.toml"}).err.find("stable_neo_hookean"), std::string::npos);
  spill(path("file"), "in the way");
  spill(path("bar.toml"), stretched_bar);
  expect_refusal({"solve", "bar.toml", "-o", "file"}, 3, "folder");
  EXPECT_EQ(slurp(path("file")), "in the way");
}

TEST_F(Solve, InterruptEndsCleanly) {
  spill(path("long.toml"), R"(
mesh = "box"
gravity = [0, -10, 0]
[solver]
kind = "dynamic"
dt = 1e-4
duration = 1000
[output]
directory = "out"
every = 1000
)");
  const pid_t child = start({"solve", "long.toml"});
  // Its hidden folder tells that the work has begun.
  for (int k = 0; k < 400 && files().size() < 2; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(25));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  ::kill(child, SIGINT);
  const CliRun run = finish(child);
  EXPECT_EQ(run.code, 130);
  EXPECT_EQ(run.out, "");
  EXPECT_NE(run.err.find("stopped"), std::string::npos) << run.err;
  EXPECT_EQ(files(), std::vector<std::string>{"long.toml"});
}

TEST_F(Solve, TheExampleRuns) {
  const std::string example = std::string(SUPPLE_SOURCE_DIR) + "/examples/cantilever.toml";
  const nlohmann::json result = supple_json({"solve", example, "-o", "out"});
  EXPECT_EQ(result["steps"], 100);
  EXPECT_EQ(result["converged"], true);
  EXPECT_TRUE(std::filesystem::exists(path("out/series.pvd")));
  EXPECT_LT(result["tracks"][0]["displacement"][1].get<double>(), -0.01);  // it hangs down
}

TEST_F(Solve, Assets) {
  const std::string turtle = asset("tet/vega_turtle/turtle-volumetric-heterogeneous.veg");
  const std::string fixed = asset("tet/vega_turtle/turtle-volumetric.bou");
  if (turtle.empty() || fixed.empty()) GTEST_SKIP() << "no shared assets here";
  const nlohmann::json result = supple_json({"solve", turtle, "--fix", fixed, "--duration", "0.1", "--dt", "0.02"});
  EXPECT_EQ(result["elements"], 1185);
  EXPECT_EQ(result["steps"], 5);
  EXPECT_GT(result["peak_displacement"].get<double>(), 0);
}

}  // namespace
}  // namespace supple::cli_solve_test
