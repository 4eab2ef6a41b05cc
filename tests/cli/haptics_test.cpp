// SPDX-License-Identifier: Apache-2.0
#include "cli/run_cli.h"

#include "supple/asset/subspace_archive.h"
#include "supple/fem/modes.h"
#include "supple/mesh/box.h"
#include "supple/offline/forces/cubic_forces.h"

namespace supple::cli_haptics_test {
namespace {

class Haptics : public CliTest {
 protected:
  /// A soft beam from x = 0 to 0.4, its top at y = 0.1, held at x = 0 unless it is to fly.
  void write_beam(const std::string& name, bool anchored = true) const {
    TetMesh mesh = make_tet_box(Vec3(0.4, 0.1, 0.1), {4, 1, 1});
    set_uniform_material(mesh, {"soft", 1e5, 0.3, 1000});
    std::vector<Index> fixed;
    for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
      if (mesh.vertices[v].x() < 1e-9) fixed.push_back(static_cast<Index>(v));
    }
    const ElasticBody body = ElasticBody::create(mesh, MaterialModel::stvk).value();
    SubspaceModel model = build_subspace_model(mesh, compute_modes(body, fixed, {.count = 5}).value().shapes).value();
    if (anchored) model.fixed_vertices = fixed;
    spill(path(name), encode_subspace_model(model));
  }
};

TEST_F(Haptics, PlaysARecordedPath) {
  write_beam("beam.supple");
  spill(path("ball.csv"), "time,x,y,z\n0,0.35,0.16,0.05\n0.5,0.35,0.14,0.05\n1,0.35,0.14,0.05\n");
  const nlohmann::json result =
      supple_json({"haptics", "beam.supple", "--path", "ball.csv", "--radius", "0.05", "-o", "out"});
  EXPECT_EQ(result["steps"], 1001);
  EXPECT_GT(result["steps_in_contact"], 300);
  EXPECT_GT(result["largest_force"], 0.1);
  EXPECT_EQ(result["undone_steps"], 0);
  EXPECT_GE(result["latency"]["worst_us"], result["latency"]["p999_us"]);
  EXPECT_GT(result["processor"]["mean_us"], 0);
  const std::string csv = slurp(path("out/force.csv"));
  EXPECT_EQ(csv.rfind("time,hand_x,", 0), 0u);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1002);
  EXPECT_NE(slurp(path("out/haptics.svg")).find("<svg"), std::string::npos);
  EXPECT_NE(slurp(path("out/haptics.svg")).find("wall clock"), std::string::npos);
  EXPECT_EQ(files(), (std::vector<std::string>{"ball.csv", "beam.supple", "out", "out/force.csv", "out/haptics.svg"}));
}

TEST_F(Haptics, TheSameRunGivesTheSameForces) {
  write_beam("beam.supple");
  spill(path("ball.csv"), "0,0.35,0.149,0.05\n0.2,0.3,0.14,0.05\n");
  const auto forces = [&](const std::string& folder) {
    const CliRun run = supple({"haptics", "beam.supple", "--path", "ball.csv", "--radius", "0.05", "-o", folder, "-q"});
    EXPECT_EQ(run.code, 0) << run.err;
    std::string kept, line;
    std::istringstream csv(slurp(path(folder + "/force.csv")));
    while (std::getline(csv, line)) kept += line.substr(0, line.rfind(',', line.rfind(',') - 1)) + "\n";
    return kept;
  };
  EXPECT_EQ(forces("a"), forces("b"));
}

TEST_F(Haptics, RealTimeKeepsToTheClock) {
  write_beam("beam.supple");
  spill(path("ball.csv"), "0,0.35,0.16,0.05\n0.3,0.35,0.15,0.05\n");
  const auto start = std::chrono::steady_clock::now();
  const nlohmann::json result =
      supple_json({"haptics", "beam.supple", "--path", "ball.csv", "--radius", "0.05", "-o", "out", "--real-time"});
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(300));
  EXPECT_EQ(result["steps"], 301);
}

TEST_F(Haptics, BadInputIsRefused) {
  write_beam("beam.supple");
  write_beam("flying.supple", false);
  spill(path("ball.csv"), "0,0,0,0\n0,0,0,0\n");
  expect_refusal({"haptics", "nothing.supple"}, 3, "nothing.supple");
  expect_refusal({"haptics", "ball.csv"}, 3, "ball.csv");
  expect_refusal({"haptics", "flying.supple"}, 3, "fixed");
  expect_refusal({"haptics", "beam.supple", "--path", "ball.csv"}, 3, "line 2");
  expect_refusal({"haptics", "beam.supple", "--path", "missing.csv"}, 3, "missing.csv");
  expect_refusal({"haptics", "beam.supple", "--radius", "-1"}, 2, "radius");
  EXPECT_EQ(files(), (std::vector<std::string>{"ball.csv", "beam.supple", "flying.supple"}));
}

}  // namespace
}  // namespace supple::cli_haptics_test
