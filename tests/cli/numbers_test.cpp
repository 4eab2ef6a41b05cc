// SPDX-License-Identifier: Apache-2.0
// Every numeric option of every verb against what isn't a number one can work with. The options are those that --help
// lists, so that a new one is tried as well.
#include "cli/run_cli.h"
#include "samples/creatures.h"
#include "supple/io/gltf/write_character.h"
#include "supple/io/mesh/mesh_file.h"
#include "supple/mesh/box.h"

#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <map>
#include <regex>
#include <set>
#include <thread>

namespace supple::cli_numbers_test {
namespace {

/// What --help calls the value of an option that takes no number.
const std::set<std::string> words = {"FILE",   "OUT",    "DIR",    "TOML",   "NAME",  "WHICH",
                                     "FORMAT", "SELECT", "PATH",   "FOLDER", "MODEL", "VERSION",
                                     "PARTS",  "SAMPLE", "[FILE]", "TEXT",   "VIEW",  "OPTION"};

/// How to call each verb so that it gets as far as its inputs, which aren't there.
const std::map<std::string, std::vector<std::string>> calls = {
    {"inspect", {"missing.veg"}},
    {"bake", {"missing.glb", "-o", "x.glb"}},
    {"compare", {"missing.glb"}},
    {"farm", {"bake", "missing.glb", "-o", "shots"}},
    {"correct", {"missing.glb", "-o", "x.glb"}},
    {"preview", {"missing.glb", "-o", "x.png"}},
    {"view", {"missing.glb", "-o", "x.html"}},
    {"convert", {"missing.veg", "x.veg"}},
    {"mesh", {"missing.obj", "-o", "x.veg"}},
    {"modes", {"missing.veg"}},
    {"solve", {"missing.veg"}},
    {"build", {"missing.veg", "-o", "x.supple"}},
    {"sketch", {"missing.veg", "--grab", "max-x", "--path", "0,0.1,0", "-o", "x.sketch"}},
    {"simulate", {"missing.toml"}},
    {"haptics", {"missing.supple"}},
    {"init", {"missing.glb"}},
    {"example", {"no such example"}},
    {"demo", {"no such sample"}},
    {"bench", {"no such benchmark"}},
    {"report", {"-o", "x.html", "--results", "missing"}},
    {"reference", {"missing.md"}},
};

class Numbers : public CliTest {
 protected:
  CliRun finish_within(pid_t child, int seconds) const {
    std::atomic<bool> over{false};
    std::thread watch([&] {
      for (int k = 0; k < 20 * seconds && !over; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(50));
      if (!over) ::kill(child, SIGKILL);
    });
    const CliRun run = finish(child);
    over = true;
    watch.join();
    return run;
  }
  std::vector<std::string> verbs() const {
    std::vector<std::string> names;
    const std::string help = supple({"--help"}).out;
    const std::regex line("\n  ([a-z]+) +[A-Z]");
    for (std::sregex_iterator at(help.begin(), help.end(), line), end; at != end; ++at) names.push_back((*at)[1]);
    return names;
  }
  /// "--rate" and what it takes.
  std::map<std::string, std::string> options_of(const std::string& verb) const {
    std::map<std::string, std::string> options;
    const std::string help = supple({verb, "--help"}).out;
    const std::regex line("\n  (?:-[a-z],)?(--[a-z-]+) ([A-Z,:…\\[\\]]+)(?=[=\\s])");
    for (std::sregex_iterator at(help.begin(), help.end(), line), end; at != end; ++at)
      if (!words.contains((*at)[2])) options[(*at)[1]] = (*at)[2];
    return options;
  }
};

TEST_F(Numbers, EveryOptionRefusesWhatIsNoNumber) {
  std::size_t tried = 0;
  const std::vector<std::string> all = verbs();
  EXPECT_GE(all.size(), 14u);
  for (const std::string& verb : all) {
    ASSERT_TRUE(calls.contains(verb)) << "add the verb " << verb << " to this table";
    for (const auto& [option, kind] : options_of(verb)) {
      for (std::string value : {"nan", "inf", "-inf", "1e400", "1e300", "-1e300", "ten"}) {
        if (kind == "X,Y,Z") value = "0," + value + ",0";
        if (kind == "A:B") value = "0:" + value;
        std::vector<std::string> command = {verb};
        command.insert(command.end(), calls.at(verb).begin(), calls.at(verb).end());
        command.push_back(option + "=" + value);
        const CliRun run = supple(command);
        // Gravity of a recipe is read after the character.
        const bool late = kind == "X,Y,Z" && run.code == 3;
        EXPECT_TRUE(run.code == 2 || late) << verb << " " << option << " " << value << ": " << run.code << run.err;
        EXPECT_LT(run.err.size(), 300u) << run.err;
        ++tried;
      }
    }
  }
  EXPECT_GT(tried, 300u);
}

/// Zero, negative and huge numbers are numbers: each is refused, or works and gives numbers. Nothing takes for ever.
TEST_F(Numbers, EveryOptionRefusesOrTakesZeroNegativeAndHuge) {
  ASSERT_EQ(supple({"example", "x_shape", "-o", "."}).code, 0);
  ASSERT_TRUE(save_mesh(make_tet_box({4, 1, 1}, {4, 1, 1}), path("beam.veg")).ok());
  ASSERT_EQ(supple({"convert", "beam.veg", "skin.obj"}).code, 0);
  ASSERT_EQ(supple({"build", "beam.veg", "--fix", "min-x", "-n", "3", "-r", "4", "-o", "beam.supple"}).code, 0);
  spill(path("ball.csv"), "0,4.5,0.5,0.5\n0.01,4.4,0.5,0.5\n");
  const std::string character = "x_shape.glb";
  spill(path("empty.html"), "<html><!--supple:data--></html>");
  ASSERT_EQ(supple({"bake", character, "-o", "soft.glb", "--tets", "300", "--size", "3", "--to", "0.05"}).code, 0);
  // What keeps each verb short; an option that is tried takes the place of its own.
  const std::map<std::string, std::vector<std::string>> small = {
      {"bake", {character, "--output=y.glb", "--tets=300", "--size=3", "--to=0.05", "--preroll=0.05"}},
      {"farm", {"bake", character, "--output=shots", "--scheduler=local", "--tets=300", "--frames=0:1"}},
      {"correct", {character, "--at=bend:0.5", "--output=c.glb", "--tets=300"}},
      {"compare", {character, "--tets=300", "--sizes=3", "--seconds=0.05", "--known-only"}},
      {"preview", {"soft.glb", "--output=p.png", "--width=16", "--height=16", "--fps=2", "--seconds=0.5"}},
      {"view", {character, "--baked", "--output=v.html", "--page=empty.html"}},  // builds as bake does
      {"mesh", {"skin.obj", "--output=m.veg", "--tets=300"}},
      {"modes", {"beam.veg", "--fix=min-x", "--modes=2"}},
      {"solve", {"beam.veg", "--fix=min-x", "--duration=0.05", "--output=s"}},
      {"build", {"beam.veg", "--fix=min-x", "--modes=3", "--size=4", "--output=b.supple"}},
      {"sketch",
       {"beam.veg", "--fix=min-x", "--grab=max-x", "--path=0,0.1,0", "--steps=2", "--modes=4", "--output=b.sketch"}},
      {"haptics", {"beam.supple", "--path=ball.csv", "--radius=0.1", "--output=h"}},
      {"init", {character, "--output=r.toml", "--force"}}};
  for (const std::string& verb : verbs()) {
    for (const auto& [option, kind] : options_of(verb)) {
      if (option == "--threads" && verb != "modes") continue;               // the same for all
      if (verb == "farm" && options_of("bake").contains(option)) continue;  // its tasks are bakes
      ASSERT_TRUE(small.contains(verb)) << "add the verb " << verb << " to this table";
      for (const std::string number : {"0", "-1", "1e15"}) {
        std::vector<std::string> command = {verb};
        for (const std::string& word : small.at(verb))
          if (word.rfind(option + "=", 0) != 0) command.push_back(word);
        command.push_back(option + "=" +
                          (kind == "X,Y,Z" ? "0," + number + ",0"
                           : kind == "A:B" ? "0:" + number
                                           : number));
        if (option == "--frames") command.emplace_back("--engine=quasistatic"), std::erase(command, "--to=0.05");
        command.emplace_back("--json");
        const CliRun run = finish_within(start(command), 20);
        EXPECT_TRUE(run.code == 0 || run.code == 2 || run.code == 3)
            << verb << " " << option << " " << number << ": " << run.code << " " << run.err;
        if (run.code != 0) continue;
        EXPECT_EQ(run.out.find("nan"), std::string::npos) << verb << " " << option << " " << number;
        EXPECT_EQ(run.out.find("null"), std::string::npos) << verb << " " << option << " " << number << run.out;
      }
    }
  }
}

/// Numbers of files that are users' input: the exit code is 3 and the sentence names the file.
TEST_F(Numbers, OfScenesAreUsersInput) {
  ASSERT_TRUE(save_mesh(make_tet_box({4, 1, 1}, {4, 1, 1}), path("beam.veg")).ok());
  const std::string start = "mesh = \"beam.veg\"\n[[fix]]\nselect = \"min-x\"\n";
  const std::string dynamic = "[solver]\nkind = \"dynamic\"\ndt = 0.01\nduration = 0.1\n";
  const std::map<std::string, std::string> scenes = {
      {"stiff.toml", start + "[material]\nyoung = 1e300\n" + dynamic},
      {"frozen.toml", start + "[material]\npoisson = 0.49999999\n" + dynamic},
      {"dense.toml", start + "[material]\ndensity = 1e300\n" + dynamic},
      {"heavy.toml", "gravity = [0, -1e30, 0]\n" + start + dynamic},
      {"pushed.toml", start + "[[force]]\nselect = \"max-x\"\ntotal = [0, 1e30, 0]\n" + dynamic},
      {"nan.toml", "gravity = [0, nan, 0]\n" + start + dynamic}};
  for (const auto& [name, text] : scenes) {
    spill(path(name), text);
    expect_refusal({"solve", name}, 3, name);
  }
}

TEST_F(Numbers, OfModelsThatBreakDownAreUsersInput) {
  ASSERT_TRUE(save_mesh(make_tet_box({4, 1, 1}, {4, 1, 1}), path("beam.veg")).ok());
  ASSERT_EQ(supple({"build", "beam.veg", "--fix", "min-x", "-n", "3", "-r", "4", "-o", "beam.supple"}).code, 0);
  const auto scene = [](const std::string& force, const std::string& more) {
    return "mesh = \"beam.supple\"\n[[force]]\nselect = \"max-x\"\ntotal = [0, " + force +
           ", 0]\n[solver]\nkind = \"dynamic\"\ndt = 0.01\nduration = 0.1\n" + more;
  };
  spill(path("pushed.toml"), scene("1e30", ""));
  expect_refusal({"simulate", "pushed.toml", "-o", "x.pc2"}, 3, "pushed.toml");
  EXPECT_FALSE(std::filesystem::exists(path("x.pc2")));
  // Steps far too long for an explicit method.
  std::string unstable = scene("-1", "integrator = \"central_differences\"\n");
  unstable.replace(unstable.find("dt = 0.01\nduration = 0.1"), 24, "dt = 10\nduration = 5000");
  spill(path("unstable.toml"), unstable);
  expect_refusal({"simulate", "unstable.toml", "-o", "x.pc2"}, 3, "unstable.toml");
  // One iteration short of an answer: told, as `solve` does.
  spill(path("limit.toml"), scene("-1e5", "newton_iterations = 2\nnewton_tolerance = 1e-12\n"));
  const CliRun run = supple({"simulate", "limit.toml", "-o", "y.pc2"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.err.find("stopped at the limit of 2 Newton iterations"), std::string::npos) << run.err;
  const nlohmann::json told = supple_json({"simulate", "limit.toml", "-o", "y.pc2"});
  EXPECT_EQ(told["converged"], false);
}

TEST_F(Numbers, OfClipsAndScalesAreUsersInput) {
  RawCharacter character = make_character(make_x_shape(), 300);
  character.clips.resize(1);
  ASSERT_TRUE(write_character(folder / "fine.glb", character).ok());
  character.clips[0].channels.at(0).times.back() = character.clips[0].duration = 1e9;
  ASSERT_TRUE(write_character(folder / "late.glb", character).ok());
  expect_refusal({"bake", "late.glb", "-o", "x.glb"}, 3, "1e+09 s");
  const auto keyed = [](const std::string& what, const std::string& values) {
    return "input = \"fine.glb\"\n[[keyframes]]\nname = \"leap\"\n[[keyframes.key]]\njoint = \"up_1\"\ntime = 0\n" +
           what + " = [1, 1, 1]\n[[keyframes.key]]\njoint = \"up_1\"\ntime = 0.1\n" + what + " = " + values + "\n";
  };
  spill(path("far.toml"), keyed("translation", "[0, 1e30, 0]"));
  spill(path("wide.toml"), keyed("scale", "[1, 1, 1e30]"));
  expect_refusal({"bake", "far.toml", "-o", "x.glb"}, 3, "\"leap\" moves the joint \"up_1\" by 1e+30 m");
  expect_refusal({"bake", "wide.toml", "-o", "x.glb"}, 3, "\"leap\" scales the joint \"up_1\" by 1e+30");
  spill(path("large.toml"), "input = \"fine.glb\"\nscale = 1e6\n");
  expect_refusal({"bake", "large.toml", "-o", "x.glb"}, 3, "m tall; say with \"scale\"");
  spill(path("large.toml"), "input = \"late.glb\"\nscale = 1e12\n");
  expect_refusal({"bake", "large.toml", "-o", "x.glb"}, 3, "large.toml, line 2");
}

TEST_F(Numbers, OfBuildsAreEstimatedBeforeMemoryRunsOut) {
  std::string soup;
  for (int k = 0; k < 4000; ++k) {
    const double x = std::fmod(k * 0.754877666, 1), y = std::fmod(k * 0.569840291, 1), z = std::fmod(k * 0.362437, 1);
    for (const auto& [dx, dy] : {std::pair{0.0, 0.0}, {0.02, 0.0}, {0.0, 0.02}})
      soup += "v " + std::to_string(x + dx) + " " + std::to_string(y + dy) + " " + std::to_string(z) + "\n";
    soup += "f -3 -2 -1\n";
  }
  spill(path("soup.obj"), soup);
  expect_refusal({"mesh", "soup.obj", "-o", "soup.veg"}, 3, "4000 loose pieces");
  // More than any machine has, and more than this process may have.
  ASSERT_TRUE(save_mesh(make_tet_box({4, 1, 1}, {24, 6, 6}), path("beam.veg")).ok());
  expect_refusal({"build", "beam.veg", "--fix", "min-x", "-n", "1500", "-o", "beam.supple"}, 3, "1500 modes");
  rlimit before{};
  ::getrlimit(RLIMIT_AS, &before);
  const rlimit less{2'000'000'000, before.rlim_max};
  ::setrlimit(RLIMIT_AS, &less);
  const pid_t child = start({"build", "beam.veg", "--fix", "min-x", "-n", "200", "-o", "beam.supple"});
  ::setrlimit(RLIMIT_AS, &before);
  const CliRun run = finish(child);
  EXPECT_EQ(run.code, 3) << run.err;
  EXPECT_NE(run.err.find("beam.veg: 200 modes with their 20100 derivatives take"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace supple::cli_numbers_test
