// SPDX-License-Identifier: Apache-2.0
// Ball paths: read, refused, interpolated, made up; and the numbers a run is summed up in.
#include "supple/pipeline/object/haptics.h"

#include "supple/fem/modes.h"
#include "supple/mesh/box.h"
#include "supple/offline/forces/cubic_forces.h"

#include <gtest/gtest.h>

namespace supple::haptics_test {
namespace {

TEST(BallPath, IsReadWithAndWithoutNamesAndRadius) {
  const BallPath path = parse_ball_path("time,x,y,z\n# rest\n0,1,2,3\n0.5, 4,5,6\n", "ball.csv", 0.1).value();
  ASSERT_EQ(path.samples().size(), 2u);
  EXPECT_EQ(path.samples()[1].ball.center, Vec3(4, 5, 6));
  EXPECT_EQ(path.samples()[0].ball.radius, 0.1);
  const BallPath own = parse_ball_path("0 0 0 0 0.2\n1 0 0 0 0.4\n", "ball.csv", 0.1).value();
  EXPECT_DOUBLE_EQ(own.at(0.5).radius, 0.3);
  const BallPath again = parse_ball_path(encode_ball_path(own), "again.csv", 9).value();
  EXPECT_EQ(again.samples()[1].ball.radius, 0.4);
}

TEST(BallPath, BadLinesAreRefusedWithTheirNumber) {
  const auto message = [](const char* text) {
    const Result<BallPath> path = parse_ball_path(text, "ball.csv", 0.1);
    return path.ok() ? std::string("accepted") : path.error().message;
  };
  EXPECT_NE(message("0,0,0,0\n0,0,0,1\n").find("line 2"), std::string::npos);  // time stands still
  EXPECT_NE(message("0,0,0\n").find("ball.csv"), std::string::npos);
  EXPECT_NE(message("0,0,0,nan\n").find("ball.csv"), std::string::npos);
  EXPECT_NE(message("0,0,0,0,-1\n").find("radius"), std::string::npos);
  EXPECT_NE(message("0,0,0,0,1,1\n").find("no more"), std::string::npos);
  EXPECT_NE(message("time,x,y,z\n").find("no positions"), std::string::npos);
}

TEST(BallPath, ReproducesConstantAccelerationAndIsSmooth) {
  const auto fall = [](double t) { return Vec3(1 + t, 3 - 4.9 * t * t, 2 * t); };
  std::vector<BallPathSample> samples;
  for (const double t : {0.0, 0.3, 0.4, 0.9, 1.0}) samples.push_back({.time = t, .ball = {fall(t), 0.1}});
  const BallPath path(samples);
  for (int k = 0; k <= 100; ++k) EXPECT_LT((path.at(0.01 * k).center - fall(0.01 * k)).norm(), 1e-13);
  samples[2].ball.center += Vec3(0.1, 0.2, 0.3);  // now a bend; velocity may not jump
  const BallPath bent(samples);
  for (const double t : {0.3, 0.4, 0.9}) {
    const Vec3 before = (bent.at(t).center - bent.at(t - 1e-6).center) / 1e-6;
    const Vec3 after = (bent.at(t + 1e-6).center - bent.at(t).center) / 1e-6;
    EXPECT_LT((after - before).norm(), 1e-3);
  }
  EXPECT_EQ(bent.at(-1).center, fall(0));
  EXPECT_EQ(bent.at(7).center, fall(1));
}

TEST(Latencies, AreSummedUp) {
  std::vector<double> values(10000, 10.0);
  for (std::size_t k = 0; k < 10; ++k) values[7 * k] = 2000.0;
  const LatencySummary summary = summarize_latencies(values);
  EXPECT_DOUBLE_EQ(summary.mean, 11.99);
  EXPECT_EQ(summary.p999, 10.0);  // 9990 of 10000 are not above it
  EXPECT_EQ(summary.worst, 2000.0);
  EXPECT_EQ(summary.above_millisecond, 10);
}

TEST(Haptics, AMadeUpPathPressesAndStrikesAndTheRunTellsAllSteps) {
  HexMesh mesh = make_hex_box(Vec3(1, 0.2, 0.2), {10, 2, 2});
  set_uniform_material(mesh, {"soft", 1e6, 0.3, 1000});
  std::vector<Index> fixed;
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
    if (mesh.vertices[v].x() < 1e-9 || mesh.vertices[v].x() > 1 - 1e-9) fixed.push_back(static_cast<Index>(v));
  }
  const ElasticBody body = ElasticBody::create(mesh, MaterialModel::stvk).value();
  SubspaceModel model = build_subspace_model(mesh, compute_modes(body, fixed, {.count = 6}).value().shapes).value();
  const auto tree = std::make_shared<const BoundedDeformationTree>(model.surface);
  const BallPath path = make_ball_path(*tree, 0.05);
  EXPECT_NEAR(path.end(), 60, 1e-6);
  HapticsSettings settings;
  settings.dynamics.time_step = 2e-3;
  const HapticsRun run = run_haptics(model, tree, path, settings).value();
  EXPECT_EQ(run.samples.size(), 30001u);
  EXPECT_EQ(run.recovered, 0);
  Vec3 most = Vec3::Zero();
  int free_steps = 0;
  for (const HapticsSample& sample : run.samples) {
    most = most.cwiseMax(sample.contact.force);
    free_steps += sample.contact.contacts == 0;
    EXPECT_EQ(sample.contact.contacts == 0, sample.contact.force.norm() == 0);
    EXPECT_GT(sample.latency_us, 0);
  }
  // A hand waits a millisecond at most. That is asserted of the thread's own time: on a machine with other work, the
  // clock on the wall says little about this program.
  EXPECT_LT(processor_latency(run).p999, 1000);
  EXPECT_GT(most.y(), 10);  // from above
  EXPECT_GT(most.z(), 10);  // from the side
  EXPECT_GT(free_steps, 5000);
  const std::string csv = encode_haptics_csv(run);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 30002);
}

}  // namespace
}  // namespace supple::haptics_test
