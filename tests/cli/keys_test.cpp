// SPDX-License-Identifier: Apache-2.0
// Every number of a recipe and of a scene against what isn't a number one can work with. The keys are those that the
// readers themselves list, so that a new one is tried as well.
#include "cli/run_cli.h"
#include "samples/creatures.h"
#include "samples/plants.h"
#include "supple/io/gltf/write_character.h"
#include "supple/io/mesh/mesh_file.h"
#include "supple/mesh/box.h"
#include "supple/mesh/topology.h"

#include <chrono>
#include <cmath>
#include <map>
#include <regex>
#include <set>
#include <thread>

namespace supple::cli_keys_test {
namespace {

/// A file of keys, each with a value that works, and how it is used.
struct Host {
  std::string name;
  std::vector<std::string> command;
  std::string text;
};

/// Keys whose values are words, names or files, and sections that have only such.
const std::set<std::string> words = {"input",
                                     "clips",
                                     "skinning",
                                     "handles",
                                     "weights",
                                     "motions",
                                     "name",
                                     "mesh",
                                     "materials",
                                     "exclude",
                                     "soft",
                                     "rigid",
                                     "model",
                                     "feel",
                                     "quality",
                                     "directions",
                                     "joints",
                                     "shape",
                                     "joint",
                                     "clip",
                                     "quantity",
                                     "attribute",
                                     "file",
                                     "channel",
                                     "pose",
                                     "target",
                                     "joint_map",
                                     "root",
                                     "tip",
                                     "interpolation",
                                     "limit",
                                     "fit",
                                     "local",
                                     "contact",
                                     "graded",
                                     "keep_separate",
                                     "find_hard_parts",
                                     "level_floor",
                                     "element",
                                     "pieces",
                                     "set",
                                     "select",
                                     "surface",
                                     "anchored",
                                     "sketch",
                                     "inertia",
                                     "cut",
                                     "loops",
                                     "kind",
                                     "linear_solver",
                                     "integrator",
                                     "directory",
                                     "up",
                                     "split",
                                     "character",
                                     "base",
                                     "turns",
                                     "loop",
                                     "between",
                                     "hold",
                                     "[[paint]] tets"};

const std::string flesh = "[flesh]\namount = 1\ndamping = 0.2\nsize = 4\nposes = 1\n";

const std::string keyframes =
    "[[keyframes]]\nname = \"bow\"\n[[keyframes.key]]\njoint = \"elbow\"\ntime = 0.01\nrotation = [0, 0, 0]\n"
    "translation = [0.3, 0, 0]\nscale = [1, 1, 1]\n"
    "[[keyframes.key]]\njoint = \"elbow\"\ntime = 0.1\nrotation = [0, -20, 0]\n";
const std::string bake_end = keyframes + "[body]\ntets = 300\n";
/// A tenth of a second, and no loop.
const std::string arm = "input = \"arm.glb\"\nclips = []\n";

const std::vector<std::string> bake = {"bake", "FILE", "-o", "out.glb"};
const std::vector<std::string> rest = {"bake", "FILE", "-o", "out.glb", "--engine", "quasistatic", "--frames", "0:1"};
const std::string box = "mesh = \"box\"\n[box]\nsize = [1, 0.1, 0.1]\ncells = [4, 1, 1]\n[[fix]]\nselect = \"min-x\"\n";

std::vector<Host> recipes() {
  return {
      {"body", bake,
       "scale = 1\n" + arm + bake_end +
           "[bones]\nradius = 0.01\n[material]\nfrequency = 3\npoisson = 0.45\n"
           "density = 1000\n" +
           flesh + "angle = 30\n[[region]]\njoints = [\"elbow\"]\nsoftness = 2\n"},
      {"stiff", bake, arm + bake_end + "[material]\nyoung = 1e5\n" + flesh},
      {"painted", bake,
       arm + bake_end + flesh +
           "[[paint]]\nquantity = \"softness\"\nattribute = \"color\"\nrange = [1, 2]\nsmoothness = 0.1\n"},
      {"patches", bake,
       arm + bake_end + flesh +
           "[[local]]\nname = \"a\"\npoints = [[0.2, 0, 0]]\nmodes = 2\n"
           "[[local]]\nname = \"b\"\nsegments = [[[0.4, 0, 0], [0.5, 0, 0]]]\nmodes = 2\n"},
      {"posed", bake, arm + bake_end + flesh + "[[pose]]\nname = \"half\"\nclip = \"bow\"\ntime = 0.05\n"},
      {"corrected", bake,
       arm + bake_end + flesh +
           "[[correction]]\ntarget = \"elbow_bent\"\njoint = \"elbow\"\nrotation = [0, -115, 0]\nreach = 30\n"},
      {"corrected_lists", bake,
       arm + bake_end + flesh +
           "[[correction]]\ntarget = \"elbow_bent\"\njoints = [\"elbow\"]\nrotations = [[0, -115, 0]]\n"},
      {"corrected_clip", bake,
       arm + bake_end + flesh + "[[correction]]\ntarget = \"elbow_bent\"\nclip = \"bow\"\ntime = 0.05\n"},
      {"keyed", bake, arm + bake_end + flesh},
      {"reaching", bake,
       arm + bake_end + flesh +
           "[[reach]]\nname = \"grab\"\nroot = \"shoulder\"\ntip = \"wrist\"\nrate = 30\npole = [0, 1, 0]\n"
           "[[reach.key]]\ntime = 0.1\ntarget = [0.4, 0.1, 0.2]\n[[reach.key]]\ntime = 0.2\ntarget = [0.4, 0, 0.2]\n"},
      {"chain", bake,
       arm + bake_end + flesh +
           "[[reach]]\nname = \"grab\"\nroot = \"trunk\"\ntip = \"wrist\"\nstiffness = [0.5, 0.1]\n"
           "[[reach.key]]\ntime = 0.1\ntarget = [0.4, 0.1, 0.2]\n[[reach.key]]\ntime = 0.2\ntarget = [0.4, 0, 0.2]\n"},
      {"recorded", bake, arm + bake_end + flesh + "[[motion]]\nfile = \"turn.bvh\"\nframes = [0, 2]\n"},
      {"ball", rest, arm + bake_end + "[[collider]]\nshape = \"sphere\"\nat = [0.3, 0.1, 0]\nradius = 0.05\n"},
      {"sticky",
       {"bake", "FILE", "-o", "out.glb", "--engine", "quasistatic"},
       arm + bake_end +
           "[flesh]\nfriction = 0.2\n"
           "[[collider]]\nshape = \"plane\"\nat = [0, -0.1, 0]\nnormal = [0, 1, 0]\nfriction = 0.3\n"},
      {"floor", rest, arm + bake_end + "[[collider]]\nshape = \"plane\"\nat = [0, -0.1, 0]\nnormal = [0, 1, 0]\n"},
      {"block", rest, arm + bake_end + "[[collider]]\nshape = \"box\"\nat = [0.3, 0.1, 0]\nsize = [0.1, 0.1, 0.1]\n"},
      {"rod", rest,
       arm + bake_end + "[[collider]]\nshape = \"capsule\"\nat = [0.3, 0.1, 0]\nto = [0.4, 0.1, 0]\nradius = 0.05\n"},
      {"thing", rest, arm + bake_end + "[[collider]]\nmesh = \"thing.obj\"\nat = [0.3, 0.1, 0]\nscale = 0.01\n"},
      {"handled", bake,
       "input = \"thing.obj\"\n[rig]\nhandles = \"two.tgf\"\nmotions = [\"two.txt\"]\nrate = 30\n[body]\ntets = 300\n" +
           flesh},
      {"wired", bake, arm + bake_end + flesh + "[[wire]]\nname = \"w\"\nhandles = [\"shoulder\", \"elbow\"]\n"},
      {"plant",
       {"bake", "FILE", "-o", "out.glb"},
       "input = \"tree.glb\"\nscale = 1\n[plant]\nfrequency = 0.8\nsway = 3\ndamping = 20\ntets = 600\nbranch_size = "
       "3\n"
       "whole_size = 5\nleaf_size = 0\nrate = 10\n[wind]\ndirection = [1, 0, 0.5]\nspeed = 4\ngusts = 0.3\n"
       "turbulence = 1\neddy_size = 2.5\nperiod = 2\n"},
  };
}

std::vector<Host> scenes() {
  const std::string dynamic = "[solver]\nkind = \"dynamic\"\ndt = 0.01\nduration = 0.05\n";
  return {
      {"moving",
       {"solve", "FILE"},
       "gravity = [0, -9.81, 0]\n" + box +
           "[material]\nmodel = \"stvk\"\nyoung = 1e6\npoisson = 0.3\ndensity = 1000\n"
           "[[region]]\nselect = \"max-x\"\nyoung = 2e6\npoisson = 0.4\ndensity = 900\n"
           "[[force]]\nselect = \"max-x\"\ntotal = [0, -1, 0]\nstart = 0.01\nend = 0.03\n"
           "[[force]]\nselect = \"max-x\"\nper_vertex = [0, -1, 0]\n"
           "[[traction]]\nselect = \"max-x\"\nvalue = [0, 0, 10]\nstart = 0\nend = 0.5\n"
           "[[pressure]]\nselect = \"max-y\"\nvalue = 100\nstart = 0\nend = 0.5\n"
           "[output]\ndirectory = \"out\"\nevery = 4\n" +
           dynamic +
           "newmark_beta = 0.25\nnewmark_gamma = 0.5\nmass_damping = 0.1\nstiffness_damping = 0.001\n"
           "newton_iterations = 10\nnewton_tolerance = 1e-8\nlinear_tolerance = 1e-8\n"},
      {"still",
       {"solve", "FILE"},
       "gravity = [0, -9.81, 0]\n" + box +
           "[[track]]\nname = \"tip\"\nselect = \"max-x\"\n"
           "[solver]\nkind = \"static\"\nload_steps = 2\nnewton_iterations = 20\nnewton_tolerance = 1e-9\n"},
      {"reduced", {"build", "FILE", "-o", "out.supple"}, box + "[reduce]\nmodes = 3\nsize = 4\n"},
      {"bricks",
       {"build", "FILE", "-o", "out.supple"},
       "mesh = \"thing.obj\"\n[voxels]\nresolution = 2\n[[fix]]\nselect = \"min-x\"\n[reduce]\nmodes = 3\nsize = 4\n"},
      {"grouped",
       {"simulate", "FILE", "-o", "out.pc2"},
       "mesh = \"beam.supple\"\n[[group]]\nyoung = 2e6\npoisson = 0.3\ndensity = 900\n" + dynamic},
      {"parts",
       {"build", "FILE", "-o", "out.supple"},
       box +
           "[domains]\nsize = 4\nsmooth = 0.02\n"
           "[[domain]]\nname = \"stem\"\nselect = \"all\"\n"
           "[[domain]]\nname = \"tip\"\nselect = \"x>0.6\"\nsize = 3\nfrequency = 1.5\njoint = \"hinge\"\naxis = [0, "
           "0, 1]\n"
           "joint_stiffness = 2\n" +
           dynamic},
      {"shared",
       {"build", "FILE", "-o", "out.supple"},
       box + "[domains]\ncut = \"necks\"\ncoordinates = 6\nnarrow = 0.7\niterations = 1\n" + dynamic},
      {"closed",
       {"build", "FILE", "-o", "out.supple"},
       "mesh = \"box\"\n[box]\nsize = [0.4, 0.4, 0.1]\ncells = [8, 8, 2]\n[[fix]]\nselect = \"min-x\"\n"
       "[domains]\nsize = 8\nloops = \"close\"\n"
       "[[domain]]\nname = \"left\"\nselect = \"all\"\n"
       "[[domain]]\nname = \"low\"\nselect = \"box:0.1,0,0,0.3,0.2,1\"\n"
       "[[domain]]\nname = \"high\"\nselect = \"box:0.1,0.2,0,0.3,0.4,1\"\n"
       "[[domain]]\nname = \"right\"\nselect = \"x>0.3\"\n"
       "[[loop]]\nbetween = [\"high\", \"right\"]\nstiffness = 1\n" +
           dynamic},
      {"windy",
       {"simulate", "FILE", "--asset", "parts.supple", "-o", "out.pc2"},
       box +
           "[domains]\nsize = 4\niterations = 2\n"
           "[[domain]]\nname = \"stem\"\nselect = \"all\"\n[[domain]]\nname = \"tip\"\nselect = \"x>0.6\"\n"
           "[wind]\nvelocity = [0, 0, 5]\ngusts = 0.4\nturbulence = 0.3\neddy_size = 1\nperiod = 3\n" +
           dynamic},
  };
}

const std::regex section_line(R"(\s*(\[+[a-z._]+\]+)\s*)"), key_line(R"(([a-z_]+) = (.*))");
const std::regex number(R"(-?\d+(\.\d+)?(e-?\d+)?)");

class Keys : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    RawCharacter raw = make_character(make_arm(), 300);
    ASSERT_TRUE(write_character(folder / "arm.glb", raw).ok());
    ASSERT_TRUE(samples::write_plant(folder / "tree.glb", samples::make_tree(1, 2)).ok());
    const std::string turns = " CHANNELS 3 Zrotation Xrotation Yrotation\n";
    spill(path("turn.bvh"), "HIERARCHY\nROOT trunk\n{\nOFFSET 0 0 0\n" + turns + "JOINT shoulder\n{\nOFFSET 0.1 0 0\n" +
                                turns + "JOINT elbow\n{\nOFFSET 0.3 0 0\n" + turns +
                                "End Site\n{\nOFFSET 0.3 0 0\n}\n}\n}\n}\nMOTION\nFrames: 3\nFrame Time: 0.033\n"
                                "0 0 0 0 0 0 0 0 0\n0 0 0 0 0 0 0 0 5\n0 0 0 0 0 0 0 0 9\n");
    spill(path("two.tgf"), "1 0 0 0.5\n2 3 0 0.5\n#\n");
    spill(path("two.txt"),
          "2 2\n0 0 0\n0 0 0\n0 1 0\n0 0 0\n0 0 0\n0 0 0\n0 1 0\n0 90 0\n1 0 0\n0 0 0\n0 1 0\n0 0 0\n");
    spill(path("beam.toml"), box + "[reduce]\nmodes = 3\nsize = 4\n");
    ASSERT_EQ(supple({"build", "beam.toml", "-o", "beam.supple"}).code, 0);
    spill(path("parts.toml"), scenes()[5].text);
    ASSERT_EQ(supple({"build", "parts.toml", "-o", "parts.supple"}).code, 0);
    ASSERT_TRUE(save_mesh(boundary_surface(make_tet_box({1, 1, 1}, {4, 4, 4})).surface, path("thing.obj")).ok());
  }

  CliRun run(const Host& host, const std::string& text) const {
    const std::string file = host.name + ".toml";
    spill(path(file), text);
    std::vector<std::string> command;
    for (const std::string& word : host.command) command.push_back(word == "FILE" ? file : word);
    command.emplace_back("--json");
    return supple(command);
  }

  /// What the reader says it knows in a section; "" for what stands outside of all.
  std::set<std::string> keys_of(const Host& host, const std::string& section) const {
    std::string text;
    bool added = section.empty();
    if (added) text = "zzzzzzzzzzzzzzzz = 1\n";
    std::istringstream lines(host.text);
    for (std::string line; std::getline(lines, line);) {
      text += line + "\n";
      if (!added && line == section) text += "zzzzzzzzzzzzzzzz = 1\n", added = true;
    }
    const std::string told = run(host, text).err;
    const auto list = told.find("; it has ");
    EXPECT_NE(list, std::string::npos) << host.name << " " << section << ": " << told;
    if (list == std::string::npos) return {};
    std::set<std::string> keys;
    const std::regex name("[a-z_]+");
    const std::string names = told.substr(list + 9);
    for (std::sregex_iterator at(names.begin(), names.end(), name), end; at != end; ++at) keys.insert(at->str());
    return keys;
  }

  /// Each key of each section of the hosts is tried, or is a word, or the name of a section.
  void expect_all_keys(const std::vector<Host>& hosts) const {
    std::map<std::string, std::set<std::string>> tried, known;
    std::set<std::string> sections;
    for (const Host& host : hosts) {
      std::string section;
      const std::string kind = host.name == "plant" ? "plant " : "";
      known.try_emplace(kind, keys_of(host, ""));
      std::istringstream lines(host.text);
      for (std::string line; std::getline(lines, line);) {
        std::smatch match;
        if (std::regex_match(line, match, section_line)) {
          section = match[1];
          if (!known.contains(kind + section)) known[kind + section] = keys_of(host, section);
          std::string bare = section.substr(section.find_first_not_of('['));
          bare = bare.substr(0, bare.find(']'));
          tried[kind + (bare.find('.') == std::string::npos ? "" : "[[" + bare.substr(0, bare.find('.')) + "]]")]
              .insert(bare.substr(bare.find('.') + 1));
        } else if (std::regex_match(line, match, key_line) && std::regex_search(line, number)) {
          tried[kind + section].insert(match[1]);
        }
      }
    }
    for (const auto& [section, keys] : known)
      for (const std::string& key : keys)
        EXPECT_TRUE(tried[section].contains(key) || words.contains(key) || words.contains(section + " " + key))
            << "add the key " << key << " of " << (section.empty() ? "the file" : section) << " to this table";
  }

  void expect_refused_or_right(const Host& host, const std::string& key, const std::string& text,
                               bool no_number) const {
    const auto begin = std::chrono::steady_clock::now();
    const CliRun got = run(host, text);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const std::string what = host.name + ": " + key + ": " + got.err;
    if (std::getenv("SUPPLE_TELL") != nullptr)
      std::fprintf(stderr, "TELL %d %5.2f s %s %s\n", got.code, seconds, what.c_str(), got.code == 0 ? "\n" : "");
    EXPECT_TRUE(got.code == 3 || (!no_number && got.code == 0)) << got.code << " " << what;
    EXPECT_LT(seconds, 20) << what;
    if (got.code == 3) {
      EXPECT_NE(got.err.find(host.name + ".toml"), std::string::npos) << "names no file: " << what;
      EXPECT_LT(got.err.size(), 400u) << what;
      return;
    }
    for (const char* nothing : {"nan", "null", "inf,", "inf\n"})
      EXPECT_EQ(got.out.find(nothing), std::string::npos) << what << got.out;
  }

  void try_all(const Host& host) const {
    const CliRun good = run(host, host.text);
    ASSERT_EQ(good.code, 0) << good.err;
    std::string section;
    std::size_t at = 0;
    for (std::size_t end; (end = host.text.find('\n', at)) != std::string::npos; at = end + 1) {
      const std::string line = host.text.substr(at, end - at);
      std::smatch match, digits;
      if (std::regex_match(line, match, section_line)) section = match[1];
      if (!std::regex_match(line, match, key_line)) continue;
      if (section.starts_with("[[keyframes") && host.name != "keyed") continue;  // the same in many hosts
      const std::string key = match[1], value = match[2];
      if (value.find('"') != std::string::npos || !std::regex_search(value, digits, number)) continue;
      std::vector<std::string> hostile = {"nan", "inf", "-inf", "0", "-1", "1e15", "1e300", "-1e300"};
      if (digits.str().find_first_of(".e") == std::string::npos) hostile.emplace_back("1000000000");
      if (key == "size" || key == "poses") std::erase(hostile, "0");  // chooses by itself, and takes its time
      for (const std::string& wrong : hostile) {
        std::string text = host.text;
        text.replace(at, line.size(), key + " = " + digits.prefix().str() + wrong + digits.suffix().str());
        const bool no_number = wrong.find('n') != std::string::npos;
        expect_refused_or_right(host, section + " " + key + " = " + wrong, text, no_number);
      }
    }
  }
};

TEST_F(Keys, OfRecipesAreAllTried) { expect_all_keys(recipes()); }
TEST_F(Keys, OfScenesAreAllTried) { expect_all_keys(scenes()); }

class KeysOf : public Keys, public testing::WithParamInterface<Host> {};

TEST_P(KeysOf, AFileAreRefusedOrRight) { try_all(GetParam()); }

void PrintTo(const Host& host, std::ostream* out) { *out << host.name; }

const auto name_of = [](const auto& host) { return host.param.name; };
INSTANTIATE_TEST_SUITE_P(Recipe, KeysOf, testing::ValuesIn(recipes()), name_of);
INSTANTIATE_TEST_SUITE_P(Scene, KeysOf, testing::ValuesIn(scenes()), name_of);

}  // namespace
}  // namespace supple::cli_keys_test
