// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/farm/farm_stage.h"

#include <fmt/format.h>

#include "supple/base/clock.h"
#include "supple/base/exit_code.h"
#include "supple/io/file.h"

#include <charconv>
#include <map>
#include <thread>

namespace supple {
namespace {

constexpr std::chrono::milliseconds breath{50};  // in which Ctrl-C is noticed

/// What the task's process ended with; none where it was killed, or never began.
std::optional<int> exit_code(const FarmStage& stage, Index task) {
  const Result<std::string> text = read_file(stage.file(task, "exit"));
  if (!text.ok()) return {};
  int code = 0;
  if (std::from_chars(text->data(), text->data() + text->size(), code).ec != std::errc()) return {};
  return code;
}

std::string last_line(const std::filesystem::path& log) {
  const Result<std::string> text = read_file(log);
  if (!text.ok()) return {};
  const std::size_t end = text->find_last_not_of(" \n\r\t");
  if (end == std::string::npos) return {};
  const std::size_t begin = text->find_last_of('\n', end);
  const std::string line = text->substr(begin == std::string::npos ? 0 : begin + 1);
  return line.substr(0, line.find_last_not_of(" \n\r\t") + 1);
}

Error failed(const FarmStage& stage, Index task, int tries) {
  const std::filesystem::path log = stage.file(task, "log");
  const std::optional<int> code = exit_code(stage, task);
  const bool bad_input = code == bad_input_exit_code;
  const std::string end = last_line(log);
  const std::string message =
      fmt::format("{} task {} ({}) {}; its log is {}{}", stage.name, task, stage.tasks[to_size(task)],
                  bad_input ? "found its input bad"
                  : code    ? fmt::format("failed in {} tries", tries)
                            : fmt::format("was killed in {} tries", tries),
                  log.string(), end.empty() ? std::string() : fmt::format(", which ends with: {}", end));
  return bad_input ? input_error(message) : failure(message);
}

/// Tells how far a stage is, when that has changed.
class StageProgress {
 public:
  StageProgress(const FarmStage& stage, Progress& progress) : stage_(stage), progress_(progress) {}
  void tell(std::size_t done, const FarmQueue& queue) {
    std::string words = fmt::format("{} ({} of {} tasks done, {} running, {} waiting)", stage_.doing, done,
                                    stage_.tasks.size(), queue.running.size(), queue.waiting.size());
    if (words != told_) progress_.stage(words);
    told_ = std::move(words);
    progress_.update(static_cast<double>(done) / static_cast<double>(stage_.tasks.size()));
  }

 private:
  const FarmStage& stage_;
  Progress& progress_;
  std::string told_;
};

/// False when it was cancelled meanwhile.
bool wait(double seconds, Progress& progress) {
  const auto start = Clock::now();
  do {
    if (progress.cancelled()) return false;
    std::this_thread::sleep_for(breath);
  } while (seconds_since(start) < seconds);
  return !progress.cancelled();
}

}  // namespace

std::filesystem::path FarmStage::file(Index task, std::string_view ending) const {
  return folder / fmt::format("{}_{}.{}", name, task, ending);
}

bool FarmStage::done(Index task) const {
  std::error_code none;
  return std::filesystem::exists(file(task, "done"), none);
}

std::string shell_word(const std::string& text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

Status write_farm_script(const FarmStage& stage, const std::filesystem::path& folder,
                         const std::vector<std::string>& words) {
  std::string command;
  for (const std::string& word : words) command += shell_word(word) + " ";
  const std::string exit = shell_word((stage.folder / stage.name).string()) + "_$task.exit";
  const std::string text = fmt::format(
      "#!/bin/sh\n"
      "task=${{1:-$SLURM_ARRAY_TASK_ID}}\n"
      "rm -f {0}\n"
      "cd {1} || exit 1\n"
      "{2}\"$task\"\n"
      "code=$?\n"
      "echo $code >{0}\n"
      "exit $code\n",
      exit, shell_word(folder.string()), command);
  return write_file_atomically(stage.script(), text, Appear::at_once);
}

Status mark_farm_task_done(const FarmStage& stage, Index task) {
  return write_file_atomically(stage.file(task, "done"), "", Appear::at_once);
}

Result<FarmReport> run_farm_stage(const FarmStage& stage, FarmScheduler& scheduler, int tries, Progress& progress) {
  FarmReport report;
  report.tasks = static_cast<Index>(stage.tasks.size());
  std::map<Index, int> tried;  // of those that aren't done, how often each was handed in
  for (Index task = 0; task < report.tasks; ++task)
    if (!stage.done(task)) tried[task] = 0;
  report.found = report.tasks - static_cast<Index>(tried.size());
  StageProgress told(stage, progress);
  while (!tried.empty()) {
    const Result<FarmQueue> queue = scheduler.look(stage);
    SUPPLE_RETURN_IF_ERROR(queue);
    std::erase_if(tried, [&](const auto& entry) { return stage.done(entry.first); });
    std::vector<Index> missing;
    for (auto& [task, count] : tried) {
      if (queue->holds(task)) continue;
      if (count >= tries || (count > 0 && exit_code(stage, task) == bad_input_exit_code)) {
        scheduler.cancel(stage);
        return failed(stage, task, count);
      }
      if (count++ > 0) ++report.again;
      missing.push_back(task);
    }
    if (!missing.empty()) SUPPLE_RETURN_IF_ERROR(scheduler.submit(stage, missing));
    told.tell(stage.tasks.size() - tried.size(), *queue);
    if (!tried.empty() && !wait(scheduler.patience(), progress)) {
      scheduler.cancel(stage);
      return failure("stopped");
    }
  }
  // Another farm of the same plan may have done what a task of ours is still at.
  while (scheduler.tasks_end_with_us()) {
    const Result<FarmQueue> queue = scheduler.look(stage);
    if (!queue.ok() || queue->running.empty() || !wait(0, progress)) break;
  }
  return report;
}

}  // namespace supple
