// SPDX-License-Identifier: Apache-2.0
// What tests of farms share: tasks as processes of this machine, to be found and killed, and the files that they leave.
#pragma once

#include "cli/run_cli.h"

#include <chrono>
#include <optional>
#include <thread>

namespace supple {

class FarmTest : public CliTest {
 protected:
  using Words = std::vector<std::string>;

  void SetUp() override {
    CliTest::SetUp();
    ASSERT_EQ(supple({"example", "x_shape"}).code, 0);
  }
  Words farm(const Words& more) const {
    Words words = {"farm", "bake", "x_shape.glb", "-o", "shots", "--tets", tets, "--no-cache", "--parts", "1"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  /// Enough for a task to take so long that it can be killed.
  std::string tets = "10000";
  /// The bytes that one process bakes.
  std::string single() const {
    supple_json({"bake", "x_shape.glb", "--engine", "quasistatic", "--tets", tets, "--no-cache", "-o", "one.glb"});
    return slurp(folder / "one.glb");
  }
  std::string merged() const { return slurp(folder / "shots/x_shape_soft.glb"); }

  /// The one plan in the farm's folder.
  std::filesystem::path plan() const {
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "shots/farm", none))
      if (std::filesystem::exists(entry.path() / "plan.json")) return entry.path();
    return {};
  }
  static nlohmann::json stage(const nlohmann::json& result, const std::string& name) {
    for (const auto& stage : result["stages"])
      if (stage["name"] == name) return stage;
    return {};
  }

  struct Task {
    pid_t process = -1;
    std::string number;
  };
  /// Processes of this farm that work at a stage, whoever has started them.
  std::vector<Task> tasks_at(const std::string& stage) const {
    std::vector<Task> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") != name.npos) continue;
      std::istringstream line(slurp(entry.path() / "cmdline"));
      Words words;
      for (std::string word; std::getline(line, word, '\0');) words.push_back(word);
      const auto count = words.size();
      if (count > 3 && words[0] == SUPPLE_CLI && words[count - 3].starts_with(folder.string()) &&
          words[count - 2] == stage)
        found.push_back({std::stoi(name), words[count - 1]});
    }
    return found;
  }
  /// Those that were killed take a moment to be gone; one that works on takes longer.
  bool none_left_at(const std::string& stage) const {
    for (int k = 0; k < 100 && !tasks_at(stage).empty(); ++k) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return tasks_at(stage).empty();
  }
  /// Waits until one is at work.
  std::optional<Task> wait_for_task(const std::string& stage) const {
    for (int k = 0; k < 6000; ++k) {
      if (const std::vector<Task> tasks = tasks_at(stage); !tasks.empty()) return tasks.front();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return {};
  }
};

}  // namespace supple
