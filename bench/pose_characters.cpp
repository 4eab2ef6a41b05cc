// SPDX-License-Identifier: Apache-2.0
// Table 3 of the 2016 paper: our arm, X, bear and gorilla, each beside the full simulation of its own mesh over a
// second of a clip, in steps of 1/90 s as there. The paper's times are of eight threads (one core: gorilla 4.2 ms).
#include "bench/pose_crowd.h"
#include "bench/pose_figures.h"
#include "bench/pose_stages.h"

#include "supple/asset/character_archive.h"
#include "supple/base/clock.h"
#include "supple/offline/dynamics/full_pose_dynamics.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace supple::bench {
namespace {

constexpr double gorilla_one_core_ms = 4.2;

struct Candidate {
  const PublishedCreature* published;
  std::unique_ptr<CreatureFolder> folder;
  Recipe recipe = {};
  BuildCost cost = {};
  Status status = {};
};

struct Steps {
  double step_ms = 0, full_step_ms = 0, speedup = 0, iterations = 0;
  double shown_step_ms = 0, surface_ms = 0;
};

/// Both simulations of a clip, timed.
class TimedClip {
 public:
  TimedClip(const FullComparison& comparison, PoseSpaceDynamics<float>& dynamics, FullPoseDynamics& full,
            CharacterPose& pose)
      : comparison_(comparison), dynamics_(dynamics), full_(full), pose_(pose) {}

  /// What is left in the pose is the clip's last moment.
  Steps run() {
    compare();
    look();
    return result_;
  }

 private:
  static constexpr int turns = 9;

  /// In turns, a part of the clip in full and then all of it reduced: others may use the machine, now more, now less.
  void compare() {
    std::vector<double> steps, full_steps, ratios;
    for (int turn = 0; turn < turns; ++turn) {
      std::vector<double> some, some_full;
      for (int k = comparison_.steps() * turn / turns; k < comparison_.steps() * (turn + 1) / turns; ++k) {
        comparison_.sample(k, pose_);
        some_full.push_back(timed([&] { full_.step(pose_.placement, pose_.p); }));
      }
      for (int k = 0; k < comparison_.steps(); ++k) some.push_back(reduced_step(k));
      dynamics_.cut();
      steps.insert(steps.end(), some.begin(), some.end());
      full_steps.insert(full_steps.end(), some_full.begin(), some_full.end());
      ratios.push_back(median(some_full) / median(some));
    }
    result_.iterations = static_cast<double>(iterations_) / static_cast<double>(steps.size());
    result_.step_ms = 1e3 * median(steps);
    result_.full_step_ms = 1e3 * median(full_steps);
    result_.speedup = median(ratios);
  }

  /// With the skin after every step, which throws the step's numbers out of the nearer caches.
  void look() {
    std::vector<double> steps, surfaces;
    std::vector<Eigen::Vector3f> shown(to_size(dynamics_.model().surface.vertex_count()));
    for (int round = 0; round < 3; ++round) {
      for (int k = 0; k < comparison_.steps(); ++k) {
        steps.push_back(reduced_step(k));
        surfaces.push_back(
            timed([&] { dynamics_.surface_displacements(pose_.placement, pose_.p, dynamics_.coordinates(), shown); }));
      }
      dynamics_.cut();
    }
    result_.shown_step_ms = 1e3 * median(steps);
    result_.surface_ms = 1e3 * median(surfaces);
  }

  double reduced_step(int k) {
    comparison_.sample(k, pose_);
    return timed([&] { iterations_ += dynamics_.step(pose_.placement, pose_.p).solver_iterations; });
  }

  /// In seconds.
  template <class Work>
  static double timed(const Work& work) {
    const auto start = Clock::now();
    work();
    return seconds_since(start);
  }

  const FullComparison& comparison_;
  PoseSpaceDynamics<float>& dynamics_;
  FullPoseDynamics& full_;
  CharacterPose& pose_;
  long iterations_ = 0;
  Steps result_;
};

Result<FullPoseDynamics> full_simulation(const BuiltCharacter& built, const PoseSpaceSettings& settings) {
  const ReducedBody& reduced = built.reduced;
  return FullPoseDynamics::create(reduced.mesh, reduced.model->material, reduced.fixed, reduced.model->rest, settings,
                                  &reduced.frames);
}

double asset_megabytes(const ReducedBody& reduced) {
  CharacterAsset asset;
  asset.model = reduced.model;
  const Result<std::string> bytes = encode_character(asset);
  return bytes.ok() ? static_cast<double>(bytes->size()) / 1e6 : 0;
}

class CharacterRows {
 public:
  CharacterRows(Report& report, const Options& options, Candidate& candidate)
      : report_(report), options_(options), c_(candidate), paper_(*candidate.published) {}

  Status run() {
    SUPPLE_RETURN_IF_ERROR(c_.status);
    const Result<BuiltCharacter> built = build_again(*c_.folder, c_.recipe);
    SUPPLE_RETURN_IF_ERROR(built);
    const Clip* clip = find_clip(*built, paper_.clip);
    if (clip == nullptr) return failure(fmt::format("there is no clip {}", paper_.clip));
    const CompareSettings settings = figure_settings(options_.quick);
    FullComparison comparison(*built, *clip, settings);
    CompareReport full;
    SUPPLE_RETURN_IF_ERROR(comparison.run_full(full));
    const Result<CompareRow> row = comparison.run_reduced(built->reduced);
    SUPPLE_RETURN_IF_ERROR(row);
    Result<PoseSpaceDynamics<float>> dynamics =
        PoseSpaceDynamics<float>::create(built->reduced.model, comparison.dynamics());
    SUPPLE_RETURN_IF_ERROR(dynamics);
    Result<FullPoseDynamics> full_dynamics = full_simulation(*built, comparison.dynamics());
    SUPPLE_RETURN_IF_ERROR(full_dynamics);
    CharacterPose pose = built->rig().neutral();
    const Steps steps = TimedClip(comparison, *dynamics, *full_dynamics, pose).run();
    add_times(steps, full, *row);
    add_sizes(built->reduced);
    add_accuracy(built->reduced);
    add_as_published(*built, *clip);
    add_stages(report_, paper_.name, measure_stages(*dynamics, pose, steps.iterations), is_gorilla());
    if (is_gorilla()) add_crowd(report_, options_, *built, *clip, comparison.dynamics());
    add_figures(report_, options_, {*c_.folder, c_.recipe, paper_, *built, comparison, full, *row});
    return {};
  }

 private:
  bool is_bear() const { return std::string_view(paper_.name) == "bear"; }
  bool is_gorilla() const { return std::string_view(paper_.name) == "gorilla"; }
  void add(const char* metric, double value, const char* unit, std::optional<double> paper = {},
           std::optional<double> target = {}) {
    report_.add({.table = "pose/table3",
                 .row = paper_.name,
                 .metric = metric,
                 .value = value,
                 .unit = unit,
                 .paper = paper,
                 .target = target});
  }

  void add_times(const Steps& steps, const CompareReport& full, const CompareRow& row) {
    add("step_ms", steps.step_ms, "ms", paper_.step_ms, paper_.target_ms);
    if (is_gorilla()) add("step_ms_one_core", steps.step_ms, "ms", gorilla_one_core_ms, paper_.target_ms);
    add("surface_ms", steps.surface_ms, "ms");
    add("step_and_surface_ms", steps.shown_step_ms + steps.surface_ms, "ms", paper_.step_ms);
    add("solver_iterations", steps.iterations, "");
    add("full_step_ms", steps.full_step_ms, "ms");
    add("speedup", steps.speedup, "", paper_.speedup, is_bear() ? 80 : 120);
    add("error_vs_full", row.error, "");
    add("projection_error", row.projection, "");
    add("largest_motion", 100 * full.peak, "%", {}, 3);
  }

  void add_sizes(const ReducedBody& reduced) {
    const PoseSpaceModel& model = *reduced.model;
    add("mesh_vertices", static_cast<double>(reduced.mesh.vertices.size()), "", paper_.mesh_vertices);
    add("tets", static_cast<double>(reduced.mesh.elements.size()), "", paper_.tets);
    add("skin_vertices", model.surface.vertex_count(), "", paper_.skin_vertices);
    add("coordinates", model.size(), "", paper_.size);
    add("regions", static_cast<double>(std::max<std::size_t>(1, reduced.patch_sizes.size())), "", paper_.patches);
    add("poses", model.pose_count(), "", paper_.poses);
    add("cubature_elements", model.element_count(), "", paper_.elements);
    add("cubature_vertices", model.inertial_vertex_count(), "", paper_.inertial_vertices);
    add("asset_mb", asset_megabytes(reduced), "MB", paper_.memory_mb, is_bear() ? std::optional(7.3) : std::nullopt);
  }

  void add_accuracy(const ReducedBody& reduced) {
    add("elastic_error", reduced.elastic_error, "", {}, 0.03);
    add("posed_error", reduced.posed_error, "", {}, 0.04);
    add("worst_posed_error", reduced.worst_posed_error, "");
    add("inertial_error", reduced.inertial_error, "", {}, 0.03);
    add("build_s", c_.cost.seconds, "s", {}, is_gorilla() ? std::optional(90.0) : std::nullopt);
    add("build_memory_gib", c_.cost.peak_memory / (1 << 30), "GiB", {}, 3);
  }

  /// With the paper's material and its numbers of elements and vertices, beside a full simulation of that material.
  void add_as_published(const BuiltCharacter& built, const Clip& clip) {
    const Status status = measure_as_published(built, clip);
    if (!status.ok())
      report_.add(
          {.table = "pose/table3", .row = published_row(), .metric = "error_vs_full", .error = status.error().message});
  }
  std::string published_row() const { return fmt::format("{} {}", paper_.name, to_string(paper_.material)); }
  Status measure_as_published(BuiltCharacter built, const Clip& clip) {
    Recipe recipe = c_.recipe;
    recipe.material.model = paper_.material;
    Result<ReducedBody> reduced =
        reduce_again(*c_.folder, recipe, built,
                     options_.quick ? CubatureCounts{} : CubatureCounts{paper_.elements, paper_.inertial_vertices});
    SUPPLE_RETURN_IF_ERROR(reduced);
    built.reduced = std::move(*reduced);
    FullComparison comparison(built, clip, figure_settings(options_.quick));
    CompareReport full;
    SUPPLE_RETURN_IF_ERROR(comparison.run_full(full));
    const Result<CompareRow> row = comparison.run_reduced(built.reduced);
    SUPPLE_RETURN_IF_ERROR(row);
    const auto add_own = [&](const char* metric, double value, const char* unit, std::optional<double> paper = {}) {
      report_.add({.table = "pose/table3",
                   .row = published_row(),
                   .metric = metric,
                   .value = value,
                   .unit = unit,
                   .paper = paper});
    };
    add_own("step_ms", 1e3 * row->step_seconds, "ms", paper_.step_ms);
    add_own("cubature_elements", built.reduced.model->element_count(), "", paper_.elements);
    add_own("cubature_vertices", built.reduced.model->inertial_vertex_count(), "", paper_.inertial_vertices);
    add_own("error_vs_full", row->error, "");
    add_own("projection_error", row->projection, "");
    add_own("largest_motion", 100 * full.peak, "%");
    add_own("elastic_error", built.reduced.elastic_error, "");
    add_own("posed_error", built.reduced.posed_error, "");
    add_own("inertial_error", built.reduced.inertial_error, "");
    return {};
  }

  Report& report_;
  const Options& options_;
  Candidate& c_;
  const PublishedCreature& paper_;
};

Candidate build_candidate(const PublishedCreature& published, const Options& options) {
  Candidate candidate{&published, std::make_unique<CreatureFolder>(published.example)};
  candidate.status = candidate.folder->write();
  if (!candidate.status.ok()) return candidate;
  candidate.recipe = paper_recipe(*candidate.folder, published, options.quick);
  const Result<BuildCost> cost = measure_build(*candidate.folder, candidate.recipe);
  if (cost.ok())
    candidate.cost = *cost;
  else
    candidate.status = cost.error();
  return candidate;
}

}  // namespace

void add_pose_characters(Report& report, const Options& options) {
  std::vector<Candidate> candidates;
  for (const PublishedCreature& published : table3()) {
    if (options.wants(published.name)) candidates.push_back(build_candidate(published, options));
  }
  std::optional<LargeCharacter> large;
  if (options.wants("large")) large.emplace(options);
  for (Candidate& candidate : candidates) {
    const Status status = CharacterRows(report, options, candidate).run();
    if (!status.ok())
      report.add({.table = "pose/table3",
                  .row = candidate.published->name,
                  .metric = "step_ms",
                  .target = candidate.published->target_ms,
                  .error = status.error().message});
  }
  if (large) large->measure(report);
}

}  // namespace supple::bench
