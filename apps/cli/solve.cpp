// SPDX-License-Identifier: Apache-2.0
// supple solve: full-space statics or dynamics of a TOML scene, or of a mesh with a few options.
#include "command.h"
#include "supple/pipeline/solve_scene.h"

#include <memory>

namespace supple {
namespace {

struct Options {
  std::string input;
  std::string output;
  std::vector<std::string> fixed;
  std::string gravity;
  bool is_static = false;
  double duration = 1.0;
  double dt = 1.0 / 60;
  std::string model = "stable_neo_hookean";
  SceneMaterial material;
  std::vector<CLI::Option*> mesh_only;
};

bool is_scene(const std::string& input) { return std::filesystem::path(input).extension() == ".toml"; }

Result<Scene> scene_of_mesh(const Options& options) {
  Scene scene;
  scene.name = options.input;
  scene.mesh = options.input;
  scene.model = *material_model_from(options.model);
  scene.material = options.material;
  scene.fixed = options.fixed;
  const Result<std::array<double, 3>> gravity =
      parse_vector("--gravity", options.gravity.empty() ? "0,-9.81,0" : options.gravity);
  if (!gravity.ok()) return gravity.error();
  scene.gravity = Vec3(gravity->at(0), gravity->at(1), gravity->at(2));
  scene.dynamic = !options.is_static;
  scene.duration = options.duration;
  scene.dynamics.time_step = options.dt;
  if (options.duration / options.dt > 1e9) return usage_error("--duration takes more than 1e9 steps of --dt");
  return scene;
}

Result<Scene> make_scene(const Options& options) {
  if (is_scene(options.input)) {
    for (const CLI::Option* option : options.mesh_only) {
      if (option->count() > 0)
        return usage_error(fmt::format("{} is for a mesh; write it into {} instead (docs/scene.md)", option->get_name(),
                                       options.input));
    }
  }
  Result<Scene> scene = is_scene(options.input) ? load_scene(options.input) : scene_of_mesh(options);
  if (scene.ok() && !options.output.empty()) scene->output.directory = options.output;
  return scene;
}

Json to_json(const Vec3& v) { return {v.x(), v.y(), v.z()}; }

void fill_result(const Scene& scene, const SceneSummary& s, Json& out) {
  out["scene"] = scene.name;
  out["kind"] = scene.dynamic ? "dynamic" : "static";
  out["model"] = to_string(scene.model);
  out["gravity"] = to_json(scene.gravity);
  out["vertices"] = s.vertices;
  out["elements"] = s.elements;
  out["mass"] = s.mass;
  out["fixed_vertices"] = s.fixed_vertices;
  Json selections = Json::array();
  for (const SceneSelection& f : s.fixed_selections)
    selections.push_back({{"select", f.select}, {"vertices", f.vertices}});
  out["fixed_selections"] = std::move(selections);
  out["steps"] = s.steps;
  out["newton_iterations"] = s.newton_iterations;
  out["converged"] = s.unconverged_steps == 0;
  out["unconverged_steps"] = s.unconverged_steps;
  out["residual"] = s.residual;
  out["time"] = s.time;
  out["energy"] = {{"elastic", s.elastic_energy}, {"kinetic", s.kinetic_energy}, {"gravity", s.gravity_energy}};
  out["peak_displacement"] = s.peak_displacement;
  out["peak_vertex"] = s.peak_vertex;
  out["peak_time"] = s.peak_time;
  out["final_displacement"] = s.final_displacement;
  if (!scene.dynamic) out["reaction"] = to_json(s.reaction);
  Json tracks = Json::array();
  for (const TrackResult& track : s.tracks) {
    tracks.push_back(
        {{"name", track.name}, {"vertices", track.vertices}, {"displacement", to_json(track.displacement)}});
  }
  out["tracks"] = std::move(tracks);
  Json files = Json::array();
  for (const auto& file : s.files) files.push_back(file.string());
  out["files"] = std::move(files);
  out["timing"] = {{"setup_s", s.setup_seconds}, {"solve_s", s.solve_seconds}};
}

void write_text(const Scene& scene, const SceneSummary& s, Session& session) {
  session.line("{}", scene.name);
  session.line("body          {} vertices, {} elements, {:.5g} kg, {}", s.vertices, s.elements, s.mass,
               to_string(scene.model));
  if (s.fixed_selections.empty()) session.line("fixed         nothing");
  for (const SceneSelection& f : s.fixed_selections)
    session.line("fixed         {} by {}", counted(f.vertices, "vertex", "vertices"), f.select);
  if (!scene.gravity.isZero())
    session.line("gravity       ({:g}, {:g}, {:g}) m/s²", scene.gravity.x(), scene.gravity.y(), scene.gravity.z());
  if (scene.dynamic) {
    session.line("motion        {:g} s in {} steps, {:.1f} Newton iterations each", s.time, s.steps,
                 static_cast<double>(s.newton_iterations) / s.steps);
    session.line("energy        kinetic {:.5g} J, elastic {:.5g} J, gravity {:.5g} J at the end", s.kinetic_energy,
                 s.elastic_energy, s.gravity_energy);
    session.line("displacement  at most {:.5g} m (vertex {} at {:.4g} s), {:.5g} m at the end", s.peak_displacement,
                 s.peak_vertex, s.peak_time, s.final_displacement);
  } else {
    session.line("equilibrium   {} in {}, residual {:.1e}",
                 counted(static_cast<std::size_t>(s.newton_iterations), "Newton iteration", "Newton iterations"),
                 counted(static_cast<std::size_t>(s.steps), "load step", "load steps"), s.residual);
    session.line("energy        elastic {:.5g} J, gravity {:.5g} J", s.elastic_energy, s.gravity_energy);
    session.line("displacement  at most {:.5g} m (vertex {})", s.peak_displacement, s.peak_vertex);
    session.line("reaction      ({:.5g}, {:.5g}, {:.5g}) N at the fixed vertices", s.reaction.x(), s.reaction.y(),
                 s.reaction.z());
  }
  for (const TrackResult& t : s.tracks)
    session.line("track         {} ended at ({:.5g}, {:.5g}, {:.5g}) m from rest", t.name, t.displacement.x(),
                 t.displacement.y(), t.displacement.z());
  session.line("time          {:.2f} s of computing", s.setup_seconds + s.solve_seconds);
  for (const auto& file : s.files) session.line("written       {}", file.string());
}

Status solve(const Options& options, Session& session) {
  const Result<Scene> scene = make_scene(options);
  if (!scene.ok()) return scene.error();
  const Result<SceneSummary> summary = solve_scene(*scene, session.progress);
  if (!summary.ok()) return about(options.input, summary.error());
  session.warnings = summary->warnings;
  if (summary->unconverged_steps > 0) {
    session.warnings.push_back(fmt::format(
        "{} of {} steps stopped at the limit of {} Newton iterations (worst residual {:.1e}).",
        summary->unconverged_steps, summary->steps, scene->dynamics.max_newton_iterations, summary->residual));
  }
  write_text(*scene, *summary, session);
  fill_result(*scene, *summary, session.result);
  return {};
}

/// Options that build a scene around a mesh.
void add_mesh_options(CLI::App& app, Options& options) {
  const auto keep = [&](CLI::Option* option) {
    options.mesh_only.push_back(option->group("Without a scene file"));
    return option;
  };
  keep(app.add_option("--fix", options.fixed,
                      std::string("Vertices that can't move; may be repeated:\n") + selection_help))
      ->type_name("SELECT")
      ->allow_extra_args(false);
  keep(app.add_option("--gravity", options.gravity, "Acceleration [m/s²], 0,-9.81,0 unless given"))->type_name("X,Y,Z");
  keep(app.add_flag("--static", options.is_static, "Find the equilibrium instead of the motion"));
  keep(app.add_option("--duration", options.duration, "Length of the motion [s]"))
      ->check(positive())
      ->type_name("T")
      ->capture_default_str();
  keep(app.add_option("--dt", options.dt, "Time step [s]"))->check(positive())->type_name("H")->capture_default_str();
  keep(app.add_option("--material", options.model, "linear, corotational, stvk, neo_hookean, stable_neo_hookean"))
      ->check(CLI::IsMember({"linear", "corotational", "stvk", "neo_hookean", "stable_neo_hookean"}).description(""))
      ->type_name("MODEL")
      ->capture_default_str();
  keep(app.add_option("--young", options.material.young, "Young's modulus [Pa]"))->type_name("E");
  keep(app.add_option("--poisson", options.material.poisson, "Poisson's ratio, below 0.5"))->type_name("NU");
  keep(app.add_option("--density", options.material.density, "Density [kg/m³]"))->type_name("RHO");
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
  return [options](Session& session) { return solve(*options, session); };
}

const RegisteredCommand registered{40, "solve", "Compute the motion or the equilibrium of a soft body.", add};

}  // namespace
}  // namespace supple
