// SPDX-License-Identifier: Apache-2.0
// supple farm on a real Slurm: one node with two slots, on the loopback alone (one_node_slurm.sh). Skipped where Slurm
// isn't installed.
#include "integration/peers.h"
#include "support/farm_tasks.h"

namespace supple::integration_farm_test {
namespace {

class FarmOnSlurm : public FarmTest {
 protected:
  void SetUp() override {
    tets = "30000";
    FarmTest::SetUp();
    // Slurm's sockets lie in it, whose names are short.
    std::string pattern = (std::filesystem::temp_directory_path() / "supple_slurm_XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    slurm_ = pattern;
    const Ran started = run(script("start"));
    if (started.code != 0) GTEST_SKIP() << started.output;
    running_ = true;
    ::setenv("SLURM_CONF", started.output.c_str(), 1);
  }
  void TearDown() override {
    if (running_) run(script("stop"));
    running_ = false;
    ::unsetenv("SLURM_CONF");
    std::error_code none;
    std::filesystem::remove_all(slurm_, none);
    FarmTest::TearDown();
  }
  Words on_slurm(const Words& more = {}) const {
    Words words = farm({"--scheduler", "slurm", "--json"});
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

 private:
  std::string script(const std::string& verb) const {
    return fmt::format("{}/one_node_slurm.sh {} {}", SUPPLE_INTEGRATION_DIR, verb, slurm_);
  }
  std::string slurm_;
  bool running_ = false;
};

TEST_F(FarmOnSlurm, KilledTasksComeBackAndTheResultIsTheSingleBake) {
  const pid_t farm = start(on_slurm());
  const std::optional<Task> first = wait_for_task("solve");
  ASSERT_TRUE(first) << finish(farm).err;
  ::kill(first->process, SIGKILL);
  // The others as an administrator would end them.
  EXPECT_EQ(run("scancel --me").code, 0);
  const CliRun finished = finish(farm);
  ASSERT_EQ(finished.code, 0) << finished.err;
  const nlohmann::json result = nlohmann::json::parse(finished.out);
  EXPECT_EQ(result["scheduler"], "Slurm");
  EXPECT_GE(stage(result, "solve")["again"], 2);
  EXPECT_EQ(merged(), single());
}

TEST_F(FarmOnSlurm, AFailedTaskNamesItsLog) {
  const pid_t farm = start(on_slurm({"--tries", "1"}));
  const std::optional<Task> task = wait_for_task("solve");
  ASSERT_TRUE(task) << finish(farm).err;
  ::kill(task->process, SIGKILL);
  const CliRun failed = finish(farm);
  EXPECT_EQ(failed.code, 1);
  EXPECT_NE(failed.err.find("solve_" + task->number + ".log"), std::string::npos) << failed.err;
  EXPECT_NE(slurp(plan() / ("solve_" + task->number + ".log")), "");
  // Nothing that was handed in is left behind.
  EXPECT_EQ(run("squeue --noheader --states=PD,R").output, "");
}

TEST_F(FarmOnSlurm, WhatSlurmRefusesIsTold) {
  const CliRun refused = supple(on_slurm({"--slurm=--partition=nowhere"}));
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.err.find("nowhere"), std::string::npos) << refused.err;
}

}  // namespace
}  // namespace supple::integration_farm_test
