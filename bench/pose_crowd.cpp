// SPDX-License-Identifier: Apache-2.0
#include "bench/pose_crowd.h"

#include "supple/base/clock.h"
#include "supple/base/parallel.h"
#include "supple/pipeline/character/simulate_clip.h"

#include <algorithm>
#include <cmath>

namespace supple::bench {
namespace {

constexpr double picture_seconds = 1.0 / 90;

struct Instance {
  PoseSpaceDynamics<float> dynamics;
  std::size_t moment;  ///< in the clip, of the first step
};

/// Seconds of one step of all, the median of many; `shown`: with every vertex of the skin.
double crowd_seconds(std::vector<Instance>& crowd, const std::vector<CharacterPose>& poses, int rounds, bool shown) {
  std::vector<std::vector<Eigen::Vector3f>> skins(crowd.size());
  for (auto& skin : skins) skin.resize(to_size(crowd[0].dynamics.model().surface.vertex_count()));
  std::size_t round = 0;
  return 1e-3 * median_ms(rounds, [&] {
           ++round;
           parallel_for(std::ssize(crowd), 1, [&](std::int64_t i) {
             Instance& one = crowd[to_size(i)];
             const CharacterPose& pose = poses[(one.moment + round) % poses.size()];
             one.dynamics.step(pose.placement, pose.p);
             if (shown)
               one.dynamics.surface_displacements(pose.placement, pose.p, one.dynamics.coordinates(),
                                                  skins[to_size(i)]);
           });
         });
}

}  // namespace

void add_crowd(Report& report, const Options& options, const BuiltCharacter& built, const Clip& clip,
               const PoseSpaceSettings& settings) {
  std::vector<CharacterPose> poses;
  const ClipMotion motion(built.rig(), clip, false, built.reduced.model->height);
  CharacterPose pose = built.rig().neutral();
  for (double time = 0; time < clip.duration; time += picture_seconds) {
    motion.sample(time, pose);
    poses.push_back(pose);
  }
  const auto prepared = std::make_shared<const PreparedModel<float>>(built.reduced.model);
  std::vector<Instance> crowd;
  for (std::size_t i = 0; i < 100; ++i) {
    Result<PoseSpaceDynamics<float>> dynamics = PoseSpaceDynamics<float>::create(prepared, settings);
    if (!dynamics.ok()) return;
    crowd.push_back({std::move(*dynamics), i * 7 % poses.size()});
  }
  set_thread_count(2);
  for (const bool shown : {false, true}) {
    const double seconds = crowd_seconds(crowd, poses, options.quick ? 3 : 31, shown);
    const auto add = [&](const char* metric, double value, const char* unit, std::optional<double> target) {
      report.add({.table = "pose/crowd",
                  .row = shown ? "gorilla steps+skin/threads2" : "gorilla steps/threads2",
                  .metric = metric,
                  .value = value,
                  .unit = unit,
                  .target = target});
    };
    add("step_of_100_ms", 1e3 * seconds, "ms", 1e3 * picture_seconds);
    add("fit_at_90hz", std::floor(100 * picture_seconds / seconds), "", 100);
  }
  set_thread_count(1);
}

LargeCharacter::LargeCharacter(const Options& options) : folder_("mascot") {
  status_ = folder_.write();
  if (!status_.ok()) return;
  recipe_ = folder_.recipe();
  recipe_.tets = options.quick ? 4000 : 50'000;
  recipe_.flesh.size = options.quick ? 30 : 120;
  const Result<BuildCost> cost = measure_build(folder_, recipe_);
  if (cost.ok())
    cost_ = *cost;
  else
    status_ = cost.error();
}

Status LargeCharacter::add_rows(Report& report) {
  SUPPLE_RETURN_IF_ERROR(status_);
  const Result<BuiltCharacter> built = build_again(folder_, recipe_);
  SUPPLE_RETURN_IF_ERROR(built);
  SimulateSettings simulate;
  simulate.time_step = picture_seconds;
  const PoseSpaceSettings settings = dynamics_settings(simulate, built->reduced.flesh_frequency);
  Result<PoseSpaceDynamics<float>> dynamics = PoseSpaceDynamics<float>::create(built->reduced.model, settings);
  SUPPLE_RETURN_IF_ERROR(dynamics);
  const Clip& clip = built->character().clips.front();
  const ClipMotion motion(built->rig(), clip, false, built->reduced.model->height);
  CharacterPose pose = built->rig().neutral();
  std::vector<double> steps, surfaces;
  std::vector<Eigen::Vector3f> shown(to_size(built->reduced.model->surface.vertex_count()));
  for (double time = 0; time < 3; time += picture_seconds) {
    motion.sample(std::fmod(time, clip.duration), pose);
    auto start = Clock::now();
    dynamics->step(pose.placement, pose.p);
    steps.push_back(1e3 * seconds_since(start));
    start = Clock::now();
    dynamics->surface_displacements(pose.placement, pose.p, dynamics->coordinates(), shown);
    surfaces.push_back(1e3 * seconds_since(start));
  }
  const auto add = [&](const char* metric, double value, const char* unit, std::optional<double> peer = {},
                       std::optional<double> target = {}) {
    report.add({.table = "pose/large",
                .row = "mascot",
                .metric = metric,
                .value = value,
                .unit = unit,
                .peer = peer,
                .target = target});
  };
  const auto median = [](std::vector<double>& values) {
    std::nth_element(values.begin(), values.begin() + std::ssize(values) / 2, values.end());
    return values[values.size() / 2];
  };
  add("tets", static_cast<double>(built->reduced.mesh.elements.size()), "", {}, 50'000);
  add("coordinates", built->reduced.model->size(), "", {}, 120);
  add("skin_vertices", static_cast<double>(shown.size()), "");
  add("step_ms", median(steps), "ms", 2.35, 0.5);
  add("positions_ms", median(surfaces), "ms", 4.25, 1);
  add("build_s", cost_.seconds, "s", 25, 60);
  add("build_memory_gib", cost_.peak_memory / (1 << 30), "GiB");
  add("elastic_error", built->reduced.elastic_error, "", {}, 0.03);
  add("posed_error", built->reduced.posed_error, "", {}, 0.04);
  return {};
}

void LargeCharacter::measure(Report& report) {
  const Status status = add_rows(report);
  if (!status.ok())
    report.add(
        {.table = "pose/large", .row = "mascot", .metric = "step_ms", .target = 0.5, .error = status.error().message});
}

}  // namespace supple::bench
