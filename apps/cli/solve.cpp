// SPDX-License-Identifier: Apache-2.0
// supple solve: full-space statics or dynamics of a TOML scene, or of a mesh with a few options.
#include "command.h"
#include "mesh_options.h"
#include "scene_report.h"
#include "supple/pipeline/object/solve_scene.h"

#include <memory>

namespace supple::solve_verb {
namespace {

struct Options : MeshOptions {
  std::string output;
  std::string gravity;
  bool is_static = false;
  double duration = 1.0;
  double dt = 1.0 / 60;
  std::string model = "stable_neo_hookean";
};

Result<Scene> scene_of_mesh(const Options& options) {
  Scene scene = options.scene();
  scene.model = *material_model_from(options.model);
  const Result<std::array<double, 3>> gravity =
      parse_vector("--gravity", options.gravity.empty() ? "0,-9.81,0" : options.gravity);
  SUPPLE_RETURN_IF_ERROR(gravity);
  scene.gravity = Vec3(gravity->at(0), gravity->at(1), gravity->at(2));
  scene.dynamic = !options.is_static;
  scene.duration = options.duration;
  scene.dynamics.time_step = options.dt;
  if (options.duration / options.dt > 1e9) return usage_error("--duration takes more than 1e9 steps of --dt");
  return scene;
}

Result<Scene> make_scene(const Options& options) {
  SUPPLE_RETURN_IF_ERROR(options.check());
  Result<Scene> scene = options.is_scene() ? load_scene(options.input) : scene_of_mesh(options);
  if (scene.ok() && !options.output.empty()) scene->output.directory = options.output;
  return scene;
}

Status solve(const Options& options, Session& session) {
  const Result<Scene> scene = make_scene(options);
  SUPPLE_RETURN_IF_ERROR(scene);
  const Result<SceneSummary> summary = solve_scene(*scene, session.progress);
  if (!summary.ok()) return about(options.input, summary.error());
  session.warnings = summary->warnings;
  warn_of_unconverged(*scene, *summary, session);
  write_text(*scene, *summary, session);
  fill_result(*scene, *summary, session.result);
  return {};
}

void add_solver_options(CLI::App& app, Options& options) {
  options.keep(app.add_option("--gravity", options.gravity, "Acceleration [m/s²], 0,-9.81,0 unless given"))
      ->type_name("X,Y,Z");
  options.keep(app.add_flag("--static", options.is_static, "Find the equilibrium instead of the motion"));
  options.keep(app.add_option("--duration", options.duration, "Length of the motion [s]"))
      ->check(positive())
      ->type_name("T")
      ->capture_default_str();
  options.keep(app.add_option("--dt", options.dt, "Time step [s]"))
      ->check(positive())
      ->type_name("H")
      ->capture_default_str();
  options
      .keep(app.add_option("--material", options.model,
                           "linear, corotational, stvk, neo_hookean, stable_neo_hookean, flesh"))
      ->check(CLI::IsMember({"linear", "corotational", "stvk", "neo_hookean", "stable_neo_hookean", "flesh"})
                  .description(""))
      ->type_name("MODEL")
      ->capture_default_str();
}

RunCommand add(CLI::App& app) {
  describe(app,
           "Computes how a soft body moves (dynamics) or where it comes to rest (statics) with all degrees of\n"
           "freedom of its mesh. A scene is a small TOML file: mesh, materials, what is fixed, what pushes, how\n"
           "to solve, what to write; docs/scene.md describes every key. Given a mesh instead, the options below\n"
           "make the scene: Newmark's method, gravity. The output folder gets .vtu files and series.pvd for\n"
           "ParaView and history.csv. A run that fails or is stopped by Ctrl-C leaves no files. SI units.\n",
           "  supple solve examples/cantilever.toml\n"
           "  supple solve beam.veg --fix min-x --static -o out/beam\n"
           "  supple solve turtle.veg --fix turtle.bou --duration 2 --dt 0.01 --young 1e6 -o out/turtle\n");
  const auto options = std::make_shared<Options>();
  app.add_option("SCENE", options->input, "A scene (.toml) or a solid mesh")->required()->type_name("");
  app.add_option("-o,--output", options->output, "Folder to write to, instead of the scene's")->type_name("DIR");
  add_mesh_options(app, *options);
  add_solver_options(app, *options);
  return [options](Session& session) { return solve(*options, session); };
}

const RegisteredCommand registered{40, "solve", "Compute the motion or the equilibrium of a soft body.", add};

}  // namespace
}  // namespace supple::solve_verb
