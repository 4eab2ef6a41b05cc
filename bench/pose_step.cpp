// SPDX-License-Identifier: Apache-2.0
// A step of the mascot's soft tissue, beside the full simulation of the same mesh and motion.
#include "bench/report.h"

#include "scenes/creatures.h"
#include "supple/base/clock.h"
#include "supple/io/gltf/write_character.h"
#include "supple/offline/posespace/full_pose_dynamics.h"
#include "supple/pipeline/build_character.h"
#include "supple/pipeline/simulate_clip.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace supple::bench {
namespace {

struct StepResult {
  double step_ms = 0, full_ms = 0, error = 0;
};

/// Both simulations side by side; the error is over the vertices that are shown and all steps.
Result<StepResult> run_beside_full(const BuiltCharacter& built, const Clip& clip, int most_steps) {
  const ReducedBody& reduced = built.reduced;
  const PoseSpaceModel& model = *reduced.model;
  const SimulateSettings settings;
  const PoseSpaceSettings dynamics = dynamics_settings(settings, reduced.flesh_frequency);
  Result<PoseSpaceDynamics<float>> soft = PoseSpaceDynamics<float>::create(reduced.model, dynamics);
  if (!soft.ok()) return soft.error();
  Result<FullPoseDynamics> full =
      FullPoseDynamics::create(reduced.mesh, model.material, reduced.fixed, model.rest, dynamics, &reduced.frames);
  if (!full.ok()) return full.error();
  const ClipMotion motion(built.rig, clip, false, model.height);
  const int steps = std::min(most_steps, static_cast<int>(clip.duration / settings.time_step));
  CharacterPose pose = built.rig.neutral();
  std::vector<Vec3> shown(static_cast<std::size_t>(model.surface.vertex_count()));
  std::vector<double> step_seconds;
  StepResult result;
  double difference = 0, size = 0;
  for (int k = 0; k < steps; ++k) {
    motion.sample(k * settings.time_step, pose);
    auto start = Clock::now();
    soft->step(pose.placement, pose.p);
    step_seconds.push_back(seconds_since(start));
    start = Clock::now();
    full->step(pose.placement, pose.p);
    result.full_ms += 1e3 * seconds_since(start) / steps;
    soft->surface_displacements({}, pose.p, soft->coordinates(), shown);
    const MatX truth = built.body.body.embedding.interpolate(full->displacements());
    for (std::size_t v = 0; v < shown.size(); ++v) {
      const Vec3 u = truth.col(0).segment<3>(3 * static_cast<Eigen::Index>(v));
      difference += (u - shown[v]).squaredNorm();
      size += u.squaredNorm();
    }
  }
  std::nth_element(step_seconds.begin(), step_seconds.begin() + steps / 2, step_seconds.end());
  result.step_ms = 1e3 * step_seconds[static_cast<std::size_t>(steps / 2)];
  result.error = std::sqrt(difference / size);
  return result;
}

Status add_size(Report& report, const std::filesystem::path& file, int size, double target, const Options& options) {
  Recipe recipe;
  recipe.input = file.string();
  recipe.flesh.size = size;
  recipe.tets = options.quick ? 4000 : 16'000;
  const auto start = Clock::now();
  const Result<BuiltCharacter> built = build_character(recipe, "");
  if (!built.ok()) return built.error();
  const double build_seconds = seconds_since(start);
  const Result<StepResult> result = run_beside_full(*built, built->character().clips.front(), options.quick ? 50 : 150);
  if (!result.ok()) return result.error();
  const auto add = [&](const char* metric, double value, const char* unit, std::optional<double> aim) {
    report.add({.table = "pose/step",
                .row = fmt::format("mascot r={}", size),
                .metric = metric,
                .value = value,
                .unit = unit,
                .target = aim});
  };
  add("step_ms", result->step_ms, "ms", target);
  add("speedup", result->full_ms / result->step_ms, "", {});
  add("error_vs_full", result->error, "", 0.15);
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
