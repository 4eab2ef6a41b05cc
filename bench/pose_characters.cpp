// SPDX-License-Identifier: Apache-2.0
// Table 3 of the 2016 paper: our arm, X, bear and gorilla, each beside the full simulation of its own mesh over a
// second of a clip, in steps of 1/90 s as there. The paper's times are of eight threads (one core: gorilla 4.2 ms).
#include "bench/pose_crowd.h"
#include "bench/pose_figures.h"
#include "bench/pose_stages.h"

#include "supple/asset/character_archive.h"
#include "supple/base/clock.h"

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

double median(std::vector<double>& values) {
  std::nth_element(values.begin(), values.begin() + std::ssize(values) / 2, values.end());
  return values[values.size() / 2];
}

struct Steps {
  double step_ms = 0, shown_step_ms = 0, surface_ms = 0, iterations = 0;
};

/// The clip without looking at it, and again with the skin after every step, which throws the step's numbers out of the
/// nearer caches; each twice over. What is left in `pose` is its last moment.
Steps run_steps(PoseSpaceDynamics<float>& dynamics, const FullComparison& comparison, CharacterPose& pose) {
  std::vector<double> steps, shown_steps, surfaces;
  std::vector<Vec3> shown(static_cast<std::size_t>(dynamics.model().surface.vertex_count()));
  Steps result;
  for (int round = 0; round < 4; ++round) {
    const bool look = round >= 2;
    for (int k = 0; k < comparison.steps(); ++k) {
      comparison.sample(k, pose);
      auto start = Clock::now();
      result.iterations += dynamics.step(pose.placement, pose.p).solver_iterations / (4.0 * comparison.steps());
      (look ? shown_steps : steps).push_back(seconds_since(start));
      if (!look) continue;
      start = Clock::now();
      dynamics.surface_displacements(pose.placement, pose.p, dynamics.coordinates(), shown);
      surfaces.push_back(seconds_since(start));
    }
    dynamics.cut();
  }
  result.step_ms = 1e3 * median(steps);
  result.shown_step_ms = 1e3 * median(shown_steps);
  result.surface_ms = 1e3 * median(surfaces);
  return result;
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
    if (!built.ok()) return built.error();
    const Clip* clip = find_clip(*built, paper_.clip);
    if (clip == nullptr) return failure(fmt::format("there is no clip {}", paper_.clip));
    const CompareSettings settings = figure_settings(options_.quick);
    FullComparison comparison(*built, *clip, settings);
    CompareReport full;
    SUPPLE_RETURN_IF_ERROR(comparison.run_full(full));
    const Result<CompareRow> row = comparison.run_reduced(built->reduced);
    if (!row.ok()) return row.error();
    Result<PoseSpaceDynamics<float>> dynamics =
        PoseSpaceDynamics<float>::create(built->reduced.model, comparison.dynamics());
    if (!dynamics.ok()) return dynamics.error();
    CharacterPose pose = built->rig.neutral();
    const Steps steps = run_steps(*dynamics, comparison, pose);
    add_times(steps, full, *row);
    add_sizes(built->reduced);
    add_accuracy(built->reduced);
    add_stages(report_, paper_.name, measure_stages(*dynamics, pose, steps.iterations), is_gorilla());
    if (is_gorilla()) add_crowd(report_, options_, *built, *clip, comparison.dynamics());
    add_figures(report_, options_, {*c_.folder, c_.recipe, paper_, *built, comparison, full, *row});
    return {};
  }

 private:
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
    add("full_step_ms", 1e3 * full.full_step_seconds, "ms");
    add("speedup", 1e3 * full.full_step_seconds / steps.step_ms, "", paper_.speedup, 120);
    add("error_vs_full", row.error, "");
    add("projection_error", row.projection, "");
    add("largest_motion", 100 * full.peak, "%");
  }

  void add_sizes(const ReducedBody& reduced) {
    const PoseSpaceModel& model = *reduced.model;
    add("mesh_vertices", static_cast<double>(reduced.mesh.vertices.size()), "", paper_.mesh_vertices);
    add("tets", static_cast<double>(reduced.mesh.elements.size()), "", paper_.tets);
    add("skin_vertices", model.surface.vertex_count(), "", paper_.skin_vertices);
    add("coordinates", model.size(), "", paper_.size);
    add("regions", static_cast<double>(std::max<std::size_t>(1, reduced.region_sizes.size())), "", paper_.regions);
    add("poses", model.pose_count(), "", paper_.poses);
    add("cubature_elements", model.element_count(), "", paper_.elements);
    add("cubature_vertices", model.inertial_vertex_count(), "", paper_.inertial_vertices);
    add("asset_mb", asset_megabytes(reduced), "MB", paper_.memory_mb,
        is_gorilla() ? std::optional(10.0) : std::nullopt);
  }

  void add_accuracy(const ReducedBody& reduced) {
    add("elastic_error", reduced.elastic_error, "", {}, 0.03);
    add("posed_error", reduced.posed_error, "", {}, 0.04);
    add("worst_posed_error", reduced.worst_posed_error, "");
    add("inertial_error", reduced.inertial_error, "", {}, 0.03);
    add("build_s", c_.cost.seconds, "s", {}, is_gorilla() ? std::optional(90.0) : std::nullopt);
    add("build_memory_gib", c_.cost.peak_memory / (1 << 30), "GiB", {}, 3);
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
    const bool named = !options.quick || std::string_view(published.name) == "X";
    if (options.only.empty() ? named : options.wants(published.name))
      candidates.push_back(build_candidate(published, options));
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
