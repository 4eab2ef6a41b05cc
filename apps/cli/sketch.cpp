// SPDX-License-Identifier: Apache-2.0
// supple sketch: records pulls at a linear model, from which `supple build --sketch` makes a basis.
#include "command.h"
#include "mesh_options.h"
#include "supple/pipeline/object/build_subspace.h"

#include <memory>
#include <sstream>

namespace supple::sketch_verb {
namespace {

struct Options : MeshOptions {
  std::string output;
  std::vector<std::string> grabs;
  std::vector<std::string> paths;
  int steps = 20;
  int modes = 20;
  int resolution = 32;
};

/// "x,y,z x,y,z …": each corner's direction is the vector's, its length the reach as a part of the body's diagonal.
Result<std::vector<PullCorner>> parse_path(const std::string& text) {
  std::vector<PullCorner> path;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const Result<std::array<double, 3>> corner = parse_vector("--path", word);
    SUPPLE_RETURN_IF_ERROR(corner);
    const Vec3 v(corner->at(0), corner->at(1), corner->at(2));
    path.push_back({v.norm() > 0 ? Vec3(v.normalized()) : Vec3(Vec3::UnitX()), v.norm()});
  }
  if (path.empty()) return usage_error("--path needs at least one corner, such as \"0,0.3,0\"");
  return path;
}

Result<std::vector<SketchPull>> make_pulls(const Options& options) {
  if (options.paths.size() != options.grabs.size() && options.paths.size() != 1)
    return usage_error("give one --path for all grabs, or one for each --grab");
  std::vector<SketchPull> pulls;
  for (std::size_t k = 0; k < options.grabs.size(); ++k) {
    Result<std::vector<PullCorner>> path = parse_path(options.paths[options.paths.size() == 1 ? 0 : k]);
    SUPPLE_RETURN_IF_ERROR(path);
    pulls.push_back({options.grabs[k], std::move(*path), options.steps});
  }
  return pulls;
}

Result<Scene> make_scene(const Options& options) {
  SUPPLE_RETURN_IF_ERROR(options.check());
  if (options.is_scene()) return load_scene(options.input, SceneUse::build);
  Scene scene = options.scene();
  scene.voxels.emplace().resolution = options.resolution;
  return scene;
}

Status sketch(const Options& options, Session& session) {
  SUPPLE_RETURN_IF_ERROR(check_output(session, options.output, {options.input}));
  const Result<std::vector<SketchPull>> pulls = make_pulls(options);
  SUPPLE_RETURN_IF_ERROR(pulls);
  Result<Scene> scene = make_scene(options);
  SUPPLE_RETURN_IF_ERROR(scene);
  scene->reduction.linear_modes = options.modes;
  const Result<SketchRecording> recording = record_sketch(*scene, *pulls, session.progress);
  if (!recording.ok()) return about(options.input, recording.error());
  SUPPLE_RETURN_IF_ERROR(save_sketch(options.output, *recording));
  double strongest = 0;
  for (const NodalLoad& load : recording->loads) {
    Vec3 total = Vec3::Zero();
    for (const NodalForce& force : load) total += force.force;
    strongest = std::max(strongest, total.norm());
  }
  session.line("{}", options.input);
  session.line("recorded      {} loads on a body of {} vertices, up to {:.4g} N", recording->loads.size(),
               recording->vertex_count, strongest);
  session.line("written       {}", options.output);
  session.line("next          supple build {} --sketch {} -o MODEL.supple, with the same --fix and --resolution",
               options.input, options.output);
  session.result["input"] = options.input;
  session.result["recording"] = options.output;
  session.result["loads"] = recording->loads.size();
  session.result["vertices"] = recording->vertex_count;
  session.result["largest_load_n"] = strongest;
  return {};
}

RunCommand add(CLI::App& app) {
  describe(app,
           "Records a sketch: the selected vertices of a quick linear model are pulled along a path, and the loads\n"
           "that takes are written to a file. `supple build --sketch FILE` solves them on the full nonlinear body\n"
           "and makes a basis of the shapes; solved shapes stay in FILE.shapes, so an interrupted build continues.\n"
           "A corner of the path is a vector: how far the pull goes there, as a part of the body's diagonal.\n",
           "  supple sketch spoon.obj --fix min-x --grab max-x --path \"0,0.3,0 0,-0.3,0\" -o spoon.sketch\n"
           "  supple build spoon.obj --fix min-x --sketch spoon.sketch -o spoon.supple\n");
  const auto options = std::make_shared<Options>();
  app.add_option("INPUT", options->input, "A mesh, or a scene (.toml)")->required()->type_name("");
  app.add_option("-o,--output", options->output, "The recording to write")->required()->type_name("FILE");
  app.add_option("--grab", options->grabs, std::string("Vertices to pull at; may be repeated:\n") + selection_help)
      ->required()
      ->type_name("SELECT")
      ->allow_extra_args(false);
  app.add_option("--path", options->paths, "Corners of the pull, \"x,y,z x,y,z ...\"; one for all grabs or one each")
      ->required()
      ->type_name("PATH")
      ->allow_extra_args(false);
  app.add_option("--steps", options->steps, "Loads recorded from one corner to the next")
      ->check(positive())
      ->type_name("N")
      ->capture_default_str();
  app.add_option("-n,--modes", options->modes, "Modes of the linear model")
      ->check(positive())
      ->type_name("K")
      ->capture_default_str();
  add_mesh_options(app, *options);
  options->keep(app.add_option("--resolution", options->resolution, "Bricks along the longest side of a surface"))
      ->check(positive())
      ->type_name("N")
      ->capture_default_str();
  return [options](Session& session) { return sketch(*options, session); };
}

const RegisteredCommand registered{55, "sketch", "Record pulls from which a model's basis is made.", add};

}  // namespace
}  // namespace supple::sketch_verb
