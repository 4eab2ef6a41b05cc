// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/object/haptics.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>

#include <cerrno>
#include <ctime>
#include <numeric>

namespace supple {
namespace {

double microseconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * static_cast<double>(now.tv_nsec);
}

void sleep_until(double due) {
  timespec when{};
  when.tv_sec = static_cast<time_t>(due * 1e-6);
  when.tv_nsec = static_cast<long>((due - 1e6 * static_cast<double>(when.tv_sec)) * 1e3);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr) == EINTR) {
  }
}

/// For as long as it lives the program's memory stays in memory and its thread goes before others, where permitted.
class RealTimePrivileges {
 public:
  RealTimePrivileges() {
    locked = mlockall(MCL_CURRENT | MCL_FUTURE) == 0;
    sched_getparam(0, &before_);
    policy_ = sched_getscheduler(0);
    const sched_param wanted{.sched_priority = sched_get_priority_min(SCHED_FIFO)};
    prioritised = sched_setscheduler(0, SCHED_FIFO, &wanted) == 0;
  }
  ~RealTimePrivileges() {
    if (prioritised) sched_setscheduler(0, policy_, &before_);
    if (locked) munlockall();
  }
  RealTimePrivileges(const RealTimePrivileges&) = delete;
  RealTimePrivileges& operator=(const RealTimePrivileges&) = delete;

  bool locked = false, prioritised = false;

 private:
  sched_param before_{};
  int policy_ = SCHED_OTHER;
};

/// Brings code and data into the caches that a first step would otherwise wait for.
void warm_up(TouchableObject& object, const BallPath& path) {
  for (const BallPathSample& sample : path.samples()) {
    object.contact().reset();
    object.step(sample.ball);
    object.reset();
  }
}

}  // namespace

Result<HapticsRun> run_haptics(const SubspaceModel& model, std::shared_ptr<const BoundedDeformationTree> tree,
                               const BallPath& path, const HapticsSettings& settings, Progress& progress) {
  Result<TouchableObject> object = TouchableObject::create(model, settings.dynamics, settings.contact, std::move(tree));
  SUPPLE_RETURN_IF_ERROR(object);
  const double dt = settings.dynamics.time_step;
  HapticsRun run;
  run.stiffness = object->contact().stiffness();
  run.samples.resize(to_size(std::floor((path.end() - path.begin()) / dt + 1e-9)) + 1);
  std::optional<RealTimePrivileges> privileges;
  if (settings.real_time) privileges.emplace();
  if (privileges) run.locked = privileges->locked, run.prioritised = privileges->prioritised;
  warm_up(*object, path);
  progress.stage("playing");
  const double start = microseconds(CLOCK_MONOTONIC) + 1000;
  for (std::size_t k = 0; k < run.samples.size(); ++k) {
    HapticsSample& sample = run.samples[k];
    sample.time = static_cast<double>(k) * dt;
    const double due = start + 1e6 * sample.time;
    if (settings.real_time) sleep_until(due);
    const double begin = settings.real_time ? due : microseconds(CLOCK_MONOTONIC);
    const double worked = microseconds(CLOCK_THREAD_CPUTIME_ID);
    const Ball ball = path.at(path.begin() + sample.time);
    sample.hand = ball.center;
    sample.contact = object->step(ball);
    sample.processor_us = microseconds(CLOCK_THREAD_CPUTIME_ID) - worked;
    sample.latency_us = microseconds(CLOCK_MONOTONIC) - begin;
    run.incomplete += !sample.contact.complete;
    run.recovered += object->last_step().recovered;
    if (k % 256 != 0) continue;
    progress.update(static_cast<double>(k) / static_cast<double>(run.samples.size()));
    if (progress.cancelled()) return failure("cancelled");
  }
  return run;
}

LatencySummary summarize_latencies(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto rank = to_size(std::ceil(0.999 * static_cast<double>(values.size()))) - 1;
  return {.mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size()),
          .p999 = values[rank],
          .worst = values.back(),
          .above_millisecond = static_cast<int>(values.end() - std::upper_bound(values.begin(), values.end(), 1000.0))};
}

namespace {

std::vector<double> collect(const HapticsRun& run, double HapticsSample::*member) {
  std::vector<double> values;
  values.reserve(run.samples.size());
  for (const HapticsSample& sample : run.samples) values.push_back(sample.*member);
  return values;
}

}  // namespace

LatencySummary wall_latency(const HapticsRun& run) {
  return summarize_latencies(collect(run, &HapticsSample::latency_us));
}
LatencySummary processor_latency(const HapticsRun& run) {
  return summarize_latencies(collect(run, &HapticsSample::processor_us));
}

std::string encode_haptics_csv(const HapticsRun& run) {
  std::string text =
      "time,hand_x,hand_y,hand_z,tool_x,tool_y,tool_z,force_x,force_y,force_z,contacts,depth,latency_us,processor_us\n";
  const auto out = std::back_inserter(text);
  for (const HapticsSample& s : run.samples) {
    fmt::format_to(out, "{:.6g}", s.time);
    for (const Vec3& v : {s.hand, s.contact.tool, s.contact.force})
      fmt::format_to(out, ",{:.7g},{:.7g},{:.7g}", v.x(), v.y(), v.z());
    fmt::format_to(out, ",{},{:.6g},{:.2f},{:.2f}\n", s.contact.contacts, s.contact.depth, s.latency_us,
                   s.processor_us);
  }
  return text;
}

}  // namespace supple
