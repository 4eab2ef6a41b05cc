// SPDX-License-Identifier: Apache-2.0
// build, inspect and simulate on a scene of domains, and what they say to bad ones.
#include "run_cli.h"
#include "supple/base/types.h"
#include "supple/io/motion/pc2.h"

#include <fmt/format.h>

#include <algorithm>

namespace supple::cli_domains_test {
namespace {

constexpr const char* stalk = R"(mesh = "box"
gravity = [0, -9.81, 0]
[box]
size = [0.3, 0.03, 0.03]
cells = [12, 1, 1]
[material]
young = 3e6
poisson = 0.4
density = 600
[domains]
size = 5
[[domain]]
name = "stem"
select = "all"
[[domain]]
name = "middle"
select = "x>0.1"
[[domain]]
name = "tip"
select = "x>0.2"
size = 0
[[fix]]
select = "min-x"
[wind]
velocity = [0, 0, 5]
[[track]]
name = "tip"
select = "max-x"
[solver]
kind = "dynamic"
dt = 0.004
duration = 0.4
stiffness_damping = 0.002
[output]
directory = "out"
every = 10
)";

class DomainsCli : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    spill(folder / "stalk.toml", stalk);
  }
  /// The scene with one text in place of another.
  void spill_changed(const std::string& from, const std::string& to) const {
    std::string text = stalk;
    text.replace(text.find(from), from.size(), to);
    spill(folder / "bad.toml", text);
  }
};

TEST_F(DomainsCli, BuildsInspectsAndSimulates) {
  const auto done = [&](const std::vector<std::string>& words) {
    CliRun run = supple(words);
    EXPECT_EQ(run.code, 0) << run.err;
    return run.out;
  };
  done({"build", "stalk.toml", "-o", "stalk.supple", "--json=built.json"});
  const auto facts = nlohmann::json::parse(slurp(folder / "built.json"));
  EXPECT_EQ(facts["domains"], 3);
  EXPECT_EQ(facts["coordinates"], 10);
  const std::string seen = done({"inspect", "stalk.supple"});
  EXPECT_NE(seen.find("an object made of many parts"), std::string::npos);
  EXPECT_NE(seen.find("tip: once"), std::string::npos);
  done({"simulate", "stalk.toml", "--asset", "stalk.supple", "--json=run.json"});
  EXPECT_TRUE(std::filesystem::exists(folder / "out" / "history.csv"));
  EXPECT_GT(nlohmann::json::parse(slurp(folder / "run.json"))["largest_motion_m"], 0.001);
  done({"simulate", "stalk.toml", "--asset", "stalk.supple", "-o", "stalk.pc2"});
  EXPECT_TRUE(std::filesystem::exists(folder / "stalk.obj"));
  EXPECT_TRUE(std::filesystem::exists(folder / "stalk.pc2"));
}

TEST_F(DomainsCli, IterationsReachTheSteps) {
  ASSERT_EQ(supple({"build", "stalk.toml", "-o", "stalk.supple"}).code, 0);
  std::vector<double> moved;
  for (const char* iterations : {"1", "2", "6"}) {
    spill_changed("size = 5", std::string("size = 5\niterations = ") + iterations);
    const CliRun run = supple({"simulate", "bad.toml", "--asset", "stalk.supple", "--json=run.json"});
    ASSERT_EQ(run.code, 0) << run.err;
    moved.push_back(nlohmann::json::parse(slurp(folder / "run.json"))["largest_motion_m"]);
  }
  // Newton's method: what a second iteration leaves is much less than what the first did.
  EXPECT_NE(moved[0], moved[2]);
  EXPECT_LT(std::abs(moved[1] - moved[2]), 0.5 * std::abs(moved[0] - moved[2]));
}

/// Builds and simulates the scene with one text in place of another; what both tell.
struct Told {
  nlohmann::json built, run;
};

TEST_F(DomainsCli, KeysReachWhatIsBuiltAndHowItMoves) {
  const auto with = [&](const std::string& from, const std::string& to) {
    spill_changed(from, to);
    CliRun run = supple({"build", "bad.toml", "-o", "bad.supple", "--force", "--json=built.json"});
    EXPECT_EQ(run.code, 0) << run.err;
    run = supple({"simulate", "bad.toml", "--asset", "bad.supple", "--json=run.json", "--force"});
    EXPECT_EQ(run.code, 0) << run.err;
    return Told{nlohmann::json::parse(slurp(folder / "built.json")), nlohmann::json::parse(slurp(folder / "run.json"))};
  };
  const Told plain = with("size = 5", "size = 5");
  const double far = plain.run["largest_motion_m"];
  // The rigid tip swings down on a hinge.
  const Told hinge = with("size = 0", "size = 0\njoint = \"hinge\"\naxis = [0, 0, 1]\njoint_stiffness = 0.05");
  EXPECT_EQ(hinge.built["domains"], 4);
  EXPECT_EQ(hinge.built["coordinates"], 11);
  EXPECT_GT(hinge.run["largest_motion_m"], 1.5 * far);
  const Told total = with("size = 5", "size = 5\ncoordinates = 16");
  EXPECT_EQ(total.built["coordinates"], 16);  // eight for each that isn't rigid
  const Told flesh = with("name = \"middle\"", "name = \"middle\"\nmodel = \"flesh\"");
  EXPECT_EQ(flesh.built["parts"][0]["points"], 0);
  EXPECT_GT(flesh.built["parts"][1]["points"], 0);
  EXPECT_NE(flesh.run["largest_motion_m"], far);
  const Told smooth = with("size = 5", "size = 5\nsmooth = 0.05");
  EXPECT_NEAR(smooth.run["largest_motion_m"], far, 0.05 * far);
  EXPECT_GT(smooth.built["bytes"], plain.built["bytes"]);
}

/// Twelve triangles around a box, as lines of an OBJ file with vertices from `first` on.
std::string obj_box(const Vec3& low, const Vec3& high, int first) {
  std::string text;
  for (int k = 0; k < 8; ++k)
    text += fmt::format("v {} {} {}\n", (k & 1) != 0 ? high.x() : low.x(), (k & 2) != 0 ? high.y() : low.y(),
                        (k & 4) != 0 ? high.z() : low.z());
  for (const auto& f : {std::array{0, 2, 3, 1}, std::array{4, 5, 7, 6}, std::array{0, 1, 5, 4}, std::array{2, 6, 7, 3},
                        std::array{0, 4, 6, 2}, std::array{1, 3, 7, 5}})
    text += fmt::format("f {} {} {} {}\n", first + f[0], first + f[1], first + f[2], first + f[3]);
  return text;
}

TEST_F(DomainsCli, FindsNecksAndForksAndMergesLoops) {
  spill(folder / "dumbbell.obj", obj_box(Vec3(0, 0, 0), Vec3(0.5, 0.5, 0.5), 1) +
                                     obj_box(Vec3(0.45, 0.2, 0.2), Vec3(0.85, 0.3, 0.3), 9) +
                                     obj_box(Vec3(0.8, 0, 0), Vec3(1.3, 0.5, 0.5), 17));
  const std::string scene = R"(mesh = "dumbbell.obj"
gravity = [0, -1, 0]
[voxels]
resolution = 26
[material]
young = 1e6
[domains]
size = 4
cut = "necks"
[[fix]]
select = "min-x"
[solver]
kind = "dynamic"
duration = 0.2
)";
  spill(folder / "necks.toml", scene);
  CliRun run = supple({"build", "necks.toml", "-o", "necks.supple", "--json=built.json"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(nlohmann::json::parse(slurp(folder / "built.json"))["domains"], 2);
  run = supple({"simulate", "necks.toml", "--asset", "necks.supple", "-o", "necks.pc2"});
  ASSERT_EQ(run.code, 0) << run.err;
  // What is shown is the surface that the bricks were made around.
  const std::string shown = slurp(folder / "necks.obj");
  EXPECT_EQ(std::count(shown.begin(), shown.end(), 'v'), 24);
  spill(folder / "ring.toml", R"(mesh = "box"
[box]
size = [0.4, 0.4, 0.1]
cells = [4, 4, 1]
[[fix]]
select = "min-x"
[domains]
size = 3
loops = "merge"
[[domain]]
name = "a"
select = "all"
[[domain]]
name = "b"
select = "box:0.2,0,0,1,0.2,1"
[[domain]]
name = "c"
select = "box:0.2,0.2,0,1,1,1"
)");
  run = supple({"build", "ring.toml", "-o", "ring.supple", "--json=ring.json"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(nlohmann::json::parse(slurp(folder / "ring.json"))["domains"], 1);
  EXPECT_NE((run.out + run.err).find("a + b + c"), std::string::npos) << run.out << run.err;
}

TEST_F(DomainsCli, SaysWhatIsWrongInOneSentence) {
  struct Fault {
    const char *from, *to, *word;
  };
  for (const auto& [from, to, word] :
       {Fault{"select = \"all\"", "select = \"x<0.05\"", "belong to no domain"},
        Fault{"select = \"x>0.2\"", "select = \"x>5\"", "tip"},
        Fault{"name = \"middle\"", "name = \"stem\"", "two domains"},
        Fault{"size = 5", "size = 5\nroot = \"leaf\"", "leaf"},
        Fault{"size = 5", "size = 5\niterations = 0", "iterations"},
        Fault{"select = \"min-x\"", "select = \"min-x\"\n[[fix]]\nselect = \"max-x\"", "isn't in the root"},
        Fault{"select = \"x>0.1\"", "select = \"x>0.25\"", "\"middle\" has no elements"},
        Fault{"size = 5", "size = 5\ncut = \"necks\"", "leave [[domain]] out"},
        Fault{"size = 5", "size = 5\nnarrow = 2", "less than 1"},
        Fault{"select = \"x>0.2\"", "select = \"x>0.2\"\njoint = \"hinge\"\naxis = [0, 0, 0]", "axis"},
        Fault{"select = \"x>0.2\"", "select = \"x>0.2\"\nmodel = \"linear\"", "linear"},
        Fault{"select = \"x>0.2\"", "select = \"paint:tip\"", "[voxels]"}}) {
    spill_changed(from, to);
    const CliRun bad = supple({"build", "bad.toml", "-o", "bad.supple"});
    EXPECT_EQ(bad.code, 3) << to;
    EXPECT_NE(bad.err.find(word), std::string::npos) << bad.err;
    EXPECT_FALSE(std::filesystem::exists(folder / "bad.supple"));
  }
}

TEST_F(DomainsCli, RefusesWhatIsNoTree) {
  const std::string plate = R"(mesh = "box"
[box]
size = [0.4, 0.4, 0.1]
cells = [4, 4, 1]
[[fix]]
select = "min-x"
[[domain]]
name = "ground"
select = "x<0.1"
)";
  struct Fault {
    const char *text, *first, *second;
  };
  for (const auto& [text, first, second] :
       {Fault{
            "[[domain]]\nname = \"a\"\nselect = \"x>0.1\"\n[[domain]]\nname = \"b\"\nselect = \"box:0.2,0,0,1,0.2,1\"\n"
            "[[domain]]\nname = \"c\"\nselect = \"box:0.2,0.2,0,1,1,1\"\n",
            "loop", "merge"},
        Fault{"[[domain]]\nname = \"a\"\nselect = \"x>0.1\"\n[[domain]]\nname = \"b\"\nselect = "
              "\"box:0.2,0,0,0.3,1,1\"\n",
              "\"a\"", "2 pieces"},
        Fault{"[[domain]]\nname = \"a\"\nselect = \"x>0.1\"\nfrequency = 0\n", "frequency", "positive"}}) {
    spill(folder / "bad.toml", plate + text);
    const CliRun bad = supple({"build", "bad.toml", "-o", "bad.supple"});
    EXPECT_EQ(bad.code, 3) << text << bad.err;
    EXPECT_NE(bad.err.find(first), std::string::npos) << bad.err;
    EXPECT_NE(bad.err.find(second), std::string::npos) << bad.err;
    EXPECT_FALSE(std::filesystem::exists(folder / "bad.supple"));
  }
}

}  // namespace
}  // namespace supple::cli_domains_test
