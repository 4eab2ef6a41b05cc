// SPDX-License-Identifier: Apache-2.0
// supple simulate: runs a subspace model under the loads of a scene.
#include "command.h"
#include "scene_report.h"
#include "supple/pipeline/object/domain_scene.h"
#include "supple/pipeline/object/same_body.h"
#include "supple/pipeline/object/simulate_scene.h"

#include <memory>

namespace supple::simulate_verb {
namespace {

struct Options {
  std::string scene;
  std::string asset;
  std::string output;
  std::string resume;
  std::string save_state;
};

/// A model that is made of domains.
Status simulate_domains(const Options& options, const Scene& scene, const SimulateOptions& how, Session& session) {
  const Result<DomainSceneSummary> summary = simulate_domain_scene(scene, how, session.progress);
  if (!summary.ok()) return about(options.scene, summary.error());
  session.line("{}", options.scene);
  session.line("model         {} domains, {} coordinates", summary->domains, summary->coordinates);
  session.line("motion        {:.4g} m at most; interfaces part by {:.3g} m before they are joined",
               summary->largest_motion, summary->largest_gap);
  session.line("energy        {:.4g} J kinetic, {:.4g} J elastic at the end", summary->kinetic, summary->elastic);
  session.line("step          {:.1f} µs, {} steps", 1e6 * summary->step_seconds, summary->steps);
  for (const auto& file : summary->files) {
    session.line("written       {}", file.string());
    session.result["files"].push_back(file.string());
  }
  session.result["scene"] = options.scene;
  session.result["asset"] = scene.mesh.string();
  session.result["domains"] = summary->domains;
  session.result["coordinates"] = summary->coordinates;
  session.result["steps"] = summary->steps;
  session.result["largest_motion_m"] = summary->largest_motion;
  session.result["largest_gap_m"] = summary->largest_gap;
  session.result["kinetic_j"] = summary->kinetic;
  session.result["elastic_j"] = summary->elastic;
  session.result["timing"]["step_us"] = 1e6 * summary->step_seconds;
  return {};
}

Status simulate(const Options& options, Session& session) {
  Result<Scene> scene = load_scene(options.scene);
  SUPPLE_RETURN_IF_ERROR(scene);
  SimulateOptions how;
  how.resume = options.resume;
  how.save_state = options.save_state;
  how.force = session.force;
  if (!options.asset.empty()) {
    SUPPLE_RETURN_IF_ERROR(check_same_body(*scene, options.asset));
    scene->mesh = options.asset;
  }
  if (std::filesystem::path(options.output).extension() == ".pc2")
    how.point_cache = options.output;
  else if (!options.output.empty())
    scene->output.directory = options.output;
  if (holds_domains(scene->mesh)) return simulate_domains(options, *scene, how, session);
  const Result<SimulationSummary> summary = simulate_scene(*scene, how, session.progress);
  if (!summary.ok()) return about(options.scene, summary.error());
  scene->model = MaterialModel::stvk;
  session.warnings = summary->scene.warnings;
  warn_of_unconverged(*scene, summary->scene, session);
  write_text(*scene, summary->scene, session);
  fill_result(*scene, summary->scene, session.result);
  session.line("model         {} coordinates", summary->coordinates);
  session.result["asset"] = scene->mesh.string();
  session.result["coordinates"] = summary->coordinates;
  if (scene->dynamic) {
    session.line("step          {:.1f} µs, {:.1f} µs at worst", 1e6 * summary->step_seconds,
                 1e6 * summary->worst_step_seconds);
    session.result["timing"]["step_us"] = 1e6 * summary->step_seconds;
    session.result["timing"]["worst_step_us"] = 1e6 * summary->worst_step_seconds;
  }
  return {};
}

RunCommand add(CLI::App& app) {
  describe(app,
           "Runs a subspace model (.supple) under the loads of a scene file: gravity, forces, tractions, pressures,\n"
           "tracks and solver as for `supple solve` (docs/scene.md). Output is a folder of .vtu files with\n"
           "history.csv, or a PC2 point cache of the surface (-o NAME.pc2; the surface goes beside it as NAME.obj).\n"
           "A model without fixed vertices falls, flies and turns; all output shows it in the world.\n"
           "A model of domains also feels the [wind]; its folder gets history.csv and final.obj.\n"
           "One frame is written per `every` steps of [output].\n",
           "  supple simulate examples/beam_model.toml --asset out/beam.supple -o out/beam\n"
           "  supple simulate push.toml --asset spoon.supple -o spoon.pc2\n"
           "  supple simulate push.toml --resume half.state -o rest.pc2 --save-state end.state\n");
  const auto options = std::make_shared<Options>();
  app.add_option("SCENE", options->scene, "A scene (.toml)")->required()->type_name("");
  app.add_option("--asset", options->asset, "The model that was built of the scene")->type_name("FILE");
  app.add_option("-o,--output", options->output, "Folder, or a file ending in .pc2, instead of the scene's folder")
      ->type_name("PATH");
  app.add_option("--resume", options->resume, "Begin with a saved state")->type_name("FILE");
  app.add_option("--save-state", options->save_state, "Keep the last state")->type_name("FILE");
  return [options](Session& session) { return simulate(*options, session); };
}

const RegisteredCommand registered{60, "simulate", "Run a real-time model under the loads of a scene.", add};

}  // namespace
}  // namespace supple::simulate_verb
