// SPDX-License-Identifier: Apache-2.0
// What every command does alike: help, version, usage errors, quiet, output in a pipe.
#include "cli/run_cli.h"
#include "supple/io/mesh/mesh_file.h"
#include "supple/mesh/box.h"

#include <poll.h>
#include <chrono>
#include <cstdlib>
#include <set>

namespace supple::cli_common_test {
namespace {

using Common = CliTest;

TEST_F(Common, VersionAndOverview) {
  const CliRun version = supple({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_EQ(version.out, std::string("supple ") + SUPPLE_VERSION + "\n");
  const CliRun help = supple({"--help"});
  EXPECT_EQ(help.code, 0);
  for (const char* command : {"inspect", "convert", "modes", "solve", "demo"})
    EXPECT_NE(help.out.find(std::string("  ") + command), std::string::npos) << command;
}

TEST_F(Common, NoArgumentsIsWrongUsage) {
  const CliRun run = supple({});
  EXPECT_EQ(run.code, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_NE(run.err.find("Usage: supple COMMAND"), std::string::npos);
}

TEST_F(Common, EveryCommandExplainsItself) {
  for (const std::string command : {"inspect", "convert", "modes", "solve", "demo"}) {
    const CliRun run = supple({command, "--help"});
    EXPECT_EQ(run.code, 0) << command;
    EXPECT_EQ(run.err, "") << command;
    EXPECT_NE(run.out.find("Usage: supple " + command), std::string::npos) << run.out;
    for (const char* part : {"Examples:", "--json", "--threads", "--quiet"})
      EXPECT_NE(run.out.find(part), std::string::npos) << command << ": " << part;
    EXPECT_NE(run.out.find("  supple " + command), std::string::npos) << "no example for " << command;
    EXPECT_EQ(supple({"help", command}).out, run.out);
  }
}

TEST_F(Common, UnknownThingsSuggestTheNearest) {
  expect_refusal({"modse"}, 2, "did you mean \"modes\"?");
  expect_refusal({"frobnicate"}, 2, "inspect, bake, preview, farm, compare, correct, view, convert, mesh, modes");
  expect_refusal({"modes", "a.veg", "--yuong", "5"}, 2, "did you mean --young?");
  expect_refusal({"--threads", "2"}, 2, "name a command");
}

TEST_F(Common, WrongUsageIsTwo) {
  expect_refusal({"inspect"}, 2, "FILE");
  expect_refusal({"convert", "a.obj"}, 2, "TO");
  expect_refusal({"modes", "a.veg", "--modes", "many"}, 2, "--modes");
  expect_refusal({"modes", "a.veg", "--modes", "0"}, 2, "--modes");
  expect_refusal({"inspect", "a.obj", "--threads", "-1"}, 2, "--threads");
  expect_refusal({"demo", "extra"}, 2, "extra");
}

TEST_F(Common, JsonNeverOverwritesTheInput) {
  ASSERT_TRUE(save_mesh(make_tet_box({1, 1, 1}, {1, 1, 1}), path("cube.veg")).ok());
  const std::string before = slurp(path("cube.veg"));
  const CliRun run = supple({"inspect", "--json", "cube.veg"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(nlohmann::json::parse(run.out)["files"][0]["elements"], 6);
  EXPECT_EQ(slurp(path("cube.veg")), before);
}

TEST_F(Common, JsonFileBesideText) {
  ASSERT_TRUE(save_mesh(make_tet_box({1, 1, 1}, {1, 1, 1}), path("cube.veg")).ok());
  for (const std::vector<std::string>& how : {std::vector<std::string>{"--json", "r.json"}, {"--json=r.json"}}) {
    std::vector<std::string> arguments = {"inspect", "cube.veg"};
    arguments.insert(arguments.end(), how.begin(), how.end());
    const CliRun run = supple(arguments);
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_NE(run.out.find("tetrahedra"), std::string::npos);
    EXPECT_EQ(nlohmann::json::parse(slurp(path("r.json")))["command"], "inspect");
    std::filesystem::remove(path("r.json"));
  }
}

TEST_F(Common, UnwritableJsonIsToldAndLeavesNothing) {
  ASSERT_TRUE(save_mesh(make_tet_box({1, 1, 1}, {1, 1, 1}), path("cube.veg")).ok());
  expect_refusal({"inspect", "cube.veg", "--json", "missing/r.json"}, 3, "missing");
  EXPECT_EQ(files(), std::vector<std::string>{"cube.veg"});
}

TEST_F(Common, QuietSaysNothing) {
  ASSERT_TRUE(save_mesh(make_tet_box({1, 1, 1}, {1, 1, 1}), path("cube.veg")).ok());
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"inspect", "cube.veg", "-q"}, {"convert", "cube.veg", "cube.obj", "--quiet"}}) {
    const CliRun run = supple(arguments);
    EXPECT_EQ(run.code, 0);
    EXPECT_EQ(run.out + run.err, "");
  }
}

TEST_F(Common, FullDiskOnStandardOutputIsOurs) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const std::string line = std::string(SUPPLE_CLI) + " demo --help > /dev/null && " + SUPPLE_CLI + " inspect '" +
                           path("cube.veg") + "' > /dev/full 2> /dev/null";
  ASSERT_TRUE(save_mesh(make_tet_box({1, 1, 1}, {1, 1, 1}), path("cube.veg")).ok());
  EXPECT_EQ(WEXITSTATUS(std::system(line.c_str())), 1);
}

/// What a terminal gets on the last line, while the mesher is in loops that tell nothing of how far they are.
TEST_F(Common, TheProgressBarMoves) {
  ASSERT_TRUE(save_mesh(make_tet_box({4, 1, 1}, {4, 1, 1}), path("beam.veg")).ok());
  ASSERT_EQ(supple({"convert", "beam.veg", "skin.obj"}).code, 0);
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_GE(terminal, 0);
  ASSERT_EQ(::grantpt(terminal) | ::unlockpt(terminal), 0);
  const std::string other_end = ::ptsname(terminal);
  ::setenv("TERM", "xterm", 1);
  const pid_t child = start({"mesh", "skin.obj", "-o", "m.veg", "--tets", "4000000"}, other_end);
  std::set<std::string> drawn;
  const auto begin = std::chrono::steady_clock::now();
  while (drawn.size() < 4 && std::chrono::steady_clock::now() - begin < std::chrono::seconds(20)) {
    pollfd ready{terminal, POLLIN, 0};
    char text[4096];
    const ssize_t size = ::poll(&ready, 1, 500) == 1 ? ::read(terminal, text, sizeof text) : 0;
    if (size > 0) drawn.emplace(text, to_size(size));
  }
  ::kill(child, SIGINT);
  EXPECT_EQ(finish(child).code, 130);
  ::close(terminal);
  EXPECT_EQ(drawn.size(), 4u) << "something else each time";
}

}  // namespace
}  // namespace supple::cli_common_test
