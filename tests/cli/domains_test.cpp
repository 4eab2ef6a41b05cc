// SPDX-License-Identifier: Apache-2.0
// build, inspect and simulate on a scene of domains, and what they say to bad ones.
#include "run_cli.h"
#include "supple/base/types.h"
#include "supple/io/gltf/read_character.h"
#include "supple/io/motion/pc2.h"
#include "supple/rig/motion/sample_clip.h"
#include "supple/rig/pose.h"

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

/// A plate around a hole, of four beams, that stands in the ground on the left.
constexpr const char* frame = R"(mesh = "box"
gravity = [0, -9.81, 0]
[box]
size = [0.4, 0.4, 0.1]
cells = [8, 8, 2]
[material]
young = 3e5
[[fix]]
select = "min-x"
[domains]
size = 8
loops = "close"
[[domain]]
name = "left"
select = "all"
[[domain]]
name = "low"
select = "box:0.1,0,0,0.3,0.2,1"
[[domain]]
name = "high"
select = "box:0.1,0.2,0,0.3,0.4,1"
[[domain]]
name = "right"
select = "x>0.3"
[[track]]
name = "end"
select = "max-x"
[solver]
kind = "dynamic"
dt = 0.004
duration = 0.4
stiffness_damping = 0.02
[output]
directory = "out"
every = 10
)";

TEST_F(DomainsCli, ClosesLoopsWhereTheyAreSaidToBe) {
  const auto run_of = [&](const std::string& more) {
    spill(folder / "frame.toml", frame + more);
    CliRun run = supple({"build", "frame.toml", "-o", "frame.supple", "--force", "--json=built.json"});
    EXPECT_EQ(run.code, 0) << run.err;
    run = supple({"simulate", "frame.toml", "--asset", "frame.supple", "--force", "--json=run.json"});
    EXPECT_EQ(run.code, 0) << run.err;
    const auto told = nlohmann::json::parse(slurp(folder / "run.json"));
    return std::pair(told["largest_motion_m"].get<double>(), told["largest_gap_m"].get<double>());
  };
  // The four touch in two loops: left, low, high and right.
  const auto [firm, firm_gap] = run_of("");
  EXPECT_GT(nlohmann::json::parse(slurp(folder / "built.json"))["loops"], 1);
  const auto [loose, loose_gap] = run_of(
      "[[loop]]\nbetween = [\"high\", \"right\"]\nstiffness = 1\n"
      "[[loop]]\nbetween = [\"low\", \"high\"]\nstiffness = 1\n");
  EXPECT_GT(loose, 1.2 * firm);
  EXPECT_GT(loose_gap, 3 * firm_gap);
  // Held on both sides, it hangs between them.
  const auto [held, held_gap] = run_of("[[fix]]\nselect = \"max-x\"\n");
  EXPECT_LT(held, 0.5 * firm);
}

TEST_F(DomainsCli, SaysWhatIsWrongWithLoops) {
  struct Fault {
    const char *more, *word;
  };
  for (const auto& [more, word] :
       {Fault{"[[loop]]\nbetween = [\"left\", \"right\"]\n", "don't share a face"},
        Fault{"[[loop]]\nbetween = [\"left\", \"top\"]\n", "\"top\", which is none of the domains"},
        Fault{"[[loop]]\nbetween = [\"left\"]\n", "two names"},
        Fault{"[[loop]]\nbetween = [\"left\", \"left\"]\n", "must name two domains"},
        Fault{"[[loop]]\nbetween = [\"low\", \"high\"]\nstiffness = -1\n", "must be positive"}}) {
    spill(folder / "bad.toml", std::string(frame) + more);
    const CliRun bad = supple({"build", "bad.toml", "-o", "bad.supple"});
    EXPECT_EQ(bad.code, 3) << more;
    EXPECT_NE(bad.err.find(word), std::string::npos) << bad.err;
    EXPECT_FALSE(std::filesystem::exists(folder / "bad.supple"));
  }
  std::string text = frame;
  text.replace(text.find("size = 8"), 8, "size = 8\ninertia = \"centre\"");
  spill(folder / "lumped.toml", text);
  ASSERT_EQ(supple({"build", "lumped.toml", "-o", "lumped.supple"}).code, 0);
  const CliRun lumped = supple({"simulate", "lumped.toml", "--asset", "lumped.supple"});
  EXPECT_EQ(lumped.code, 3);
  EXPECT_NE(lumped.err.find("full inertia"), std::string::npos) << lumped.err;
}

/// A tail of two parts in the elbow of the example arm, around which bricks are laid.
TEST_F(DomainsCli, ABoneCarriesWhatIsHeld) {
  ASSERT_EQ(supple({"example", "arm"}).code, 0);
  spill(folder / "tail.obj", obj_box(Vec3(0.285, 0, -0.023), Vec3(0.315, 0.4, 0.007), 1));
  const std::string scene = R"(mesh = "tail.obj"
[voxels]
resolution = 24
[material]
young = 1e6
density = 600
[domains]
size = 8
[[domain]]
name = "root"
select = "all"
[[domain]]
name = "tip"
select = "y>0.2"
[[fix]]
select = "y<0.03"
[[track]]
name = "tip"
select = "max-y"
[solver]
kind = "dynamic"
dt = 0.004
duration = 0.8
[output]
directory = "out"
every = 20
[base]
character = "arm.glb"
clip = "flex"
joint = )";
  spill(folder / "tail.toml", scene + "\"elbow\"\n");
  CliRun run = supple({"build", "tail.toml", "-o", "tail.supple"});
  ASSERT_EQ(run.code, 0) << run.err;
  run = supple({"simulate", "tail.toml", "--asset", "tail.supple", "-o", "swing.pc2", "--json=run.json"});
  ASSERT_EQ(run.code, 0) << run.err;
  const double lag = nlohmann::json::parse(slurp(folder / "run.json"))["largest_motion_m"];
  EXPECT_GT(lag, 0.002);  // it lags behind the bone
  EXPECT_LT(lag, 0.2);
  const PointCache cache = load_pc2(folder / "swing.pc2").value();
  const RawCharacter arm = read_character(load_gltf(folder / "arm.glb").value(), {}).value();
  const auto clip = std::find_if(arm.clips.begin(), arm.clips.end(), [](const Clip& c) { return c.name == "flex"; });
  const Index elbow = find_joint(arm.skeleton, "elbow");
  const auto bone = [&](const Pose& pose) { return world_matrix(arm.skeleton, pose, elbow); };
  const Affine rest = bone(rest_pose(arm.skeleton));
  double away = 0;
  for (std::size_t k = 0; k < cache.samples.size(); ++k) {
    Pose pose = rest_pose(arm.skeleton);
    sample_clip(*clip, 0.08 * static_cast<double>(k), ClipWrap::hold, pose);
    const Affine moved = bone(pose) * rest.inverse();
    for (const Vec3& X : {Vec3(0.285, 0, -0.023), Vec3(0.315, 0, 0.007)}) {
      double nearest = 1;
      for (const Vec3& x : cache.samples[k]) nearest = std::min(nearest, (x - moved * X).norm());
      EXPECT_LT(nearest, 1e-4) << k;
      away = std::max(away, (moved * X - X).norm());
    }
  }
  EXPECT_GT(away, 0.005);  // the held end goes far with it
  spill(folder / "bad.toml", scene + "\"elbo\"\n");
  run = supple({"simulate", "bad.toml", "--asset", "tail.supple"});
  EXPECT_EQ(run.code, 3);
  EXPECT_NE(run.err.find("did you mean \"elbow\"?"), std::string::npos) << run.err;
  run = supple({"solve", "tail.toml"});
  EXPECT_EQ(run.code, 3);
  EXPECT_NE(run.err.find("[base]"), std::string::npos) << run.err;
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
  // Two tetrahedra that share a vertex, or an edge: nothing that could hold one on the other.
  for (const char* second : {"5 6 4 7", "3 4 5 6"}) {
    spill(folder / "two.mesh", std::string("MeshVersionFormatted 1\nDimension 3\nVertices\n7\n0 0 0 0\n1 0 0 0\n"
                                           "0 1 0 0\n1 1 1 0\n2 0 0 0\n2 2 0 0\n3 1 2 0\nTetrahedra\n2\n"
                                           "1 2 3 4 0\n") +
                                   second + " 0\nEnd\n");
    spill(folder / "bad.toml",
          "mesh = \"two.mesh\"\n[material]\nyoung = 1e6\n[[fix]]\nselect = \"min-x\"\n[[domain]]\nname = \"a\"\n"
          "select = \"all\"\n[[domain]]\nname = \"b\"\nselect = \"x>0.9\"\n");
    const CliRun bad = supple({"build", "bad.toml", "-o", "bad.supple"});
    EXPECT_EQ(bad.code, 3) << bad.err;
    EXPECT_NE(bad.err.find("doesn't share a face"), std::string::npos) << bad.err;
  }
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
