// SPDX-License-Identifier: Apache-2.0
// Objects that nothing holds on the road build → simulate: they fall, fly and turn as the full simulation of `solve`
// says, and all that is written shows them where they are in the world.
#include "run_cli.h"
#include "supple/io/motion/pc2.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace supple::cli_free_object_test {
namespace {

using nlohmann::json;

/// A soft bar of 4 kg that nothing holds; bending takes about a tenth of a second.
constexpr const char* body = R"(mesh = "box"
gravity = [0, -9.81, 0]
[box]
size = [0.4, 0.1, 0.1]
cells = [8, 2, 2]
element = "brick"
[material]
model = "stvk"
young = 2e5
poisson = 0.3
[reduce]
modes = 8
size = 24
)";

constexpr const char* tracks = R"([[track]]
name = "tail"
select = "min-x"
[[track]]
name = "middle"
select = "box:0.19,0,0,0.21,0.1,0.1"
[[track]]
name = "tip"
select = "max-x"
[output]
directory = "out"
every = 10
)";

std::string scene(const std::string& loads, double duration, const std::string& solver = "") {
  return std::string(body) + loads +
         "[solver]\nkind = \"dynamic\"\ndt = 0.002\nduration = " + std::to_string(duration) + "\n" + solver + tracks;
}

constexpr double mass = 4, gravity = 9.81;

using Point = std::array<double, 3>;

Point track(const json& run, int number) {
  return run["tracks"][static_cast<std::size_t>(number)]["displacement"].get<Point>();
}

double distance(const Point& a, const Point& b) { return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]); }

/// How far the middle is from the line between the ends: the soft part of the motion.
Point bend(const json& run) {
  Point result;
  for (std::size_t i = 0; i < 3; ++i) result[i] = track(run, 1)[i] - 0.5 * (track(run, 0)[i] + track(run, 2)[i]);
  return result;
}

double energy(const json& run, const char* kind) { return run["energy"][kind]; }

class FreeObject : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    spill(folder / "bar.toml", body);
    ASSERT_EQ(supple({"build", "bar.toml", "-o", "bar.supple"}).code, 0);
  }

  json simulate(const std::string& text, const std::vector<std::string>& more = {}) const {
    spill(folder / "run.toml", text);
    std::vector<std::string> words{"simulate", "run.toml", "--asset", "bar.supple"};
    words.insert(words.end(), more.begin(), more.end());
    return supple_json(words);
  }
  json solve(const std::string& text) const {
    spill(folder / "run.toml", text);
    return supple_json({"solve", "run.toml", "-o", "full"});
  }
};

TEST_F(FreeObject, FallsByHalfOfGravityTimesTimeSquared) {
  const json run = simulate(scene("", 1));
  for (int k = 0; k < 3; ++k) EXPECT_LT(distance(track(run, k), {0, -0.5 * gravity, 0}), 1e-9) << k;
  EXPECT_NEAR(run["peak_displacement"], 0.5 * gravity, 1e-9);
  EXPECT_NEAR(energy(run, "kinetic"), 0.5 * mass * gravity * gravity, 1e-7);
  EXPECT_NEAR(energy(run, "gravity"), -0.5 * mass * gravity * gravity, 1e-7);
  EXPECT_NEAR(energy(run, "elastic"), 0, 1e-9);
}

/// 5 N at one end while it falls: within three tenths of a second the bar turns by more than half a radian and bends.
TEST_F(FreeObject, MovesTurnsAndBendsAsTheFullBodyDoes) {
  const std::string text = scene("[[force]]\nselect = \"max-x\"\ntotal = [0, 0, 5]\n", 0.3);
  const json reduced = simulate(text), full = solve(text);
  const double turned = track(full, 2)[2] - track(full, 0)[2];
  EXPECT_GT(turned, 0.2);  // of a length of 0.4
  for (int k = 0; k < 3; ++k) EXPECT_LT(distance(track(reduced, k), track(full, k)), 0.002 * turned) << k;
  const double soft = distance(bend(full), {0, 0, 0});
  EXPECT_GT(soft, 0.002);
  EXPECT_LT(distance(bend(reduced), bend(full)), 0.05 * soft);
  for (const char* kind : {"kinetic", "gravity"})
    EXPECT_NEAR(energy(reduced, kind), energy(full, kind), 0.005 * std::abs(energy(full, kind))) << kind;
  EXPECT_GT(energy(full, "elastic"), 1e-3);
  EXPECT_NEAR(energy(reduced, "elastic"), energy(full, "elastic"), 0.1 * energy(full, "elastic"));
}

/// A pressure turns with the end that it pushes; a traction keeps its direction and ends after a tenth of a second.
TEST_F(FreeObject, PressuresAndTractionsActInTheMovedShape) {
  const std::string text = scene(
      "[[pressure]]\nselect = \"max-x\"\nvalue = 1000\n"
      "[[traction]]\nselect = \"max-x\"\nvalue = [0, 0, 800]\nend = 0.1\n",
      0.3);
  const json reduced = simulate(text), full = solve(text);
  const double turned = track(full, 2)[2] - track(full, 0)[2];
  EXPECT_GT(turned, 0.2);
  for (int k = 0; k < 3; ++k) EXPECT_LT(distance(track(reduced, k), track(full, k)), 0.02 * turned) << k;
}

/// The impulse of a window of whole steps is force times duration.
TEST_F(FreeObject, LoadsActInTheirWindow) {
  const json run = simulate(scene("[[force]]\nselect = \"all\"\ntotal = [8, 0, 0]\nstart = 0.1\nend = 0.15\n", 0.25));
  const double a = 8 / mass;
  double centre = 0;
  for (int k = 0; k < 3; ++k) centre += track(run, k)[0] / 3;
  EXPECT_NEAR(centre, 0.5 * a * 0.05 * 0.05 + a * 0.05 * 0.1, 1e-4);  // the push isn't spread as the mass is
  const json before = simulate(scene("[[force]]\nselect = \"all\"\ntotal = [8, 0, 0]\nstart = 0.1\n", 0.1));
  EXPECT_NEAR(track(before, 0)[0], 0, 1e-12);
}

TEST_F(FreeObject, DampingSlowsItAsItSlowsTheFullBody) {
  const std::string text = scene("", 0.5, "mass_damping = 3\nstiffness_damping = 0.001\n");
  const json reduced = simulate(text), full = solve(text);
  const double fallen = gravity / 9 * (3 * 0.5 + std::exp(-1.5) - 1);  // v̇ = g − α v
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(track(reduced, k)[1], -fallen, 1e-4 * fallen);
    EXPECT_NEAR(track(full, k)[1], -fallen, 1e-4 * fallen);
  }
}

TEST_F(FreeObject, FilesShowItInTheWorld) {
  const std::string text = scene("[[force]]\nselect = \"max-x\"\ntotal = [0, 0, 5]\nend = 0.1\n", 0.2);
  const json run = simulate(text, {"-o", "bar.pc2"});
  const PointCache cache = load_pc2(folder / "bar.pc2").value();
  ASSERT_EQ(cache.header.samples, 11);
  Point tip{};
  int count = 0;
  for (std::size_t v = 0; v < cache.samples[0].size(); ++v) {
    if (cache.samples[0][v].x() < 0.399) continue;
    for (std::size_t i = 0; i < 3; ++i)
      tip[i] += cache.samples.back()[v][static_cast<int>(i)] - cache.samples[0][v][static_cast<int>(i)];
    ++count;
  }
  ASSERT_EQ(count, 9);
  for (double& x : tip) x /= count;
  EXPECT_LT(distance(tip, track(run, 2)), 1e-6);
  EXPECT_LT(tip[1], -0.19);

  const json again = simulate(text);
  EXPECT_TRUE(std::filesystem::exists(folder / "out/frame_000010.vtu"));
  // The last row: time, kinetic, elastic, gravity, largest displacement, tracks.
  const std::string history = slurp(folder / "out/history.csv");
  std::istringstream last(history.substr(history.rfind('\n', history.size() - 2) + 1));
  std::vector<double> row;
  for (std::string cell; std::getline(last, cell, ',');) row.push_back(std::stod(cell));
  ASSERT_EQ(row.size(), 14u);
  EXPECT_NEAR(row[0], 0.2, 1e-9);
  EXPECT_NEAR(row[1], energy(again, "kinetic"), 1e-6);
  EXPECT_LT(distance({row[11], row[12], row[13]}, track(again, 2)), 1e-7);
}

TEST_F(FreeObject, ASavedFlightContinuesWithTheSameMotion) {
  const std::string load = "[[force]]\nselect = \"max-x\"\ntotal = [0, 0, 5]\n";
  const json whole = simulate(scene(load, 0.2), {"--save-state", "whole.state"});
  simulate(scene(load, 0.1), {"--save-state", "half.state"});
  const json second = simulate(scene(load, 0.1), {"--resume", "half.state", "--save-state", "second.state"});
  EXPECT_NEAR(second["time"], 0.2, 1e-12);
  EXPECT_EQ(slurp(folder / "second.state"), slurp(folder / "whole.state"));
  for (int k = 0; k < 3; ++k) EXPECT_EQ(track(second, k), track(whole, k));

  // A held bar doesn't take a flight over.
  spill(folder / "held.toml", std::string(body) + "[[fix]]\nselect = \"min-x\"\n[solver]\nkind = \"dynamic\"\n");
  ASSERT_EQ(supple({"build", "held.toml", "-r", "24", "-o", "held.supple"}).code, 0);
  expect_refusal({"simulate", "held.toml", "--asset", "held.supple", "--resume", "half.state"}, 3, "free object");
}

TEST_F(FreeObject, NothingHoldsIt) {
  spill(folder / "static.toml", std::string(body) + "[solver]\nkind = \"static\"\n");
  expect_refusal({"simulate", "static.toml", "--asset", "bar.supple"}, 3, "nothing holds the model");
  expect_refusal({"solve", "static.toml"}, 3, "can still move or turn as a whole");
}

TEST_F(FreeObject, ABarOnAPointIsRefused) {
  spill(folder / "point.toml", std::string(body) + "[[fix]]\nselect = \"vertices:0\"\n[solver]\nkind = \"dynamic\"\n");
  ASSERT_EQ(supple({"build", "point.toml", "-o", "point.supple"}).code, 0);
  expect_refusal({"simulate", "point.toml", "--asset", "point.supple"}, 3, "3 ways to turn");
}

TEST_F(FreeObject, AnotherIntegratorIsNotUsedAndThatIsSaid) {
  const json run = simulate(scene("", 0.1, "integrator = \"backward_euler\"\n"));
  EXPECT_NE(run.dump().find("integrator of its own"), std::string::npos) << run.dump();
  EXPECT_NEAR(track(run, 0)[1], -0.005 * gravity, 1e-9);
}

}  // namespace
}  // namespace supple::cli_free_object_test
