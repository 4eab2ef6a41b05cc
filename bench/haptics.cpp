// SPDX-License-Identifier: Apache-2.0
// Contact at haptic rates (2005 paper, Figure 1): a ball against the bridge, 60 s at 1 kHz. The paper promises a hard
// 1000 µs for every step and prints no measured time. It is the processor time of this thread that has to keep the
// promise: wall-clock rows suffer from whatever else the machine does, and stand beside it without a target.
#include "bench/report.h"

#include "samples/haptics_bridge.h"
#include "supple/pipeline/object/haptics.h"

namespace supple::bench {
namespace {

constexpr double deadline_us = 1000;

void add(Report& report, const std::string& metric, double value, const std::string& unit,
         std::optional<double> deadline = {}) {
  report.add({.table = "subspace/haptics",
              .row = "bridge",
              .metric = metric,
              .value = value,
              .unit = unit,
              .paper = deadline,
              .target = deadline});
}

void add_latency(Report& report, const std::string& suffix, const LatencySummary& latency,
                 std::optional<double> deadline) {
  add(report, "mean_us" + suffix, latency.mean, "us");
  add(report, "p999_us" + suffix, latency.p999, "us");
  add(report, "worst_us" + suffix, latency.worst, "us", deadline);
  add(report, "steps_above_1ms" + suffix, latency.above_millisecond, "1");
}

/// The largest change of the force from one step to the next, against the largest force: what a hand feels as a click.
double roughness(const HapticsRun& run) {
  double jump = 0, largest = 0;
  for (std::size_t k = 1; k < run.samples.size(); ++k) {
    const Vec3 &now = run.samples[k].contact.force, &before = run.samples[k - 1].contact.force;
    jump = std::max(jump, (now - before).norm());
    largest = std::max(largest, now.norm());
  }
  return largest > 0 ? jump / largest : 0;
}

}  // namespace

void add_subspace_haptics(Report& report, const Options& options) {
  const auto fail = [&](const Error& error) {
    report.add({.table = "subspace/haptics", .row = "bridge", .metric = "worst_us_processor", .error = error.message});
  };
  if (options.quick) return fail(failure("left out by --quick"));
  const Result<SubspaceModel> model = make_haptics_bridge();
  if (!model.ok()) return fail(model.error());
  const auto tree = std::make_shared<const BoundedDeformationTree>(model->surface);
  const BallPath path = make_ball_path(*tree, suitable_ball_radius(*tree));
  const Result<HapticsRun> run = run_haptics(*model, tree, path, {});
  if (!run.ok()) return fail(run.error());
  add_latency(report, "", wall_latency(*run), {});
  add_latency(report, "_processor", processor_latency(*run), deadline_us);
  add(report, "incomplete_steps", run->incomplete, "1");
  add(report, "largest_force_change", roughness(*run), "1");
}

}  // namespace supple::bench
