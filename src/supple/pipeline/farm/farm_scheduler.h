// SPDX-License-Identifier: Apache-2.0
// Who runs the tasks of a stage (farm_stage.h): Slurm's job arrays, or processes of this machine.
#pragma once

#include "supple/base/result.h"
#include "supple/base/types.h"

#include <filesystem>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace supple {

struct FarmStage;

/// Tasks that have been handed in and haven't ended.
struct FarmQueue {
  std::set<Index> running, waiting;
  bool holds(Index task) const { return running.contains(task) || waiting.contains(task); }
};

class FarmScheduler {
 public:
  virtual ~FarmScheduler() = default;
  /// For a report: "Slurm", "2 slots of this machine".
  virtual std::string name() const = 0;
  /// Most tasks of a stage.
  virtual Index most_tasks() const = 0;
  virtual Status submit(const FarmStage& stage, std::span<const Index> tasks) = 0;
  virtual Result<FarmQueue> look(const FarmStage& stage) = 0;
  /// Do tasks end with this process? Those of a cluster don't.
  virtual bool tasks_end_with_us() const { return false; }
  /// [s] between two looks.
  virtual double patience() const = 0;
  /// Ends what was handed in.
  virtual void cancel(const FarmStage& stage) = 0;
};

struct SlurmSettings {
  int processors = 1;                ///< of each task
  std::vector<std::string> options;  ///< for sbatch: "--partition=film"
};

/// Why Slurm can't be asked here; none: it answers. "isn't installed" in words where there is no sbatch.
std::string why_no_slurm(bool& installed);
std::unique_ptr<FarmScheduler> slurm_scheduler(SlurmSettings settings);
/// So many tasks at a time.
std::unique_ptr<FarmScheduler> local_scheduler(int slots);

}  // namespace supple
