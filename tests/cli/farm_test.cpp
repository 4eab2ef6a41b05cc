// SPDX-License-Identifier: Apache-2.0
// supple farm on the slots of this machine; on Slurm: tests/integration/farm_test.cpp.
#include "support/farm_tasks.h"

namespace supple::cli_farm_test {
namespace {

class FarmCli : public FarmTest {
 protected:
  Words local(const Words& more = {}) const {
    Words words = farm({"--scheduler", "local", "--slots", "2"});
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
};

TEST_F(FarmCli, EqualsTheSingleBakeAndFindsWhatIsDone) {
  tets = "1500";
  const nlohmann::json first = supple_json(local());
  EXPECT_GE(stage(first, "solve")["tasks"], 3);
  EXPECT_EQ(stage(first, "solve")["found"], 0);
  ASSERT_EQ(first["characters"].size(), 1u);
  EXPECT_GT(first["characters"][0]["clips"][0]["solved_frames"], 2);
  const std::string bytes = single();
  EXPECT_FALSE(bytes.empty());
  EXPECT_EQ(merged(), bytes);

  std::filesystem::remove(folder / "shots/x_shape_soft.glb");
  std::filesystem::remove(plan() / "solve_1.done");
  const nlohmann::json second = supple_json(local());
  EXPECT_EQ(stage(second, "solve")["found"].get<int>(), stage(first, "solve")["tasks"].get<int>() - 1);
  EXPECT_EQ(merged(), bytes);
}

TEST_F(FarmCli, KilledTasksComeBack) {
  Words words = local();
  words.emplace_back("--json");
  const pid_t farm = start(words);
  const std::optional<Task> task = wait_for_task("solve");
  ASSERT_TRUE(task) << finish(farm).err;
  ::kill(task->process, SIGKILL);
  const CliRun run = finish(farm);
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_GE(stage(nlohmann::json::parse(run.out), "solve")["again"], 1);
  EXPECT_EQ(merged(), single());
}

TEST_F(FarmCli, CtrlCEndsTheTasksAndTheNextRunGoesOn) {
  const pid_t farm = start(local());
  const std::optional<Task> task = wait_for_task("solve");
  ASSERT_TRUE(task) << finish(farm).err;
  ::kill(farm, SIGINT);
  EXPECT_EQ(finish(farm).code, 130);
  EXPECT_TRUE(none_left_at("solve"));
  EXPECT_EQ(stage(supple_json(local()), "build")["found"], 1);
  EXPECT_EQ(merged(), single());
}

TEST_F(FarmCli, AFailedTaskNamesItsLog) {
  const pid_t farm = start(local({"--tries", "1"}));
  const std::optional<Task> task = wait_for_task("solve");
  ASSERT_TRUE(task) << finish(farm).err;
  ::kill(task->process, SIGKILL);
  const CliRun run = finish(farm);
  EXPECT_EQ(run.code, 1);
  EXPECT_NE(run.err.find("solve_" + task->number + ".log"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("x_shape.glb, clip "), std::string::npos) << run.err;
  EXPECT_FALSE(std::filesystem::exists(folder / "shots/x_shape_soft.glb"));

  // What is found to be bad isn't tried again.
  supple_json(local());
  std::filesystem::remove(plan() / "solve_0.done");
  spill(plan() / "model_0.supple", "no model");
  const CliRun bad = supple(local());
  EXPECT_EQ(bad.code, 3) << bad.err;
  EXPECT_NE(bad.err.find("solve_0.log, which ends with: supple: "), std::string::npos) << bad.err;
  EXPECT_EQ(std::count(bad.err.begin(), bad.err.end(), '\n'), 1) << bad.err;
}

TEST_F(FarmCli, TellsWhatItCannotDo) {
  expect_refusal({"farm", "bake", "x_shape.glb"}, 2, "-o FOLDER");
  expect_refusal({"farm", "bake", "x_shape.glb", "-o", "x_shape.glb"}, 3, "this is a file");
  expect_refusal(local({"--engine", "full"}), 2, "--engine quasistatic");
  expect_refusal(local({"--clip", "nothing"}), 3, "nothing");
  expect_refusal(local({"--frames", "0:99999"}), 3, "has frames 0 to");
  expect_refusal({"farm", "bake", "x_shape.glb", "no.glb", "-o", "shots", "--scheduler", "local"}, 3, "no.glb");
  expect_refusal({"farm", "bake", "x_shape.glb", "./x_shape.glb", "-o", "shots"}, 2, "would both become");
  expect_refusal({"farm", "task", "x_shape.glb", "solve", "0"}, 3, "no plan of a farm");
  std::filesystem::create_directory(folder / "shots");
  spill(folder / "shots/x_shape_soft.glb", "somebody's");
  expect_refusal(local(), 2, "no character that we baked");
}

}  // namespace
}  // namespace supple::cli_farm_test
