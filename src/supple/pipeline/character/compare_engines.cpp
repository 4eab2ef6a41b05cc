// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/compare_engines.h"

#include "supple/pipeline/character/bake.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

/// Looks at one run, moment by moment.
class RunReader {
 public:
  RunReader(ClipRun& run, Index vertices, double height, ComparedRun& report)
      : run_(run), shown_(to_size(vertices)), height_(height), report_(report) {}

  std::span<const Vec3> at(double time) {
    run_.in_character(time, shown_);
    for (const Vec3& u : shown_) {
      if (u.norm() <= report_.peak * height_) continue;
      report_.peak = u.norm() / height_;
      report_.peak_time = time;
    }
    return shown_;
  }

 private:
  ClipRun& run_;
  std::vector<Vec3> shown_;
  double height_;
  ComparedRun& report_;
};

Result<std::unique_ptr<ClipRun>> run_one(const SoftCharacter& soft, const Clip& clip, const SimulateSettings& settings,
                                         ComparedRun& report, Progress& progress) {
  const Result<const CharacterEngine*> engine = engine_of(soft.asset());
  SUPPLE_RETURN_IF_ERROR(engine);
  report.engine = (*engine)->name();
  progress.stage("simulating with the engine " + report.engine);
  Result<std::unique_ptr<ClipRun>> run = soft.simulate(clip, settings, progress);
  SUPPLE_RETURN_IF_ERROR(run);
  report.report = (*run)->report();
  report.build_seconds = soft.seconds.embed + soft.seconds.reduce;
  report.simulate_seconds = report.report.seconds;
  return run;
}

}  // namespace

Result<EngineComparison> compare_engines(const SoftCharacter& soft, const SoftCharacter& against, const Clip& clip,
                                         const SimulateSettings& settings, double rate, Progress& progress) {
  EngineComparison result;
  result.clip = clip.name;
  Result<std::unique_ptr<ClipRun>> run = run_one(soft, clip, settings, result.run, progress);
  SUPPLE_RETURN_IF_ERROR(run);
  Result<std::unique_ptr<ClipRun>> other = run_one(against, clip, settings, result.against, progress);
  SUPPLE_RETURN_IF_ERROR(other);
  const double height = height_of(soft.source());
  RunReader ours(**run, soft.vertex_count(), height, result.run);
  RunReader theirs(**other, against.vertex_count(), height, result.against);
  result.from = std::max({(*run)->start(), (*other)->start(), settings.from});
  result.to = std::min(settings.to.value_or(clip.duration), clip.duration);
  result.moments = static_cast<Index>(std::floor((result.to - result.from) * rate + 1e-9)) + 1;
  double difference = 0, total = 0;
  for (Index k = 0; k < result.moments; ++k) {
    const double time = result.from + k / rate;
    const std::span<const Vec3> a = ours.at(time), b = theirs.at(time);
    for (std::size_t v = 0; v < a.size(); ++v) {
      difference += (a[v] - b[v]).squaredNorm();
      total += b[v].squaredNorm();
    }
  }
  result.error = total > 0 ? std::sqrt(difference / total) : 0;
  return result;
}

Result<Index> clip_to_compare(const CharacterSource& source, const std::string& name) {
  if (name.empty() && source.character.clips.empty())
    return input_error("the character has no animation to compare over; add clips with [[motion]] in a recipe");
  if (name.empty()) return Index{0};
  const Result<std::vector<Index>> chosen = chosen_clips(source.character, {name});
  SUPPLE_RETURN_IF_ERROR(chosen);
  return chosen->front();
}

}  // namespace supple
