// SPDX-License-Identifier: Apache-2.0
// Runs the built command as a user would, with its output caught in files.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

extern char** environ;

namespace supple {

struct CliRun {
  int code = -1;  ///< exit code, or 128 + signal
  std::string out;
  std::string err;
};

inline std::string slurp(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

inline void spill(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// A fresh folder per test, which is also where the command runs; removed afterwards.
class CliTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder = std::filesystem::temp_directory_path() / (std::string("supple_cli_") + info->test_suite_name() + "_" +
                                                       info->name() + "_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    ::setenv("SUPPLE_CACHE_DIR", cache().c_str(), 1);
  }
  void TearDown() override {
    std::filesystem::remove_all(folder);
    std::filesystem::remove_all(cache());
  }
  /// Of the builds of this test.
  std::filesystem::path cache() const { return folder.string() + ".cache"; }

  /// `errors`: where standard error goes instead of into a file, such as a terminal.
  pid_t start(const std::vector<std::string>& arguments, const std::string& errors = "") const {
    std::vector<std::string> words = {SUPPLE_CLI};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
    const int create = O_WRONLY | O_CREAT | O_TRUNC;
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, output_file().c_str(), create, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, errors.empty() ? error_file().c_str() : errors.c_str(), create, 0600);
    pid_t child = -1;
    EXPECT_EQ(0, posix_spawn(&child, SUPPLE_CLI, &actions, nullptr, argv.data(), environ));
    posix_spawn_file_actions_destroy(&actions);
    return child;
  }

  CliRun finish(pid_t child) const {
    int status = 0;
    ::waitpid(child, &status, 0);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    CliRun run{code, slurp(output_file()), slurp(error_file())};
    std::filesystem::remove(output_file());
    std::filesystem::remove(error_file());
    return run;
  }

  CliRun supple(const std::vector<std::string>& arguments) const { return finish(start(arguments)); }

  /// Expects success and a JSON document on standard output, nothing else.
  nlohmann::json supple_json(std::vector<std::string> arguments) const {
    arguments.emplace_back("--json");
    const CliRun run = supple(arguments);
    EXPECT_EQ(run.code, 0) << run.err;
    return nlohmann::json::parse(run.out, nullptr, false);
  }

  /// Expects that exit code, one sentence on stderr that contains `words`, and nothing on stdout.
  void expect_refusal(const std::vector<std::string>& arguments, int code, const std::string& words) const {
    const CliRun run = supple(arguments);
    EXPECT_EQ(run.code, code) << run.err;
    EXPECT_EQ(run.out, "");
    EXPECT_EQ(run.err.rfind("supple: ", 0), 0u) << run.err;
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
    EXPECT_NE(run.err.find(words), std::string::npos) << run.err;
  }

  /// Names of everything in the folder, sorted, hidden files included.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
      names.push_back(std::filesystem::relative(entry.path(), folder).string());
    std::sort(names.begin(), names.end());
    return names;
  }

  std::string path(const std::string& name) const { return (folder / name).string(); }

  std::filesystem::path folder;

 private:
  std::filesystem::path output_file() const { return folder.string() + ".out"; }
  std::filesystem::path error_file() const { return folder.string() + ".err"; }
};

/// A file of the shared assets; empty when they aren't there.
inline std::string asset(const std::string& name) {
  const std::filesystem::path path = std::filesystem::path(SUPPLE_SHARED_DIR) / "assets" / name;
  return std::filesystem::exists(path) ? path.string() : "";
}

}  // namespace supple
