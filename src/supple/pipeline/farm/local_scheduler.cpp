// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supple/pipeline/farm/farm_stage.h"

#include <csignal>
#include <deque>
#include <limits>
#include <map>

extern char** environ;

namespace supple {
namespace {

class LocalScheduler final : public FarmScheduler {
 public:
  explicit LocalScheduler(int slots) : slots_(to_size(slots)) {}
  ~LocalScheduler() override { end_all(); }

  std::string name() const override {
    return fmt::format("{} {} of this machine", slots_, slots_ == 1 ? "slot" : "slots");
  }
  Index most_tasks() const override { return std::numeric_limits<Index>::max(); }
  double patience() const override { return 0; }
  bool tasks_end_with_us() const override { return true; }

  Status submit(const FarmStage& stage, std::span<const Index> tasks) override {
    waiting_.insert(waiting_.end(), tasks.begin(), tasks.end());
    return start(stage);
  }

  Result<FarmQueue> look(const FarmStage& stage) override {
    std::erase_if(running_, [](const auto& entry) { return ::waitpid(entry.second, nullptr, WNOHANG) != 0; });
    SUPPLE_RETURN_IF_ERROR(start(stage));
    FarmQueue queue;
    for (const auto& [task, process] : running_) queue.running.insert(task);
    queue.waiting.insert(waiting_.begin(), waiting_.end());
    return queue;
  }

  void cancel(const FarmStage& /*stage*/) override { end_all(); }

 private:
  Status start(const FarmStage& stage) {
    for (; running_.size() < slots_ && !waiting_.empty(); waiting_.pop_front())
      if (!stage.done(waiting_.front())) SUPPLE_RETURN_IF_ERROR(start(stage, waiting_.front()));
    return {};
  }

  /// A group of its own, so that the task ends with all that it has started.
  Status start(const FarmStage& stage, Index task) {
    std::string shell = "sh", script = stage.script().string(), number = std::to_string(task);
    char* words[] = {shell.data(), script.data(), number.data(), nullptr};
    const std::string log = stage.file(task, "log").string();
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    pid_t process = -1;
    const int error = ::posix_spawn(&process, "/bin/sh", &files, &attributes, words, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    if (error != 0) return failure(fmt::format("{} can't be started", script));
    running_[task] = process;
    return {};
  }

  void end_all() {
    waiting_.clear();
    for (const auto& [task, process] : running_) ::kill(-process, SIGKILL);
    for (const auto& [task, process] : running_) ::waitpid(process, nullptr, 0);
    running_.clear();
  }

  std::size_t slots_;
  std::deque<Index> waiting_;
  std::map<Index, pid_t> running_;
};

}  // namespace

std::unique_ptr<FarmScheduler> local_scheduler(int slots) { return std::make_unique<LocalScheduler>(slots); }

}  // namespace supple
