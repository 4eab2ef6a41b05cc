// SPDX-License-Identifier: Apache-2.0
// Job arrays: sbatch hands tasks in, squeue tells of them, scancel ends them. Jobs are known by a name that only this
// stage in this folder has, so that whoever comes after a waiter that died finds them again.
#include <fmt/format.h>

#include "supple/base/content_hash.h"
#include "supple/pipeline/farm/farm_stage.h"

#include <sys/wait.h>

#include <charconv>
#include <cstdio>
#include <sstream>

namespace supple {
namespace {

struct Answer {
  int code = -1;
  std::string text;  ///< what was printed, errors too
};

Answer ask(const std::vector<std::string>& words) {
  std::string command;
  for (const std::string& word : words) command += shell_word(word) + " ";
  Answer answer;
  FILE* pipe = ::popen((command + "2>&1 </dev/null").c_str(), "re");
  if (pipe == nullptr) return answer;
  char buffer[4096];
  for (std::size_t read = 0; (read = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) answer.text.append(buffer, read);
  const int status = ::pclose(pipe);
  answer.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  answer.text.erase(answer.text.find_last_not_of(" \n\r\t") + 1);
  return answer;
}

/// "0-3,7"
std::string ranges_of(std::span<const Index> tasks) {
  std::string text;
  for (std::size_t k = 0; k < tasks.size();) {
    std::size_t last = k;
    while (last + 1 < tasks.size() && tasks[last + 1] == tasks[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += last > k ? fmt::format("{}-{}", tasks[k], tasks[last]) : fmt::format("{}", tasks[k]);
    k = last + 1;
  }
  return text;
}

std::string job_name(const FarmStage& stage) {
  const std::string folder = ContentHash().add(std::string_view(stage.folder.string())).text();
  return fmt::format("supple-{}-{}", stage.name, folder.substr(0, 12));
}

/// A name in --output, where % stands for something else.
std::string log_pattern(const FarmStage& stage) {
  std::string text;
  for (const char c : (stage.folder / stage.name).string()) text += c == '%' ? std::string("%%") : std::string(1, c);
  return text + "_%a.log";
}

class SlurmScheduler final : public FarmScheduler {
 public:
  explicit SlurmScheduler(SlurmSettings settings) : settings_(std::move(settings)) {}

  std::string name() const override { return "Slurm"; }
  double patience() const override { return 1; }

  Index most_tasks() const override {
    constexpr Index usual = 1000;
    std::istringstream lines(ask({"scontrol", "show", "config"}).text);
    for (std::string key, sign, value, line; std::getline(lines, line);) {
      std::istringstream words(line);
      if (!(words >> key >> sign >> value) || key != "MaxArraySize") continue;
      Index most = 0;
      std::from_chars(value.data(), value.data() + value.size(), most);
      return std::max<Index>(most - 1, 1);
    }
    return usual;
  }

  Status submit(const FarmStage& stage, std::span<const Index> tasks) override {
    std::vector<std::string> words = {"sbatch",
                                      "--parsable",
                                      "--requeue",
                                      "--open-mode=append",
                                      "--job-name=" + job_name(stage),
                                      "--array=" + ranges_of(tasks),
                                      fmt::format("--cpus-per-task={}", settings_.processors),
                                      "--output=" + log_pattern(stage)};
    words.insert(words.end(), settings_.options.begin(), settings_.options.end());
    words.push_back(stage.script().string());
    const Answer answer = ask(words);
    if (answer.code == 0) return {};
    return failure(fmt::format("Slurm doesn't take the tasks of \"{}\": {}", stage.name, answer.text));
  }

  Result<FarmQueue> look(const FarmStage& stage) override {
    const Answer answer =
        ask({"squeue", "--me", "--noheader", "--array", "--name=" + job_name(stage), "--format=%K %t %A %r"});
    constexpr int most_silence = 60;
    if (answer.code != 0) {
      // A controller that is started anew doesn't answer for a while, and nothing is known of the tasks meanwhile.
      if (++silent_ < most_silence) return last_;
      return failure(fmt::format("Slurm doesn't answer any more: {}", answer.text));
    }
    silent_ = 0;
    last_ = {};
    std::istringstream lines(answer.text);
    for (std::string line; std::getline(lines, line);) take_line(line);
    return last_;
  }

  void cancel(const FarmStage& stage) override { ask({"scancel", "--quiet", "--name=" + job_name(stage)}); }

 private:
  /// "TASK STATE JOB REASON"
  void take_line(const std::string& line) {
    std::istringstream words(line);
    std::string state, job, reason;
    Index task = -1;
    if (!(words >> task >> state >> job)) return;
    std::getline(words >> std::ws, reason);
    // What a node could not even start waits until somebody lets it go: it is ended here, and handed in again.
    if (state == "PD" && reason.starts_with("launch failed"))
      ask({"scancel", "--quiet", job});
    else
      (state == "PD" ? last_.waiting : last_.running).insert(task);
  }

  SlurmSettings settings_;
  FarmQueue last_;
  int silent_ = 0;  ///< looks without an answer
};

}  // namespace

std::string why_no_slurm(bool& installed) {
  installed = ask({"sbatch", "--version"}).code == 0;
  if (!installed) return "Slurm isn't installed";
  const Answer answer = ask({"timeout", "20", "scontrol", "ping"});
  return answer.code == 0 ? std::string() : fmt::format("Slurm doesn't answer: {}", answer.text);
}

std::unique_ptr<FarmScheduler> slurm_scheduler(SlurmSettings settings) {
  return std::make_unique<SlurmScheduler>(std::move(settings));
}

}  // namespace supple
