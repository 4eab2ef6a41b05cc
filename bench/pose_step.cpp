// SPDX-License-Identifier: Apache-2.0
// A step of the mascot's soft tissue, beside the full simulation of the same mesh and motion.
#include "bench/report.h"

#include "samples/creatures.h"
#include "supple/base/clock.h"
#include "supple/io/gltf/write_character.h"
#include "supple/pipeline/character/compare_full.h"

#include <fmt/format.h>

namespace supple::bench {
namespace {

Status add_size(Report& report, const std::filesystem::path& file, int size, double target, const Options& options) {
  Recipe recipe;
  recipe.input = file.string();
  recipe.flesh.size = size;
  recipe.material.frequency = find_creature_example("mascot")->make().frequency;
  recipe.tets = options.quick ? 4000 : 16'000;
  const auto start = Clock::now();
  const Result<BuiltCharacter> built = build_character(recipe, "");
  SUPPLE_RETURN_IF_ERROR(built);
  const double build_seconds = seconds_since(start);
  CompareSettings settings;
  settings.most_seconds = (options.quick ? 50 : 150) * settings.simulate.time_step;
  FullComparison comparison(*built, built->character().clips.front(), settings);
  CompareReport full;
  SUPPLE_RETURN_IF_ERROR(comparison.run_full(full));
  const Result<CompareRow> result = comparison.run_reduced(built->reduced);
  SUPPLE_RETURN_IF_ERROR(result);
  const auto add = [&](const char* metric, double value, const char* unit, std::optional<double> aim) {
    report.add({.table = "pose/step",
                .row = fmt::format("mascot r={}", size),
                .metric = metric,
                .value = value,
                .unit = unit,
                .target = aim});
  };
  add("step_ms", 1e3 * result->step_seconds, "ms", target);
  add("speedup", full.full_step_seconds / result->step_seconds, "", {});
  add("error_vs_full", result->error, "", 0.15);
  add("largest_motion", 100 * full.peak, "%", 3);
  add("elastic_cubature_error", built->reduced.elastic_error, "", 0.03);
  add("inertial_cubature_error", built->reduced.inertial_error, "", 0.03);
  add("build_s", build_seconds, "s", 30);
  return {};
}

}  // namespace

void add_pose_steps(Report& report, const Options& options) {
  const CreatureExample& example = *find_creature_example("mascot");
  const std::filesystem::path file = std::filesystem::temp_directory_path() / "supple_bench_mascot.glb";
  const Status written = write_character(file, make_character(example.make(), example.vertices));
  for (const auto& [size, target] : {std::pair{45, 0.25}, std::pair{100, 0.8}}) {
    const Status status = written.ok() ? add_size(report, file, size, target, options) : written;
    if (!status.ok())
      report.add({.table = "pose/step",
                  .row = fmt::format("mascot r={}", size),
                  .metric = "step_ms",
                  .target = target,
                  .error = status.error().message});
  }
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
}

}  // namespace supple::bench
