// SPDX-License-Identifier: Apache-2.0
// Every verb that writes, against everything that can be in its way: an existing file, an input, a folder, a missing
// folder, a full disk, a kill, and a twin of itself.
#include "cli/run_cli.h"
#include "supple/io/mesh/mesh_file.h"
#include "supple/mesh/box.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <chrono>
#include <map>
#include <regex>
#include <thread>

namespace supple::cli_outputs_test {
namespace {

namespace fs = std::filesystem;

/// How a verb is told to write to `output`.
struct Writer {
  std::string verb;
  std::vector<std::string> arguments;  ///< with "OUT" where the output goes
  std::string output;                  ///< a file, or a folder
  std::string in_folder;               ///< a file that the folder gets; empty where the output is a file
  std::string input;                   ///< that must survive; empty: none
};

/// Not every build has the program that draws.
bool can_draw() { return fs::exists(fs::path(SUPPLE_CLI).parent_path() / "supple_gallery"); }

const std::vector<Writer>& all_writers() {
  static const std::vector<Writer> all = {
      {"bake", {"x.glb", "-o", "OUT", "--tets", "400", "--size", "4", "--to", "0.2"}, "new.glb", "", "x.glb"},
      {"bake",  // flesh at rest, some frames
       {"x.glb", "-o", "OUT", "--engine", "quasistatic", "--tets", "300", "--frames", "0:1"},
       "new.glb",
       "",
       "x.glb"},
      {"bake", {"skin.obj", "-o", "OUT", "--tets", "600", "--rate", "5"}, "new.glb", "", ""},  // a plant
      {"farm",
       {"bake", "x.glb", "-o", "OUT", "--scheduler", "local", "--tets", "300", "--frames", "0:1"},
       "new_folder",
       "x_soft.glb",
       ""},
      {"correct", {"x.glb", "-o", "OUT", "--at", "bend:0.5", "--tets", "300"}, "new.glb", "", "x.glb"},
      {"build", {"beam.veg", "--fix", "min-x", "-n", "3", "-r", "4", "-o", "OUT"}, "new.supple", "", ""},
      {"build", {"x.glb", "-o", "OUT", "--tets", "300", "--size", "3", "--no-cache"}, "new.supple", "", ""},
      {"compare",
       {"x.glb", "--tets", "300", "--sizes", "3", "--seconds", "0.05", "--known-only", "--plain-drive", "--json=OUT"},
       "new.json",
       "",
       "x.glb"},
      {"bench", {"domains", "--quick", "--only", "momentum", "--csv=OUT"}, "new.csv", "", ""},
      {"view", {"x.glb", "--baked", "--page", "empty.html", "-o", "OUT"}, "new.html", "", ""},
      {"preview",
       {"x.glb", "x.glb", "-o", "OUT", "--width", "16", "--height", "16", "--fps", "2", "--seconds", "0.5"},
       "new.png",
       "",
       ""},  // its name ends as a film's, so it can be no input
      {"report", {"--results", "results", "-o", "OUT"}, "new.html", "", ""},
      {"convert", {"beam.veg", "OUT"}, "new.veg", "", "beam.veg"},
      {"mesh", {"skin.obj", "-o", "OUT", "--tets", "300"}, "new.veg", "", ""},
      {"modes", {"beam.veg", "--fix", "min-x", "-n", "2", "--vtu", "OUT"}, "new.vtu", "", ""},
      {"sketch",
       {"beam.veg", "--fix", "min-x", "--grab", "max-x", "--path", "0,0.1,0", "--steps", "2", "-n", "4", "-o", "OUT"},
       "new.sketch",
       "",
       ""},
      {"init", {"x.glb", "-o", "OUT"}, "new.toml", "", ""},
      {"inspect", {"beam.veg", "--json=OUT"}, "new.json", "", ""},
      {"simulate", {"push.toml", "--asset", "beam.supple", "-o", "OUT"}, "new.pc2", "", ""},
      {"solve", {"beam.veg", "--fix", "min-x", "--static", "-o", "OUT"}, "new_folder", "history.csv", ""},
      {"haptics", {"beam.supple", "--path", "ball.csv", "--radius", "0.1", "-o", "OUT"}, "new_folder", "force.csv", ""},
      {"example", {"arm", "-o", "OUT"}, "new_folder", "arm.glb", ""},
      {"demo", {"-o", "OUT"}, "new_folder", "cantilever.png", ""},
  };
  return all;
}

std::vector<Writer> writers() {
  std::vector<Writer> some = all_writers();
  std::erase_if(some, [](const Writer& writer) { return writer.verb == "preview" && !can_draw(); });
  return some;
}

class Outputs : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    ASSERT_EQ(supple({"example", "x_shape", "-o", "x"}).code, 0);
    fs::copy(path("x/x_shape.glb"), path("x.glb"));
    fs::remove_all(path("x"));
    const TetMesh beam = make_tet_box({4, 1, 1}, {4, 1, 1});
    ASSERT_TRUE(save_mesh(beam, path("beam.veg")).ok());
    ASSERT_EQ(supple({"convert", "beam.veg", "skin.obj"}).code, 0);
    ASSERT_EQ(supple({"build", "beam.veg", "--fix", "min-x", "-n", "3", "-r", "4", "-o", "beam.supple"}).code, 0);
    spill(path("push.toml"),
          "mesh = \"beam.supple\"\n[[force]]\nselect = \"max-x\"\ntotal = [0, -1, 0]\n[solver]\nkind = \"dynamic\"\n"
          "dt = 0.01\nduration = 0.05\n");
    spill(path("ball.csv"), "0,4.5,0.5,0.5\n0.01,4.4,0.5,0.5\n");
    spill(path("empty.html"), "<html><!--supple:data--></html>");
    fs::create_directories(path("results/here"));
  }

  std::vector<std::string> command(const Writer& writer, const std::string& output) const {
    std::vector<std::string> words = {writer.verb};
    for (std::string word : writer.arguments) {
      if (const auto at = word.find("OUT"); at != std::string::npos) word.replace(at, 3, output);
      words.push_back(word);
    }
    return words;
  }
  static fs::path result(const Writer& writer, const fs::path& output) {
    return writer.in_folder.empty() ? output : output / writer.in_folder;
  }
  /// In a process that can write no file beyond so many bytes, as on a full disk.
  pid_t start_without_space(const std::vector<std::string>& words, rlim_t bytes = 0) const {
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    const rlimit less{bytes, before.rlim_max};
    const auto handler = ::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &less);
    const pid_t child = start(words);
    ::setrlimit(RLIMIT_FSIZE, &before);
    ::signal(SIGXFSZ, handler);
    return child;
  }
  /// Hidden files and folders of ours, anywhere.
  std::vector<std::string> leftovers() const {
    std::vector<std::string> found;
    for (const std::string& name : files())
      if (name.find(".supple-") != std::string::npos) found.push_back(name);
    return found;
  }
};

TEST_F(Outputs, AreWrittenAndWrittenAgain) {
  for (const Writer& writer : writers()) {
    SCOPED_TRACE(writer.verb);
    for (int round = 0; round < 2; ++round) {
      std::vector<std::string> words = command(writer, writer.output);
      if ((writer.verb == "init" || writer.verb == "correct") && round == 1) words.emplace_back("--force");
      const CliRun run = supple(words);
      EXPECT_EQ(run.code, 0) << run.err;
      EXPECT_TRUE(fs::exists(folder / result(writer, writer.output)));
    }
    fs::remove_all(folder / writer.output);
    fs::remove((folder / writer.output).replace_extension(".toml"));  // the recipe of a corrected character
  }
  EXPECT_EQ(leftovers(), std::vector<std::string>());
}

/// So that a new verb is tried as well.
TEST_F(Outputs, EveryVerbIsTriedAndLooksAtAllItsFilesBeforeTheWork) {
  std::map<std::string, std::vector<std::string>> calls = {{"reference", {"reference", "missing.md"}}};
  for (const Writer& writer : all_writers())
    calls[writer.verb] = command(writer, "never" + fs::path(writer.output).extension().string());
  for (const char* verb : {"inspect", "compare", "bench"}) calls[verb].pop_back();  // their output is one of those
  const std::string help = supple({"--help"}).out;
  const std::regex line("\n  ([a-z]+) +[A-Z]");
  std::size_t verbs = 0;
  for (std::sregex_iterator at(help.begin(), help.end(), line), end; at != end; ++at, ++verbs) {
    const std::string verb = (*at)[1], options = supple({verb, "--help"}).out;
    ASSERT_TRUE(calls.contains(verb)) << "add the verb " << verb << " to the table";
    for (const std::string option : {"--json", "--csv", "--vtu", "--save-state"}) {
      std::vector<std::string> words = calls[verb];
      if (options.find("\n  " + option + " ") == std::string::npos) continue;
      if (std::find(words.begin(), words.end(), option) != words.end()) continue;
      words.push_back(option + "=missing/file.json");
      expect_refusal(words, 3, "missing");
    }
  }
  EXPECT_GE(verbs, 14u);
}

TEST_F(Outputs, AMissingFolderAFolderAndAFileInTheWayAreToldBeforeTheWork) {
  fs::create_directories(path("is_folder.any"));
  for (const Writer& writer : writers()) {
    SCOPED_TRACE(writer.verb);
    const std::string ending = fs::path(writer.output).extension().string();
    if (writer.in_folder.empty()) {
      expect_refusal(command(writer, "missing/new" + ending), 3, "missing");
      fs::create_directories(path("is_folder" + ending));
      const CliRun run = supple(command(writer, "is_folder" + ending));
      EXPECT_TRUE(run.code == 2 || run.code == 3) << run.code << run.err;
      EXPECT_TRUE(fs::is_empty(path("is_folder" + ending)));
    } else {
      spill(path("is_file"), "mine");
      expect_refusal(command(writer, "is_file"), 3, "is_file");
      expect_refusal(command(writer, "is_file/below"), 3, "is_file");
      EXPECT_EQ(slurp(path("is_file")), "mine");
    }
  }
}

TEST_F(Outputs, InputsAreReplacedByForceOnly) {
  for (const Writer& writer : writers()) {
    if (writer.input.empty()) continue;
    SCOPED_TRACE(writer.verb);
    const std::string before = slurp(path(writer.input));
    expect_refusal(command(writer, writer.input), 2, "--force");
    expect_refusal(command(writer, "./" + writer.input), 2, "--force");
    EXPECT_EQ(slurp(path(writer.input)), before);
  }
  EXPECT_EQ(supple({"convert", "beam.veg", "beam.veg", "--force"}).code, 0);
  // Not the file that was named, but one that it names.
  const std::string scene = slurp(path("push.toml"));
  expect_refusal({"simulate", "push.toml", "-o", "a.pc2", "--save-state", "push.toml"}, 2, "--force");
  EXPECT_EQ(slurp(path("push.toml")), scene);
  EXPECT_FALSE(fs::exists(path("a.pc2"))) << "outputs appear together or not at all";
}

/// A disk that is full at the first byte.
TEST_F(Outputs, AFullDiskLeavesWhatWasThere) {
  for (const Writer& writer : writers()) {
    SCOPED_TRACE(writer.verb);
    const fs::path output = folder / writer.output;
    if (!writer.in_folder.empty()) fs::create_directories(output);
    spill(result(writer, output), writer.verb == "simulate" ? "" : "old");
    if (writer.verb == "init" || writer.verb == "example" || writer.verb == "farm") fs::remove(result(writer, output));
    const std::string before = slurp(result(writer, output));
    const CliRun run = finish(start_without_space(command(writer, writer.output)));
    EXPECT_EQ(run.code, 1) << run.err;
    EXPECT_EQ(slurp(result(writer, output)), before);
    EXPECT_EQ(leftovers(), std::vector<std::string>());
    fs::remove_all(output);
  }
}

/// A disk that fills up between the files that belong together: the small ones fit, the others don't.
TEST_F(Outputs, ADiskThatFillsUpLeavesAllOfThemOrNone) {
  for (const Writer& writer : writers()) {
    if (writer.in_folder.empty() && writer.verb != "simulate" && writer.verb != "correct") continue;
    if (writer.verb == "farm") continue;  // what its tasks have done stays, to go on from
    SCOPED_TRACE(writer.verb);
    const std::vector<std::string> before = files();
    const CliRun run = finish(start_without_space(command(writer, writer.output), 700));
    EXPECT_EQ(run.code, 1) << run.err;
    EXPECT_EQ(files(), before);
  }
}

TEST_F(Outputs, TwinsBothSucceed) {
  for (const Writer& writer : writers()) {
    if (writer.verb == "init" || writer.verb == "correct") continue;  // the second sees the first's recipe
    SCOPED_TRACE(writer.verb);
    const pid_t twins[] = {start(command(writer, writer.output)), start(command(writer, writer.output))};
    for (const pid_t twin : twins) EXPECT_EQ(finish(twin).code, 0);
    EXPECT_TRUE(fs::exists(folder / result(writer, writer.output)));
    EXPECT_EQ(leftovers(), std::vector<std::string>());
    fs::remove_all(folder / writer.output);
  }
}

/// Killed at any moment, a verb leaves nothing under the name; the next run clears what it left elsewhere.
TEST_F(Outputs, AKilledWriterIsFollowedByACleanOne) {
  for (const Writer& writer : writers()) {
    if (writer.verb == "init" || writer.verb == "inspect" || writer.verb == "convert") continue;  // over in no time
    SCOPED_TRACE(writer.verb);
    for (const int milliseconds : {10, 30, 200}) {
      const pid_t child = start(command(writer, writer.output));
      std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
      ::kill(child, SIGKILL);
      finish(child);
      if (writer.verb == "correct") fs::remove(path("new.toml"));  // of one that was done already
    }
    const CliRun again = supple(command(writer, writer.output));
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_EQ(leftovers(), std::vector<std::string>());
    fs::remove_all(folder / writer.output);
  }
}

// ---- names that nobody has named
// -------------------------------------------------------------------------------------

TEST_F(Outputs, TheSurfaceBesideAPointCacheDoesntReplaceTheUsers) {
  spill(path("spoon.obj"), "v 0 0 0\n");
  expect_refusal({"simulate", "push.toml", "-o", "spoon.pc2"}, 2, "spoon.obj");
  EXPECT_EQ(slurp(path("spoon.obj")), "v 0 0 0\n");
  EXPECT_FALSE(fs::exists(path("spoon.pc2")));
  EXPECT_EQ(supple({"simulate", "push.toml", "-o", "spoon.pc2", "--force"}).code, 0);
  EXPECT_EQ(supple({"simulate", "push.toml", "-o", "spoon.pc2"}).code, 0) << "our own is replaced";
}

TEST_F(Outputs, AnEditedExampleStays) {
  ASSERT_EQ(supple({"example", "arm"}).code, 0);
  EXPECT_EQ(supple({"example", "arm"}).code, 0) << "the same files again";
  const std::string edited = slurp(path("arm.toml")) + "# mine\n";
  spill(path("arm.toml"), edited);
  expect_refusal({"example", "arm"}, 2, "arm.toml");
  EXPECT_EQ(slurp(path("arm.toml")), edited);
  EXPECT_EQ(supple({"example", "arm", "--force"}).code, 0);
  EXPECT_NE(slurp(path("arm.toml")), edited);
}

TEST_F(Outputs, TwoCharactersOfOneNameAreRefusedBeforeAnyWork) {
  for (const char* name : {"a", "b"}) {
    fs::create_directories(path(name));
    fs::copy(path("x.glb"), path(name) + "/x.glb");
  }
  expect_refusal({"bake", "a/x.glb", "b/x.glb", "-o", "out"}, 2, "out/x_soft.glb");
  EXPECT_FALSE(fs::exists(path("out")));
}

TEST_F(Outputs, AUsersFileInTheOutputFolderStays) {
  fs::create_directories(path("out"));
  fs::copy(path("x.glb"), path("y.glb"));
  spill(path("out/x_soft.glb"), "mine");
  const CliRun run = supple({"bake", "x.glb", "y.glb", "-o", "out", "--tets", "400", "--size", "4", "--to", "0.2"});
  EXPECT_EQ(run.code, 2) << run.err;
  EXPECT_EQ(slurp(path("out/x_soft.glb")), "mine");
  EXPECT_TRUE(fs::exists(path("out/y_soft.glb")));
  EXPECT_EQ(
      supple({"bake", "y.glb", "x.glb", "-o", "out", "--tets", "400", "--size", "4", "--to", "0.2", "--force"}).code,
      0);
  EXPECT_EQ(supple({"bake", "y.glb", "x.glb", "-o", "out", "--tets", "400", "--size", "4", "--to", "0.2"}).code, 0)
      << "baked files are replaced";
}

TEST_F(Outputs, ABakedFileIsNotBakedAgain) {
  ASSERT_EQ(supple({"bake", "x.glb", "-o", "soft.glb", "--tets", "400", "--size", "4", "--to", "0.2"}).code, 0);
  expect_refusal({"bake", "soft.glb", "-o", "softer.glb"}, 3, "soft motion already");
  EXPECT_EQ(supple({"inspect", "soft.glb"}).code, 0);
}

TEST_F(Outputs, NamesThatBeginWithADashWork) {
  EXPECT_EQ(supple({"convert", "--", "beam.veg", "-a.veg"}).code, 0);
  EXPECT_EQ(supple({"inspect", "--", "-a.veg"}).code, 0);
  EXPECT_EQ(supple({"mesh", "--output=-b.veg", "--tets", "300", "--", "skin.obj"}).code, 0);
  EXPECT_TRUE(fs::exists(path("-b.veg")));
  expect_refusal({"convert", "-a.veg", "b.veg"}, 2, "convert");
  expect_refusal({"inspect", "--", "--json"}, 3, "--json");
}

// ---- Ctrl-C
// ----------------------------------------------------------------------------------------------------------

/// Whether a process has come so far that it answers Ctrl-C itself; on a busy machine that takes a while.
bool answers_interrupts(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("SigCgt:")) return (std::stoull(line.substr(7), nullptr, 16) >> (SIGINT - 1) & 1) != 0;
  return false;
}

TEST_F(Outputs, CtrlCEndsEverythingWithinASecond) {
  std::string soup;
  for (int k = 0; k < 1500; ++k) {
    const double x = std::fmod(k * 0.754877666, 1), y = std::fmod(k * 0.569840291, 1), z = std::fmod(k * 0.362437, 1);
    soup += "v " + std::to_string(x) + " " + std::to_string(y) + " " + std::to_string(z) + "\n";
    soup += "v " + std::to_string(x + 0.02) + " " + std::to_string(y) + " " + std::to_string(z + 0.01) + "\n";
    soup += "v " + std::to_string(x) + " " + std::to_string(y + 0.02) + " " + std::to_string(z) + "\n";
    soup += "f -3 -2 -1\n";
  }
  spill(path("soup.obj"), soup);
  ASSERT_EQ(::mkfifo(path("pipe.veg").c_str(), 0600), 0);
  std::vector<std::vector<std::string>> busy = {
      {"mesh", "soup.obj", "-o", "soup.veg"},  // a loop that looks at nothing for long
      {"convert", "beam.veg", "pipe.veg"},     // a pipe that nobody reads
      {"solve", "beam.veg", "--duration", "1e4", "--dt", "1e-3", "--fix", "min-x"},
      {"modes", "fine.veg", "--fix", "min-x", "-n", "400"},
      {"build", "fine.veg", "--fix", "min-x", "-n", "30", "-r", "60", "-o", "fine.supple"},
      {"bake", "x.glb", "-o", "soft.glb", "--no-cache", "--tets", "30000"},
      {"view", "x.glb", "-o", "x.html", "--page", "empty.html", "--no-cache", "--tets", "30000"},
      {"bake", "x.glb", "-o", "still.glb", "--no-cache", "--engine", "quasistatic", "--tets", "30000"},
      {"bake", "skin.obj", "-o", "plant.glb", "--tets", "200000"},
      {"solve", "fine.veg", "--static", "--gravity", "0,-9,0", "--fix", "min-x"},
      {"compare", "x.glb", "--tets", "30000"},
      {"correct", "x.glb", "-o", "corrected.glb", "--at", "bend:0.5", "--tets", "30000"},
      {"sketch", "fine.veg", "--fix", "min-x", "--grab", "max-x", "--path", "0,0.1,0", "-n", "30", "-o", "a.sketch"},
      {"simulate", "long.toml", "--asset", "beam.supple", "-o", "long.pc2"},
      {"example", "gorilla", "-o", "somewhere"}};
  std::string forever = slurp(path("push.toml"));
  forever.replace(forever.find("duration = 0.05"), 15, "duration = 1e6");
  spill(path("long.toml"), forever);
  if (can_draw())
    busy.push_back({"preview", "x.glb", "x.glb", "-o", "p.png", "--width", "4096", "--height", "4096", "--fps", "120"});
  ASSERT_TRUE(save_mesh(make_tet_box({4, 1, 1}, {40, 10, 10}), path("fine.veg")).ok());
  for (const auto& words : busy) {
    SCOPED_TRACE(words[0] + " " + words[1] + " " + words.back());
    const std::vector<std::string> before = files();
    const pid_t child = start(words);
    for (int k = 0; k < 500 && !answers_interrupts(child); ++k)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    ::kill(child, SIGINT);
    const auto asked = std::chrono::steady_clock::now();
    const CliRun run = finish(child);
    EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - asked).count(), 1.5);
    EXPECT_EQ(run.code, 130) << run.err;
    EXPECT_EQ(run.err, "supple: stopped; no unfinished file is left.\n");
    EXPECT_EQ(files(), before);
  }
}

}  // namespace
}  // namespace supple::cli_outputs_test
