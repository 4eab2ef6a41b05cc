// SPDX-License-Identifier: Apache-2.0
// supple compare: how far one engine's character is from another's, and how much faster; without a choice, how far the
// reduced character is from the simulation of every vertex.
#include "character_options.h"
#include "command.h"
#include "supple/pipeline/character/compare_engines.h"
#include "supple/pipeline/character/compare_full.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace supple::compare_verb {
namespace {

struct Options : CharacterOptions {
  std::string input;
  std::string against;  ///< empty: the table of pose-space models against the full simulation
  std::string clip;
  std::vector<int> sizes, poses;
  double seconds = 2;
  double step = SimulateSettings{}.time_step;
  bool plain_drive = false;
  bool known_only = false;
  bool truth = false;
};

const char* limit_of(const CompareRow& row) {
  if (row.error < 1.5 * std::max(row.projection, row.in_basis.value_or(0))) return "the basis: more coordinates help";
  if (row.elastic_error > 0.05 || row.inertial_error > 0.05) return "cubature: more coordinates won't help";
  return row.poses > 1 ? "what lies between the poses"
                       : "one pose: its directions and forces are carried along to all others";
}

std::string percent(const std::optional<double>& share) { return share ? fmt::format("{:.1f}", 100 * *share) : "-"; }

void tell(const Options& options, const CompareReport& report, Session& session) {
  session.line("{}, {}: {} steps, the truth moves by {:.2f} % of the height, {:.1f} ms a step", options.input,
               report.clip, report.steps, 100 * report.peak, 1e3 * report.full_step_seconds);
  if (report.truth_error)
    session.line("The truth itself is off by {:.1f} %: so much half its time step changes it",
                 100 * *report.truth_error);
  if (report.truth_error_quarter && report.truth_error_newton)
    session.line("A quarter of the step changes it by {:.1f} %, Newton's method taken to its end by {:.1f} %",
                 100 * *report.truth_error_quarter, 100 * *report.truth_error_newton);
  session.line("{:>12} {:>6} {:>9} {:>9} {:>11} {:>12} {:>11} {:>10}   {}", "coordinates", "poses", "error %",
               "unseen %", "in basis %", "projection %", "step ms", "speed-up", "what limits it");
  for (const CompareRow& row : report.rows)
    session.line("{:>12} {:>6} {:>9.1f} {:>9} {:>11} {:>12.1f} {:>11.3f} {:>9.0f}x   {}", row.size, row.poses,
                 100 * row.error, percent(row.unseen), percent(row.in_basis), 100 * row.projection,
                 1e3 * row.step_seconds, report.full_step_seconds / row.step_seconds, limit_of(row));
}

void fill(const Options& options, const CompareReport& report, Json& out) {
  out["input"] = options.input;
  out["clip"] = report.clip;
  out["steps"] = report.steps;
  out["peak"] = report.peak;
  out["full_step_ms"] = 1e3 * report.full_step_seconds;
  if (report.truth_error) out["truth_error"] = *report.truth_error;
  if (report.truth_error_quarter) out["truth_error_quarter"] = *report.truth_error_quarter;
  if (report.truth_error_newton) out["truth_error_newton"] = *report.truth_error_newton;
  for (const CompareRow& row : report.rows) {
    out["rows"].push_back({{"coordinates", row.size},
                           {"poses", row.poses},
                           {"error", row.error},
                           {"projection_error", row.projection},
                           {"elastic_cubature_error", row.elastic_error},
                           {"inertial_cubature_error", row.inertial_error},
                           {"step_ms", 1e3 * row.step_seconds},
                           {"speedup", report.full_step_seconds / row.step_seconds},
                           {"limit", limit_of(row)}});
    if (row.unseen) out["rows"].back()["error_unseen"] = *row.unseen;
    if (row.unseen_in_basis) out["rows"].back()["error_unseen_in_basis"] = *row.unseen_in_basis;
    if (row.in_basis) out["rows"].back()["error_in_basis"] = *row.in_basis;
  }
}

/// Flesh is judged as it is shown: driven as a bake drives it.
void tell_drive(double exaggeration, Session& session) {
  if (exaggeration != 1)
    session.line("Flesh is driven as in a bake, gentle motion {:.3g} times; as the clip has it: --plain-drive",
                 exaggeration);
  session.result["exaggeration"] = exaggeration;
}

Status compare_table(const Options& options, CharacterSource source, Session& session) {
  CompareSettings settings;
  settings.clip = options.clip;
  settings.sizes = options.sizes;
  settings.poses = options.poses;
  settings.most_seconds = options.seconds;
  settings.ladder = !options.known_only;
  settings.truth = options.truth;
  settings.simulate.time_step = options.step;
  settings.simulate.damping_ratio = wanted_damping(source.recipe);
  // A wrong name is told before the minutes that follow.
  if (const Result<Index> clip = clip_to_compare(source, options.clip); !clip.ok())
    return about(options.input, clip.error());
  settings.as_baked = !options.plain_drive;
  const Result<CompareReport> report = compare_full(std::move(source), settings, session.progress);
  if (!report.ok()) return about(options.input, report.error());
  tell(options, *report, session);
  tell_drive(report->exaggeration, session);
  fill(options, *report, session.result);
  return {};
}

// ---- any two engines ------------------------------------------------------------------------------------------------

void tell_run(const ComparedRun& run, Session& session) {
  session.line("{:<13} moves by {:.2f} % of the height at {:.2f} s; {:.1f} s to build, {:.2f} s for {} steps",
               run.engine, 100 * run.peak, run.peak_time, run.build_seconds, run.simulate_seconds, run.report.steps);
}

Json run_json(const ComparedRun& run) {
  return {{"engine", run.engine},
          {"peak", run.peak},
          {"peak_time_s", run.peak_time},
          {"build_s", run.build_seconds},
          {"simulate_s", run.simulate_seconds},
          {"steps", run.report.steps},
          {"recovered_steps", run.report.recovered}};
}

void tell_pair(const Options& options, const EngineComparison& pair, Session& session) {
  session.line("{}, {}: {} moments from {:.2f} to {:.2f} s", options.input, pair.clip, pair.moments, pair.from,
               pair.to);
  tell_run(pair.run, session);
  tell_run(pair.against, session);
  session.line("error         {:.2f} % of the motion of {}", 100 * pair.error, pair.against.engine);
  Json& out = session.result;
  out["input"] = options.input;
  out["clip"] = pair.clip;
  out["moments"] = pair.moments;
  out["error"] = pair.error;
  out["run"] = run_json(pair.run);
  out["against"] = run_json(pair.against);
}

Status compare_pair(const Options& options, CharacterSource given, Session& session) {
  const Result<Index> chosen = clip_to_compare(given, options.clip);
  if (!chosen.ok()) return about(options.input, chosen.error());
  const auto source = std::make_shared<const CharacterSource>(std::move(given));
  const Clip& clip = source->character.clips[to_size(*chosen)];
  const std::unique_ptr<BuildCache> cache = options.open_cache();
  std::vector<std::unique_ptr<SoftCharacter>> characters;
  for (const std::string& name : {options.engine, options.against}) {
    Result<std::unique_ptr<SoftCharacter>> made =
        (*find_engine(name))->build(source, session.progress, cache ? *cache : StageStore::none());
    if (!made.ok()) return about(options.input, made.error());
    characters.push_back(std::move(*made));
  }
  SimulateSettings settings;
  settings.time_step = options.step;
  settings.damping_ratio = wanted_damping(source->recipe);
  settings.to = std::min(clip.duration, first_key(clip) + options.seconds);
  // Both alike, and as the first is baked.
  if (!options.plain_drive) settings.exaggeration = characters[0]->exaggeration();
  const Result<EngineComparison> pair =
      compare_engines(*characters[0], *characters[1], clip, settings, 1 / (4 * options.step), session.progress);
  if (!pair.ok()) return about(options.input, pair.error());
  tell_pair(options, *pair, session);
  tell_drive(settings.exaggeration, session);
  return {};
}

Status compare(const Options& options, Session& session) {
  for (const std::string& name : {options.engine, options.against}) {
    if (name.empty()) continue;
    if (const Result<const CharacterEngine*> engine = find_engine(name); !engine.ok()) return engine.error();
  }
  Result<CharacterSource> source = load_source(options.input);
  if (!source.ok()) return about(options.input, source.error());
  source->recipe.apply(options);
  if (options.against.empty()) return compare_table(options, std::move(*source), session);
  return compare_pair(options, std::move(*source), session);
}

RunCommand add(CLI::App& app) {
  describe(
      app,
      "Simulates a clip twice: with the few coordinates that `supple bake` uses, and with every vertex of the same\n"
      "mesh free. Tells the difference over the clip and the skin, how much of it the basis alone explains, and\n"
      "how much faster the reduced step is. The full simulation takes its time.\n"
      "With --engine or --against any two engines are compared, by how far they move the skin.\n",
      "  supple compare hero.glb --clip run\n"
      "  supple compare hero.toml --sizes 20,45,100 --seconds 1\n"
      "  supple compare hero.glb --engine posespace --against full\n");
  const auto options = std::make_shared<Options>();
  app.add_option("INPUT", options->input, "A character (.glb, .gltf) or a recipe (.toml)")->required()->type_name("");
  app.add_option("--clip", options->clip, "The clip to compare over [the first]")->type_name("NAME");
  app.add_option("--sizes", options->sizes, "Numbers of coordinates to try [what the recipe has]")
      ->delimiter(',')
      ->check(between(1, 400))
      ->type_name("R,R,…");
  app.add_option("--poses", options->poses,
                 "Most poses with a reduced model of their own, each to try [what the recipe has]")
      ->delimiter(',')
      ->check(between(1, 400))
      ->type_name("R,R,…");
  app.add_option("--step", options->step, "Time step of both [1/240]")->check(positive())->type_name("S");
  app.add_option("--seconds", options->seconds, "At most so much of the clip [2]")->check(positive())->type_name("S");
  app.add_flag(
      "--plain-drive", options->plain_drive,
      "Drive flesh as the clip moves. Otherwise as a bake does, which turns the drive up or down until the skin\n"
      "moves as far as its feel promises");
  app.add_flag(
      "--known-only", options->known_only,
      "Leave out what takes longest: a model that doesn't know the clip, a run in the basis with all elements,\n"
      "and the error of the truth itself");
  app.add_flag(
      "--truth", options->truth,
      "Measure the error of the truth itself in other ways, too: with a quarter of the step, and with Newton's\n"
      "method taken to its end");
  add_character_options(app, *options);
  add_cache_option(app, *options);
  const CLI::Option* engine = app.get_option("--engine");
  CLI::Option* against =
      app.add_option("--against", options->against, "The engine to compare with [full]")->type_name("NAME");
  for (const char* table : {"--sizes", "--poses", "--truth"}) {
    against->excludes(table);
    app.get_option("--engine")->excludes(table);
  }
  return [options, engine](Session& session) {
    if (engine->count() > 0 && options->against.empty()) options->against = "full";
    return compare(*options, session);
  };
}

const RegisteredCommand registered{17, "compare",
                                   "Compare a soft character with its full simulation, or any two engines.", add};

}  // namespace
}  // namespace supple::compare_verb
