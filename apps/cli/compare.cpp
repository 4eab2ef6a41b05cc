// SPDX-License-Identifier: Apache-2.0
// supple compare: how far the reduced character is from the simulation of every vertex, and how much faster.
#include "character_recipe.h"
#include "command.h"
#include "supple/pipeline/character/compare_full.h"

#include <memory>

namespace supple::compare_verb {
namespace {

struct Options {
  std::string input;
  std::string clip;
  std::vector<int> sizes, poses;
  double seconds = 2;
  double step = SimulateSettings{}.time_step;
  std::optional<int> tets;
};

const char* limit_of(const CompareRow& row) {
  if (row.error < 1.5 * row.projection) return "the basis: more coordinates help";
  if (row.elastic_error > 0.05 || row.inertial_error > 0.05) return "cubature: more coordinates won't help";
  return row.poses > 1 ? "what lies between the poses"
                       : "one pose: its directions and forces are carried along to all others";
}

void tell(const Options& options, const CompareReport& report, Session& session) {
  session.line("{}, {}: {} steps, the truth moves by {:.2f} % of the height, {:.1f} ms a step", options.input,
               report.clip, report.steps, 100 * report.peak, 1e3 * report.full_step_seconds);
  session.line("{:>12} {:>6} {:>9} {:>12} {:>11} {:>10}   {}", "coordinates", "poses", "error %", "projection %",
               "step ms", "speed-up", "what limits it");
  for (const CompareRow& row : report.rows)
    session.line("{:>12} {:>6} {:>9.1f} {:>12.1f} {:>11.3f} {:>9.0f}x   {}", row.size, row.poses, 100 * row.error,
                 100 * row.projection, 1e3 * row.step_seconds, report.full_step_seconds / row.step_seconds,
                 limit_of(row));
  if (report.full_recovered > 0)
    session.line("The full simulation broke down in {} steps; nothing can be said from it.", report.full_recovered);
}

void fill(const Options& options, const CompareReport& report, Json& out) {
  out["input"] = options.input;
  out["clip"] = report.clip;
  out["steps"] = report.steps;
  out["peak"] = report.peak;
  out["full_step_ms"] = 1e3 * report.full_step_seconds;
  out["full_recovered_steps"] = report.full_recovered;
  for (const CompareRow& row : report.rows)
    out["rows"].push_back({{"coordinates", row.size},
                           {"poses", row.poses},
                           {"error", row.error},
                           {"projection_error", row.projection},
                           {"elastic_cubature_error", row.elastic_error},
                           {"inertial_cubature_error", row.inertial_error},
                           {"step_ms", 1e3 * row.step_seconds},
                           {"speedup", report.full_step_seconds / row.step_seconds},
                           {"limit", limit_of(row)}});
}

Status compare(const Options& options, Session& session) {
  Result<CharacterJob> job = job_for(options.input);
  if (!job.ok()) return about(options.input, job.error());
  if (options.tets) job->recipe.tets = *options.tets;
  CompareSettings settings;
  settings.clip = options.clip;
  settings.sizes = options.sizes;
  settings.poses = options.poses;
  settings.most_seconds = options.seconds;
  settings.simulate.time_step = options.step;
  settings.simulate.damping_ratio = job->recipe.flesh.damping;
  const Result<CompareReport> report = compare_full(job->recipe, job->folder, settings, session.progress);
  if (!report.ok()) return about(options.input, report.error());
  tell(options, *report, session);
  fill(options, *report, session.result);
  return {};
}

RunCommand add(CLI::App& app) {
  describe(
      app,
      "Simulates a clip twice: with the few coordinates that `supple bake` uses, and with every vertex of the same\n"
      "mesh free. Tells the difference over the clip and the skin, how much of it the basis alone explains, and\n"
      "how much faster the reduced step is. The full simulation takes its time.\n",
      "  supple compare hero.glb --clip run\n"
      "  supple compare hero.toml --sizes 20,45,100 --seconds 1\n");
  const auto options = std::make_shared<Options>();
  app.add_option("INPUT", options->input, "A character (.glb, .gltf) or a recipe (.toml)")->required()->type_name("");
  app.add_option("--clip", options->clip, "The clip to compare over [the first]")->type_name("NAME");
  app.add_option("--sizes", options->sizes, "Numbers of coordinates to try [what the recipe has]")
      ->delimiter(',')
      ->check(CLI::Range(1, 400).description(""))
      ->type_name("R,R,…");
  app.add_option("--poses", options->poses,
                 "Most poses with a reduced model of their own, each to try [what the recipe has]")
      ->delimiter(',')
      ->check(CLI::Range(1, 400).description(""))
      ->type_name("R,R,…");
  app.add_option("--step", options->step, "Time step of both [1/240]")->check(positive())->type_name("S");
  app.add_option("--seconds", options->seconds, "At most so much of the clip [2]")->check(positive())->type_name("S");
  app.add_option("--tets", options->tets, "About how many tetrahedra")
      ->check(CLI::Range(TetMeshingOptions::min_tets, TetMeshingOptions::max_tets).description(""))
      ->type_name("N");
  return [options](Session& session) { return compare(*options, session); };
}

const RegisteredCommand registered{17, "compare", "Compare a soft character with its full simulation.", add};

}  // namespace
}  // namespace supple::compare_verb
