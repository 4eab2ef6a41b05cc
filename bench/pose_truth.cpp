// SPDX-License-Identifier: Apache-2.0
// How true reduced characters are: ours with their recipes, and those of strangers as `supple bake` builds them, each
// beside the simulation of every vertex of its mesh, over a clip that it knows and as if it didn't know it.
#include "bench/pose_creatures.h"
#include "bench/report.h"

#include "supple/base/parallel.h"
#include "supple/offline/fitting/liveliest_clips.h"
#include "supple/pipeline/character/compare_full.h"
#include "supple/pipeline/character/feel.h"

#include <fmt/format.h>

#include <algorithm>

namespace supple::bench {
namespace {

struct Limits {
  double known, unseen;
};

class TruthRows {
 public:
  TruthRows(Report& report, std::string row, const Limits& limits)
      : report_(report), row_(std::move(row)), limits_(limits) {}

  void add(const Result<CompareReport>& compared) {
    if (!compared.ok()) return add_error(compared.error().message);
    const CompareRow& row = compared->rows.front();
    add("error_vs_full", row.error, "", limits_.known);
    if (row.unseen) add("error_unseen", *row.unseen, "", limits_.unseen);
    if (row.in_basis) add("error_in_basis", *row.in_basis, "");
    add("projection_error", row.projection, "");
    if (compared->truth_error) add("truth_error", *compared->truth_error, "", 0.02);
    if (compared->truth_error_quarter) add("truth_error_quarter", *compared->truth_error_quarter, "");
    if (compared->truth_error_newton) add("truth_error_newton", *compared->truth_error_newton, "");
    add("exaggeration", compared->exaggeration, "");
    add("largest_motion", 100 * compared->peak, "%", 3);
    add("coordinates", row.size, "");
    add("step_ms", 1e3 * row.step_seconds, "ms");
  }
  void add_error(const std::string& message) {
    report_.add(
        {.table = "pose/truth", .row = row_, .metric = "error_vs_full", .target = limits_.known, .error = message});
  }

 private:
  void add(const char* metric, double value, const char* unit, std::optional<double> target = {}) {
    report_.add({.table = "pose/truth", .row = row_, .metric = metric, .value = value, .unit = unit, .target = target});
  }

  Report& report_;
  std::string row_;
  Limits limits_;
};

CompareSettings truth_settings(const Options& options, const std::string& clip) {
  CompareSettings settings;
  settings.clip = clip;
  settings.most_seconds = options.quick ? 0.25 : 1.0;
  settings.truth = true;
  return settings;
}

/// With all cores; a benchmark's one thread afterwards.
Result<CompareReport> compare(CharacterSource source, const CompareSettings& settings) {
  set_thread_count(0);
  Result<CompareReport> report = compare_full(std::move(source), settings);
  set_thread_count(1);
  return report;
}

void add_own(Report& report, const Options& options, const std::string& name, const std::string& example,
             const std::string& clip) {
  TruthRows rows(report, name, {0.08, 0.12});
  CreatureFolder folder(example);
  const Status written = folder.write();
  if (!written.ok()) return rows.add_error(written.error().message);
  Recipe recipe = folder.recipe();
  if (options.quick) recipe.tets = 2000;
  Result<CharacterSource> source = load_source(recipe, folder.path());
  if (!source.ok()) return rows.add_error(source.error().message);
  rows.add(compare(std::move(*source), truth_settings(options, clip)));
}

/// An error of motion that nobody sees says nothing.
std::string liveliest_clip(const CharacterSource& source) {
  const std::vector<Index> clips =
      liveliest_clips(source.character, source.rig, wanted_frequency(source.recipe), height_of(source), 1);
  return source.character.clips[to_size(clips.front())].name;
}

bool is_character(const std::filesystem::path& file) {
  return file.extension() == ".glb" || file.extension() == ".gltf";
}

void add_strangers(Report& report, const Options& options, const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code none;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, none))
    if (is_character(entry.path())) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  if (files.empty())
    return TruthRows(report, "strangers", {0.12, 0.2})
        .add_error("there is no collection of characters at " + folder.string());
  for (const std::filesystem::path& file : files) {
    TruthRows rows(report, "strangers/" + file.parent_path().filename().string(), {0.12, 0.2});
    Result<CharacterSource> source = load_source(file);
    if (!source.ok() || source->character.clips.empty()) {
      rows.add_error(source.ok() ? "nothing moves it: its file has no clip" : source.error().message);
      continue;
    }
    source->recipe.tets = options.quick ? 1500 : 5000;
    const std::string clip = liveliest_clip(*source);
    rows.add(compare(std::move(*source), truth_settings(options, clip)));
  }
}

}  // namespace

void add_pose_truth(Report& report, const Options& options) {
  const std::filesystem::path assets = std::filesystem::path(SUPPLE_SHARED_DIR) / "assets/rigged";
  for (const PublishedCreature& published : table3())
    add_own(report, options, published.name, published.example, published.clip);
  add_own(report, options, "mascot", "mascot", "walk");
  add_strangers(report, options, assets);
}

}  // namespace supple::bench
