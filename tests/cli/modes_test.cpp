// SPDX-License-Identifier: Apache-2.0
#include "cli/run_cli.h"
#include "supple/io/mesh/mesh_file.h"
#include "supple/mesh/box.h"

#include <cmath>
#include <numbers>

namespace supple::cli_modes_test {
namespace {

using ModesCommand = CliTest;

// Euler and Bernoulli: f = λ² / (2π L²) √(E I / ρ A), λ = 1.8751 for the first mode of a cantilever; I/A = h²/12.
TEST_F(ModesCommand, CantileverSwingsAsBeamTheorySays) {
  ASSERT_TRUE(save_mesh(make_hex_box({1, 0.08, 0.08}, {64, 6, 6}), path("beam.veg")).ok());
  const nlohmann::json result = supple_json({"modes", "beam.veg", "--fix", "min-x", "--modes", "3", "--young", "2e11",
                                             "--poisson", "0.3", "--density", "7850"});
  const double lambda = 1.87510406871;
  const double theory = lambda * lambda / (2 * std::numbers::pi) * std::sqrt(2e11 / 7850 * 0.08 * 0.08 / 12);
  ASSERT_EQ(result["modes"].size(), 3u);
  EXPECT_EQ(result["rigid_modes"], 0);
  EXPECT_EQ(result["fixed_vertices"], 49);
  EXPECT_NEAR(result["mass"].get<double>(), 7850 * 0.08 * 0.08, 1e-6);
  EXPECT_NEAR(result["modes"][0]["frequency_hz"].get<double>() / theory, 1, 0.02);
  EXPECT_NEAR(result["modes"][1]["frequency_hz"].get<double>() / theory, 1, 0.02);  // the other bending plane
  for (const auto& mode : result["modes"]) EXPECT_LT(mode["residual"].get<double>(), 1e-6);
}

TEST_F(ModesCommand, AFreeBodyHasSixRigidModes) {
  ASSERT_TRUE(save_mesh(make_tet_box({1, 0.5, 0.3}, {6, 3, 2}), path("box.veg")).ok());
  const CliRun run = supple({"modes", "box.veg", "--modes", "4"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("rigid modes   6"), std::string::npos) << run.out;
  EXPECT_EQ(run.err, "");  // no bar in a pipe
  EXPECT_EQ(run.out.find('\r'), std::string::npos);
  EXPECT_EQ(run.out.find('\x1b'), std::string::npos);
  const nlohmann::json result = supple_json({"modes", "box.veg", "--modes", "4"});
  EXPECT_EQ(result["rigid_modes"], 6);
  EXPECT_GT(result["modes"][0]["frequency_hz"].get<double>(), 1.0);
}

TEST_F(ModesCommand, TheSameNumbersForAnyThreadCount) {
  ASSERT_TRUE(save_mesh(make_tet_box({1, 0.3, 0.3}, {12, 4, 4}), path("box.veg")).ok());
  const nlohmann::json one = supple_json({"modes", "box.veg", "--fix", "x<0.01", "--threads", "1"});
  const nlohmann::json two = supple_json({"modes", "box.veg", "--fix", "x<0.01", "--threads", "2"});
  EXPECT_EQ(one, two);
  EXPECT_EQ(one["modes"].size(), 20u);
}

TEST_F(ModesCommand, SelectionsAddUp) {
  ASSERT_TRUE(save_mesh(make_tet_box({4, 1, 1}, {4, 1, 1}), path("box.veg")).ok());
  spill(path("list.bou"), "1, 2,\n");
  const CliRun run = supple({"modes", "box.veg", "-n", "2", "--fix", "max-x", "--fix", "list.bou", "--fix",
                             "box:-1,-1,-1,0.5,2,2", "--fix", "sphere:0,0,0,0.1", "--fix", "vertices:0,1"});
  EXPECT_EQ(run.code, 0) << run.err;
  for (const char* words : {"4 vertices by max-x", "2 vertices by list.bou",
                            "4 vertices by box:", "1 vertex by sphere:", "2 vertices by vertices:0,1"})
    EXPECT_NE(run.out.find(words), std::string::npos) << words << "\n" << run.out;
}

TEST_F(ModesCommand, VtuHoldsTheShapes) {
  ASSERT_TRUE(save_mesh(make_tet_box({1, 0.3, 0.3}, {4, 2, 2}), path("box.veg")).ok());
  ASSERT_EQ(supple({"modes", "box.veg", "--fix", "min-x", "-n", "3", "--vtu", "modes.vtu"}).code, 0);
  const std::string vtu = slurp(path("modes.vtu"));
  EXPECT_NE(vtu.find("mode 001"), std::string::npos);
  EXPECT_NE(vtu.find("mode 003"), std::string::npos);
}

TEST_F(ModesCommand, BadInputIsThreeAndLeavesNothing) {
  ASSERT_TRUE(save_mesh(make_tet_box({1, 0.3, 0.3}, {2, 1, 1}), path("box.veg")).ok());
  spill(path("face.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  const std::vector<std::string> before = files();
  expect_refusal({"modes", "box.veg", "--fix", "x>5", "--vtu", "a.vtu"}, 3, "(0, 0, 0) and (1, 0.3, 0.3)");
  expect_refusal({"modes", "box.veg", "--fix", "nonsense"}, 3, "nonsense");
  expect_refusal({"modes", "box.veg", "--fix", "vertices:99"}, 3, "99");
  expect_refusal({"modes", "box.veg", "--modes", "1000"}, 3, "box.veg");
  expect_refusal({"modes", "box.veg", "--poisson", "0.5"}, 2, "0.5");
  expect_refusal({"modes", "box.veg", "--young", "-1"}, 2, "--young");
  expect_refusal({"modes", "face.obj"}, 3, "surface");
  expect_refusal({"modes", "missing.veg"}, 3, "missing.veg");
  expect_refusal({"modes", "box.veg", "-n", "2", "--vtu", "no/a.vtu", "--json", "r.json"}, 3, "no");
  EXPECT_EQ(files(), before);
}

TEST_F(ModesCommand, Assets) {
  const std::string beam = asset("tet/vega_beam3/beam3_tet.veg");
  const std::string fixed = asset("tet/vega_beam3/beam3.bou");
  if (beam.empty() || fixed.empty()) GTEST_SKIP() << "no shared assets here";
  const nlohmann::json result = supple_json({"modes", beam, "--fix", fixed, "-n", "5"});
  EXPECT_EQ(result["vertices"], 208);
  EXPECT_EQ(result["rigid_modes"], 0);
  EXPECT_EQ(result["modes"].size(), 5u);
}

}  // namespace
}  // namespace supple::cli_modes_test
