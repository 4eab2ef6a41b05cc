// SPDX-License-Identifier: Apache-2.0
// A list of tasks that don't depend on each other, each a process of its own, on this machine or on many
// (farm_scheduler.h). Tasks are known by what they leave in a folder that all machines see:
//
//   FOLDER/STAGE.sh       what a task runs; its number is the first argument, or SLURM_ARRAY_TASK_ID
//   FOLDER/STAGE_N.done   written by task N itself when all of its work is kept
//   FOLDER/STAGE_N.exit   the exit code, where the task lived long enough to have one
//   FOLDER/STAGE_N.log    what it has printed, in all tries
//
// A task that has ended without its first file has failed or was killed; it is handed in again. Whoever runs the same
// list in the same folder later does what isn't done.
#pragma once

#include "supple/base/progress.h"
#include "supple/base/result.h"
#include "supple/pipeline/farm/farm_scheduler.h"

#include <string>
#include <vector>

namespace supple {

struct FarmStage {
  std::filesystem::path folder;
  std::string name;                ///< of its files: letters
  std::string doing;               ///< for whoever waits: "solving"
  std::vector<std::string> tasks;  ///< what each one is, for messages: "hero.glb, clip run, frames 0 to 31"

  std::filesystem::path script() const { return folder / (name + ".sh"); }
  std::filesystem::path file(Index task, std::string_view ending) const;
  bool done(Index task) const;
};

/// Text as one word of a shell's command line.
std::string shell_word(const std::string& text);

/// The script of a stage: `words` with the number of the task behind them, run in `folder`.
Status write_farm_script(const FarmStage& stage, const std::filesystem::path& folder,
                         const std::vector<std::string>& words);
/// Called by task N when its work is kept.
Status mark_farm_task_done(const FarmStage& stage, Index task);

struct FarmReport {
  Index tasks = 0;
  Index found = 0;  ///< that were done before
  Index again = 0;  ///< that were handed in again
};

/// Runs what isn't done, each task `tries` times at most. Fails when a task still isn't done, with its log's name and
/// the log's last line; at once where the task says that its input is bad, or when it is cancelled.
Result<FarmReport> run_farm_stage(const FarmStage& stage, FarmScheduler& scheduler, int tries,
                                  Progress& progress = Progress::silent());

}  // namespace supple
