// SPDX-License-Identifier: Apache-2.0
// build, sketch, simulate and inspect on the road of a subspace model, and what they say to bad input.
#include "run_cli.h"
#include "supple/io/motion/pc2.h"

namespace supple::cli_subspace_test {
namespace {

constexpr const char* beam = R"(mesh = "box"
gravity = [0, -9.81, 0]
[box]
size = [0.4, 0.1, 0.1]
cells = [8, 2, 2]
element = "brick"
[material]
model = "stvk"
young = 1e6
poisson = 0.3
[[fix]]
select = "min-x"
[reduce]
modes = 6
size = 14
[[force]]
select = "max-x"
total = [0, 0, 5]
end = 0.05
[solver]
kind = "dynamic"
dt = 0.002
duration = 0.2
stiffness_damping = 0.002
[[track]]
name = "tip"
select = "max-x"
[output]
directory = "out"
every = 10
)";

class SubspaceCli : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    spill(folder / "beam.toml", beam);
  }
  nlohmann::json json_of(const std::string& file) const { return nlohmann::json::parse(slurp(folder / file)); }
  std::string build_error(const std::vector<std::string>& arguments) const {
    std::vector<std::string> words{"build", "-o", "bad.supple"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    const CliRun result = supple(words);
    EXPECT_EQ(result.code, 3) << result.err;
    EXPECT_FALSE(std::filesystem::exists(folder / "bad.supple"));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    return result.err;
  }
};

TEST_F(SubspaceCli, TheReducedBeamFollowsTheFullOne) {
  ASSERT_EQ(supple({"build", "beam.toml", "-o", "beam.supple", "--json", "build.json"}).code, 0);
  EXPECT_EQ(json_of("build.json")["coordinates"], 14);
  ASSERT_EQ(supple({"simulate", "beam.toml", "--asset", "beam.supple", "--json", "reduced.json"}).code, 0);
  EXPECT_TRUE(std::filesystem::exists(folder / "out/series.pvd"));
  EXPECT_TRUE(std::filesystem::exists(folder / "out/history.csv"));
  ASSERT_EQ(supple({"solve", "beam.toml", "-o", "full", "--json", "full.json"}).code, 0);
  const auto reduced = json_of("reduced.json");
  const auto full = json_of("full.json");
  EXPECT_NEAR(reduced["mass"], full["mass"], 1e-9);
  EXPECT_GT(reduced["fixed_vertices"], 0) << "it is told what is held";
  const double peak = full["peak_displacement"];
  EXPECT_GT(peak, 0.01);  // a tenth of its thickness: not a small motion
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(reduced["tracks"][0]["displacement"][i], full["tracks"][0]["displacement"][i], 0.03 * peak);
}

TEST_F(SubspaceCli, PointCachesHoldTheSurfaceOverTime) {
  ASSERT_EQ(supple({"build", "beam.toml", "-o", "beam.supple"}).code, 0);
  ASSERT_EQ(supple({"simulate", "beam.toml", "--asset", "beam.supple", "-o", "beam.pc2", "--json", "run.json"}).code,
            0);
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
  const PointCache cache = load_pc2(folder / "beam.pc2").value();
  EXPECT_EQ(cache.header.samples, 11);
  const auto surface = supple({"inspect", "beam.obj", "--json", "surface.json"});
  ASSERT_EQ(surface.code, 0);
  EXPECT_EQ(json_of("surface.json")["files"][0]["vertices"], cache.header.points);
  // The tip of the last sample is where the track says.
  const double expected = json_of("run.json")["tracks"][0]["displacement"][1];
  double sum = 0;
  int count = 0;
  for (std::size_t v = 0; v < cache.samples[0].size(); ++v) {
    if (cache.samples[0][v].x() < 0.399) continue;
    sum += cache.samples.back()[v].y() - cache.samples[0][v].y();
    ++count;
  }
  ASSERT_EQ(count, 9);
  EXPECT_NEAR(sum / count, expected, 1e-6);
}

TEST_F(SubspaceCli, ASavedRunContinuesWithTheSameMotion) {
  ASSERT_EQ(supple({"build", "beam.toml", "-o", "beam.supple"}).code, 0);
  std::string half = beam;
  half.replace(half.find("duration = 0.2"), 14, "duration = 0.1");
  spill(folder / "half.toml", half);
  ASSERT_EQ(supple({"simulate", "beam.toml", "--asset", "beam.supple", "-o", "w", "--json", "whole.json"}).code, 0);
  ASSERT_EQ(supple({"simulate", "half.toml", "--asset", "beam.supple", "-o", "a", "--save-state", "half.state"}).code,
            0);
  ASSERT_EQ(supple({"simulate", "half.toml", "--asset", "beam.supple", "-o", "b", "--resume", "half.state", "--json",
                    "second.json"})
                .code,
            0);
  EXPECT_NEAR(json_of("second.json")["time"], 0.2, 1e-12);
  for (int i = 0; i < 3; ++i) {
    const double whole = json_of("whole.json")["tracks"][0]["displacement"][i];
    EXPECT_NEAR(json_of("second.json")["tracks"][0]["displacement"][i], whole, 1e-12);
  }
}

TEST_F(SubspaceCli, SketchesMakeModels) {
  const CliRun recorded = supple({"sketch", "beam.toml", "-o", "pull.sketch", "--grab", "max-x", "--path",
                                  "0,0.2,0 0,0,0.2", "--steps", "4", "--modes", "6"});
  ASSERT_EQ(recorded.code, 0) << recorded.err;
  ASSERT_EQ(supple({"build", "beam.toml", "--sketch", "pull.sketch", "-r", "5", "-o", "a.supple"}).code, 0);
  EXPECT_TRUE(std::filesystem::is_directory(folder / "pull.sketch.shapes"));
  ASSERT_EQ(supple({"build", "beam.toml", "--sketch", "pull.sketch", "-r", "5", "-o", "b.supple"}).code, 0);
  EXPECT_EQ(slurp(folder / "a.supple"), slurp(folder / "b.supple"));
}

TEST_F(SubspaceCli, SurfacesBecomeBricksAndPaintHoldsThem) {
  // A closed box of eight vertices; red is painted at x = 0.
  spill(folder / "box.ply",
        "ply\nformat ascii 1.0\nelement vertex 8\nproperty float x\nproperty float y\nproperty float z\nproperty uchar "
        "red\nproperty uchar green\nproperty uchar blue\nelement face 6\nproperty list uchar int vertex_indices\n"
        "end_header\n0 0 0 255 0 0\n2 0 0 0 0 0\n2 1 0 0 0 0\n0 1 0 255 0 0\n0 0 1 255 0 0\n2 0 1 0 0 0\n2 1 1 0 0 0\n"
        "0 1 1 255 0 0\n4 0 3 2 1\n4 4 5 6 7\n4 0 1 5 4\n4 1 2 6 5\n4 2 3 7 6\n4 3 0 4 7\n");
  const CliRun made = supple({"build", "box.ply", "--resolution", "6", "--fix", "paint:color", "--young", "1e5", "-n",
                              "4", "-r", "6", "-o", "box.supple", "--json", "box.json"});
  ASSERT_EQ(made.code, 0) << made.err;
  const auto report = json_of("box.json");
  EXPECT_EQ(report["surface_vertices"], 8);
  EXPECT_GT(report["fixed_vertices"], 0);
  const CliRun shown = supple({"inspect", "box.supple"});
  EXPECT_NE(shown.out.find("6"), std::string::npos);
  EXPECT_NE(shown.out.find("bricks"), std::string::npos);
}

TEST_F(SubspaceCli, BadInputGetsItsSentence) {
  spill(folder / "free.toml", "mesh = \"box\"\n[box]\ncells = [4, 1, 1]\n");
  EXPECT_NE(build_error({"free.toml", "--anchored"}).find("no vertex of the mesh is fixed"), std::string::npos);
  EXPECT_NE(build_error({"free.toml", "-r", "500"}).find("give only"), std::string::npos);
  spill(folder / "rubber.toml", "mesh = \"box\"\n[material]\npoisson = 0.5\n");
  EXPECT_NE(build_error({"rubber.toml"}).find("less than 0.5"), std::string::npos);
  spill(folder / "hooke.toml", "mesh = \"box\"\n[material]\nmodel = \"linear\"\n");
  EXPECT_NE(build_error({"hooke.toml"}).find("stvk"), std::string::npos);
  const std::string two =
      "MeshVersionFormatted 2\nDimension 3\nVertices\n8\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n5 0 0 0\n6 0 0 0\n5 1 0 "
      "0\n5 0 1 0\nTetrahedra\n2\n1 2 3 4 0\n5 6 7 8 0\nEnd\n";
  spill(folder / "two.mesh", two);
  EXPECT_NE(build_error({"two.mesh"}).find("2 pieces"), std::string::npos);
  std::string flat = two;
  flat.replace(flat.find("5 0 1 0"), 7, "5 9 0 0");
  spill(folder / "flat.mesh", flat);
  EXPECT_NE(build_error({"flat.mesh"}).find("no volume"), std::string::npos);
  const CliRun rubber = supple({"build", "-o", "bad.supple", "two.mesh", "--poisson", "0.5"});
  EXPECT_EQ(rubber.code, 2);
  EXPECT_NE(rubber.err.find("0.5"), std::string::npos);
  EXPECT_NE(build_error({"missing.veg"}).find("missing.veg"), std::string::npos);
  EXPECT_NE(build_error({"free.toml", "--sketch", "missing.sketch"}).find("missing.sketch"), std::string::npos);
}

/// One that was built before the scene was changed would move as if nothing had been.
TEST_F(SubspaceCli, AModelOfAnotherBodyThanTheScenesIsRefused) {
  const std::string domains =
      "[domains]\nsize = 3\n[[domain]]\nname = \"a\"\nselect = \"all\"\n"
      "[[domain]]\nname = \"b\"\nselect = \"x>0.2\"\n";
  std::string tets = beam;
  for (const std::string& line : {std::string("element = \"brick\"\n"), std::string("end = 0.05\n")})
    tets.erase(tets.find(line), line.size());
  for (const std::string& scene : {std::string(beam), tets + domains}) {
    spill(folder / "own.toml", scene);
    ASSERT_EQ(supple({"build", "own.toml", "-o", "own.supple"}).code, 0);
    const CliRun same = supple({"simulate", "own.toml", "--asset", "own.supple", "-o", "own.pc2"});
    EXPECT_EQ(same.code, 0) << same.err;
    for (const auto& [from, to, what] :
         {std::array<std::string, 3>{"size = [0.4, 0.1, 0.1]", "size = [0.4, 0.1, 0.2]", "another mesh"},
          {"select = \"min-x\"", "select = \"max-x\"", "other fixed vertices"},
          {"young = 1e6", "young = 1e7", "other materials"},
          {"young = 1e6", "young = 1e6\ndensity = 500", "other materials"}}) {
      std::string changed = scene;
      changed.replace(changed.find(from), from.size(), to);
      spill(folder / "changed.toml", changed);
      expect_refusal({"simulate", "changed.toml", "--asset", "own.supple", "-o", "x.pc2"}, 3, what);
    }
  }
  // The same shape, cut otherwise.
  std::string finer = beam;
  finer.replace(finer.find("cells = [8, 2, 2]"), 17, "cells = [9, 3, 2]");
  spill(folder / "finer.toml", finer);
  ASSERT_EQ(supple({"build", "beam.toml", "-o", "coarse.supple"}).code, 0);
  expect_refusal({"simulate", "finer.toml", "--asset", "coarse.supple", "-o", "x.pc2"}, 3, "another mesh");
  // Domains that came later.
  ASSERT_EQ(supple({"build", "beam.toml", "-o", "whole.supple"}).code, 0);
  spill(folder / "parts.toml", beam + domains);
  expect_refusal({"simulate", "parts.toml", "--asset", "whole.supple", "-o", "x.pc2"}, 3, "other domains");
}

TEST_F(SubspaceCli, OptionsOfAMeshAreRefusedBesideAScene) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"build", "beam.toml", "-o", "x.supple", "--fix", "max-x"},
        std::vector<std::string>{"solve", "beam.toml", "--young", "5"},
        std::vector<std::string>{"sketch", "beam.toml", "-o", "x.sketch", "--grab", "max-x", "--path", "0,1,0", "--fix",
                                 "max-x"}}) {
    const CliRun result = supple(words);
    EXPECT_EQ(result.code, 2) << words[0];
    EXPECT_NE(result.err.find("write it into beam.toml"), std::string::npos) << result.err;
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "x.sketch"));
}

TEST_F(SubspaceCli, AModelIsToldByItsBytesAndNotByItsName) {
  ASSERT_EQ(supple({"build", "beam.toml", "-o", "beam.supple"}).code, 0);
  std::filesystem::rename(folder / "beam.supple", folder / "beam.dat");
  EXPECT_EQ(supple({"simulate", "beam.toml", "--asset", "beam.dat"}).code, 0);
  EXPECT_EQ(supple({"inspect", "beam.dat"}).code, 0);
  EXPECT_NE(build_error({"beam.dat"}).find("model already"), std::string::npos);
  spill(folder / "words.supple", "these are words");
  const CliRun words = supple({"simulate", "beam.toml", "--asset", "words.supple"});
  EXPECT_EQ(words.code, 3);
  EXPECT_NE(words.err.find("not a Supple asset"), std::string::npos) << words.err;
}

TEST_F(SubspaceCli, DamagedModelsAreRefused) {
  ASSERT_EQ(supple({"build", "beam.toml", "-o", "beam.supple"}).code, 0);
  std::string bytes = slurp(folder / "beam.supple");
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  spill(folder / "beam.supple", bytes);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"inspect", "beam.supple"},
        std::vector<std::string>{"simulate", "beam.toml", "--asset", "beam.supple"}}) {
    const CliRun result = supple(words);
    EXPECT_EQ(result.code, 3);
    EXPECT_NE(result.err.find("damaged"), std::string::npos) << result.err;
  }
  const CliRun wrong = supple({"simulate", "beam.toml"});
  EXPECT_EQ(wrong.code, 3);
  EXPECT_NE(wrong.err.find("supple build"), std::string::npos) << wrong.err;
}

}  // namespace
}  // namespace supple::cli_subspace_test
