// SPDX-License-Identifier: Apache-2.0
#include "bench/pose_crowd.h"

#include "supple/base/clock.h"
#include "supple/base/parallel.h"
#include "supple/pipeline/character/simulate_clip.h"
#include "supple/runtime/posespace/crowd.h"

#include <algorithm>
#include <cmath>

namespace supple::bench {
namespace {

constexpr double picture_seconds = 1.0 / 90;

/// A hundred instances, each somewhere else in the clip.
class Crowd {
 public:
  static constexpr std::size_t count = 100;
  enum class Skin { none, one_by_one, together };

  Crowd(std::vector<PoseSpaceDynamics<float>> instances, std::vector<CharacterPose> poses)
      : instances_(std::move(instances)), poses_(std::move(poses)), members_(count), reports_(count), skins_(count) {
    for (auto& skin : skins_) skin.resize(to_size(instances_[0].model().surface.vertex_count()));
    shown_.assign(skins_.begin(), skins_.end());
  }

  /// A picture of a display: all take a step and, maybe, show every vertex of their skins.
  void picture(Skin skin) {
    ++round_;
    for (std::size_t i = 0; i < count; ++i) {
      const CharacterPose& pose = poses_[(7 * i + round_) % poses_.size()];
      members_[i] = {pose.placement, pose.p, {}};
    }
    const auto loop = [](std::int64_t n, const auto& body) { parallel_for(n, 1, body); };
    step_crowd<float>(instances_, members_, reports_, 1, loop);
    if (skin == Skin::together) show_crowd<float>(instances_, members_, shown_, loop);
    if (skin == Skin::one_by_one)
      loop(static_cast<std::int64_t>(count), [&](std::int64_t k) {
        const std::size_t i = to_size(k);
        instances_[i].surface_displacements(members_[i].placement, members_[i].p, instances_[i].coordinates(),
                                            shown_[i]);
      });
  }

 private:
  std::vector<PoseSpaceDynamics<float>> instances_;
  std::vector<CharacterPose> poses_;
  std::vector<CrowdMember> members_;
  std::vector<PoseSpaceReport> reports_;
  std::vector<std::vector<Eigen::Vector3f>> skins_;
  std::vector<std::span<Eigen::Vector3f>> shown_;
  std::size_t round_ = 0;
};

Result<Crowd> make_crowd(const BuiltCharacter& built, const Clip& clip, const PoseSpaceSettings& settings) {
  std::vector<CharacterPose> poses;
  const ClipMotion motion(built.rig(), clip, false, built.reduced.model->height);
  CharacterPose pose = built.rig().neutral();
  for (double time = motion.start(); time < clip.duration; time += picture_seconds) {
    motion.sample(time, pose);
    poses.push_back(pose);
  }
  const auto prepared = std::make_shared<const PreparedModel<float>>(built.reduced.model);
  std::vector<PoseSpaceDynamics<float>> instances;
  for (std::size_t i = 0; i < Crowd::count; ++i) {
    Result<PoseSpaceDynamics<float>> dynamics = PoseSpaceDynamics<float>::create(prepared, settings);
    SUPPLE_RETURN_IF_ERROR(dynamics);
    instances.push_back(std::move(*dynamics));
  }
  return Crowd(std::move(instances), std::move(poses));
}

}  // namespace

void add_crowd(Report& report, const Options& options, const BuiltCharacter& built, const Clip& clip,
               const PoseSpaceSettings& settings) {
  struct Kind {
    const char* row;
    Crowd::Skin skin;
    std::optional<double> target;
    std::vector<double> seconds = {};
  };
  Kind kinds[] = {{"gorilla steps/threads2", Crowd::Skin::none, 100},
                  {"gorilla steps+skin/threads2", Crowd::Skin::together, 100},
                  {"gorilla steps+skin one by one/threads2", Crowd::Skin::one_by_one, {}}};
  Result<Crowd> crowd = make_crowd(built, clip, settings);
  if (!crowd.ok()) {
    for (const Kind& kind : kinds)
      report.add({.table = "pose/crowd", .row = kind.row, .metric = "fit_at_90hz", .error = crowd.error().message});
    return;
  }
  set_thread_count(2);
  // In turns: others may use the machine, now more, now less.
  for (int round = 0; round < (options.quick ? 4 : 41); ++round)
    for (Kind& kind : kinds) {
      const auto start = Clock::now();
      crowd->picture(kind.skin);
      if (round > 0) kind.seconds.push_back(seconds_since(start));
    }
  set_thread_count(1);
  for (Kind& kind : kinds) {
    const double seconds = median(kind.seconds);
    const auto add = [&](const char* metric, double value, const char* unit, std::optional<double> target) {
      report.add(
          {.table = "pose/crowd", .row = kind.row, .metric = metric, .value = value, .unit = unit, .target = target});
    };
    add("step_of_100_ms", 1e3 * seconds, "ms", kind.target ? std::optional(1e3 * picture_seconds) : std::nullopt);
    add("fit_at_90hz", std::floor(Crowd::count * picture_seconds / seconds), "", kind.target);
  }
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
