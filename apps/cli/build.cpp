// SPDX-License-Identifier: Apache-2.0
// supple build: a character becomes an asset that runs in real time, and so does a mesh or a scene.
#include "build_character.h"
#include "command.h"
#include "mesh_options.h"
#include "supple/asset/domain_archive.h"
#include "supple/asset/subspace_archive.h"
#include "supple/io/file.h"
#include "supple/pipeline/character/engine.h"
#include "supple/pipeline/object/build_subspace.h"
#include "supple/pipeline/object/domain_scene.h"
#include "supple/pipeline/plant/bake_plant.h"

#include <algorithm>
#include <memory>

namespace supple::build_verb {
namespace {

struct Options : MeshOptions {
  CharacterOptions character;
  std::vector<CLI::Option*> object_only, character_only;
  std::string output;
  std::string sketch;
  int modes = 0;
  int size = 0;
  bool anchored = false;
  int resolution = 32;
};

Scene scene_of_mesh(const Options& options) {
  Scene scene = options.scene();
  scene.voxels.emplace().resolution = options.resolution;
  return scene;
}

Result<Scene> make_scene(const Options& options) {
  SUPPLE_RETURN_IF_ERROR(options.check());
  Result<Scene> scene = options.is_scene() ? load_scene(options.input, SceneUse::build) : scene_of_mesh(options);
  if (!scene.ok()) return scene;
  if (options.modes > 0) scene->reduction.linear_modes = options.modes;
  if (options.size > 0) scene->reduction.size = options.size;
  if (options.anchored) scene->reduction.anchored = true;
  if (!options.sketch.empty()) scene->reduction.sketch = options.sketch;
  return scene;
}

void fill_result(const Options& options, const SubspaceBuild& build, std::size_t bytes, Json& out) {
  const SubspaceModel& model = build.model;
  out["input"] = options.input;
  out["asset"] = options.output;
  out["coordinates"] = model.size();
  out["suggested_coordinates"] = build.suggested_size;
  out["vertices"] = model.vertex_count();
  out["elements"] = model.element_count();
  out["element"] = model.nodes_per_element == 4 ? "tet" : "brick";
  out["surface_vertices"] = model.surface.vertex_count();
  out["surface_triangles"] = model.surface.triangles.size();
  out["fixed_vertices"] = model.fixed_vertices.size();
  out["mass"] = build.mass;
  out["material_groups"] = model.groups.size();
  out["frequencies_hz"] = std::vector<double>(build.frequencies.begin(), build.frequencies.end());
  out["singular_values"] = std::vector<double>(build.singular_values.begin(), build.singular_values.end());
  if (build.loads_selected > 0) out["sketch"] = {{"loads", build.loads_selected}, {"shapes", build.shapes_selected}};
  out["bytes"] = bytes;
  out["timing"] = {
      {"mesh_s", build.mesh_seconds}, {"basis_s", build.basis_seconds}, {"coefficients_s", build.coefficients_seconds}};
}

void write_text(const Options& options, const SubspaceBuild& build, std::size_t bytes, Session& session) {
  const SubspaceModel& model = build.model;
  session.line("{}", options.input);
  session.line("body          {} vertices, {} {}, {:.5g} kg, {}", model.vertex_count(), model.element_count(),
               model.nodes_per_element == 4 ? "tetrahedra" : "bricks", build.mass,
               counted(model.groups.size(), "material", "materials"));
  session.line("surface       {} vertices, {} triangles", model.surface.vertex_count(), model.surface.triangles.size());
  for (const SceneSelection& f : build.fixed_selections)
    session.line("fixed         {} by {}", counted(f.vertices, "vertex", "vertices"), f.select);
  if (!model.anchored()) session.line("fixed         nothing: the object is free");
  if (build.frequencies.size() > 0)
    session.line("modes         {} linear modes from {:.4g} to {:.4g} Hz, and their derivatives",
                 build.frequencies.size(), build.frequencies[0], build.frequencies[build.frequencies.size() - 1]);
  else
    session.line("sketch        {} solved loads, {} different shapes", build.loads_selected, build.shapes_selected);
  session.line("coordinates   {} ({} suggested by the singular values)", model.size(), build.suggested_size);
  session.line("time          mesh {:.2f} s, basis {:.2f} s, force coefficients {:.2f} s", build.mesh_seconds,
               build.basis_seconds, build.coefficients_seconds);
  session.line("written       {} ({:.1f} MiB)", options.output, static_cast<double>(bytes) / (1 << 20));
}

/// Where the loops of a tree are closed, in words.
std::vector<std::string> loops_of(const DomainModel& model) {
  std::vector<std::string> lines;
  const auto bearer = [&](Index site) -> const std::string& {
    const Domain& domain = model.domains[to_size(model.domains[to_size(site)].parent)];
    return model.part_names[to_size(domain.part)];
  };
  for (const DomainClosure& loop : model.closures)
    lines.push_back(fmt::format("\"{}\" and {} are held together{}", bearer(loop.first),
                                loop.second < 0 ? "the ground" : fmt::format("\"{}\"", bearer(loop.second)),
                                loop.give > 0 ? fmt::format(" by a spring of {:.4g} N/m", 1 / loop.give) : ""));
  return lines;
}

/// Writes a tree of reduced parts and tells what it is made of.
Status write_tree(const Options& options, const DomainBuild& build, Session& session) {
  const DomainModel& model = build.model;
  const std::string bytes = encode_domain_model(model);
  SUPPLE_RETURN_IF_ERROR(write_file_atomically(options.output, bytes));
  session.line("{}", options.input);
  session.line("tree          {} domains, {} levels below the root, {:.5g} kg, {} coordinates", model.domain_count(),
               model.depth(), model.mass(), model.size());
  for (std::size_t p = 0; p < model.parts.size(); ++p) {
    const PartReport& part = build.parts[p];
    if (part.elements == 0 && part.size == 0) continue;  // the end of a closed loop
    session.line(
        "domain        {}: {} elements, {}", model.part_names[p], part.elements,
        part.size == 0 ? "rigid" : fmt::format("{} coordinates from {:.4g} Hz", part.size, part.lowest_frequency));
    if (part.points > 0)
      session.line("forces        sums over {} points, {:.1f} % off on shapes that weren't trained with", part.points,
                   100 * part.force_error);
    session.result["parts"].push_back({{"name", model.part_names[p]},
                                       {"elements", part.elements},
                                       {"coordinates", part.size},
                                       {"lowest_frequency_hz", part.lowest_frequency},
                                       {"points", part.points},
                                       {"force_error", part.force_error},
                                       {"seconds", part.seconds}});
  }
  for (const std::string& loop : loops_of(model)) session.line("loop          {}", loop);
  if (!model.anchored()) session.line("fixed         nothing: the object is free");
  session.line("time          {:.2f} s", build.seconds);
  session.line("written       {} ({:.1f} MiB)", options.output, static_cast<double>(bytes.size()) / (1 << 20));
  session.result["input"] = options.input;
  session.result["asset"] = options.output;
  session.result["domains"] = model.domain_count();
  session.result["coordinates"] = model.size();
  session.result["depth"] = model.depth();
  session.result["loops"] = model.closures.size();
  session.result["mass"] = model.mass();
  session.result["bytes"] = bytes.size();
  session.result["timing"] = {{"build_s", build.seconds}};
  return {};
}

/// A scene with [[domain]].
Status build_tree(const Options& options, const Scene& scene, Session& session) {
  const Result<DomainSceneBuild> built = build_domain_scene(scene, session.progress);
  if (!built.ok()) return about(options.input, built.error());
  session.warnings = built->warnings;
  SUPPLE_RETURN_IF_ERROR(write_tree(options, built->build, session));
  for (const SceneSelection& f : built->fixed_selections)
    session.line("fixed         {} by {}", counted(f.vertices, "vertex", "vertices"), f.select);
  return {};
}

/// The recipe of a plant.
Status build_plant_tree(const Options& options, Session& session) {
  const Result<PlantSource> source = load_plant(options.input);
  if (!source.ok()) return about(options.input, source.error());
  const Result<PlantModel> plant = build_plant(*source, session.progress);
  if (!plant.ok()) return about(options.input, plant.error());
  return write_tree(options, plant->build, session);
}

/// The first of some options that was given.
const CLI::Option* given(const std::vector<CLI::Option*>& options) {
  const auto found =
      std::find_if(options.begin(), options.end(), [](const auto* option) { return option->count() > 0; });
  return found != options.end() ? *found : nullptr;
}

/// A glTF file of a character is taken as an object where the options are those of one.
Result<std::optional<CharacterSource>> meant_character(const Options& options) {
  const bool object = given(options.object_only) != nullptr || given(options.mesh_only) != nullptr;
  if (object && !options.is_scene()) return std::optional<CharacterSource>();
  return character_in(options.input);
}

Status build(const Options& options, Session& session) {
  if (std::filesystem::path(options.output).extension() != ".supple")
    return usage_error(fmt::format("-o {}: a model's file ends in .supple", options.output));
  if (const Result<const CharacterEngine*> engine = find_engine(options.character.engine); !engine.ok())
    return engine.error();
  SUPPLE_RETURN_IF_ERROR(check_output(session, options.output, {options.input, options.sketch}));
  session.progress.stage("reading");
  if (options.is_scene() && is_plant(options.input)) return build_plant_tree(options, session);
  Result<std::optional<CharacterSource>> source = meant_character(options);
  SUPPLE_RETURN_IF_ERROR(source);
  if (*source) {
    for (const auto* some : {&options.object_only, &options.mesh_only})
      if (const CLI::Option* wrong = given(*some))
        return usage_error(fmt::format("{} is for objects, not for the character of a recipe", wrong->get_name()));
    CharacterOptions character = options.character;
    if (options.size > 0) character.coordinates = options.size;
    return build_character_asset(std::move(**source), options.input, options.output, character, session);
  }
  if (const CLI::Option* wrong = given(options.character_only))
    return usage_error(fmt::format("{} is for characters; {} is a mesh or a scene", wrong->get_name(), options.input));
  const Result<Scene> scene = make_scene(options);
  SUPPLE_RETURN_IF_ERROR(scene);
  if (scene->domains.any()) return build_tree(options, *scene, session);
  const Result<SubspaceBuild> built = build_subspace(*scene, session.progress);
  if (!built.ok()) return about(options.input, built.error());
  session.warnings = built->warnings;
  const std::string bytes = encode_subspace_model(built->model);
  SUPPLE_RETURN_IF_ERROR(write_file_atomically(options.output, bytes));
  write_text(options, *built, bytes.size(), session);
  fill_result(options, *built, bytes.size(), session.result);
  return {};
}

RunCommand add(CLI::App& app) {
  describe(
      app,
      "Makes a file (.supple) that runs in real time.\n"
      "Of a character, as a recipe or a .glb with a skin: its soft tissue with rig, reduced bases and cubature for\n"
      "all poses. `supple bake --asset` bakes with it, for clips that came later too. What was built before is\n"
      "found in a cache, so a changed recipe rebuilds only what it touches.\n"
      "Of one deformable object: a subspace model of a solid mesh as it is, or of a surface filled\n"
      "with bricks. The basis comes from vibration modes and their derivatives, or from a sketch (--sketch);\n"
      "the forces are exact for St. Venant-Kirchhoff material. `supple simulate` runs the model, `supple\n"
      "haptics` lets a ball touch it, `supple inspect` shows what is inside. Without --fix the object is free.\n"
      "Of a scene with [[domain]], or a plant's recipe: a tree of parts, each reduced by itself (plants, tails,\n"
      "machines).\n",
      "  supple build hero.toml -o hero.supple\n"
      "  supple build hero.glb -o hero.supple --size 60\n"
      "  supple build hero.glb --engine full -o hero_full.supple\n"
      "  supple build beam.veg --fix min-x -o beam.supple\n"
      "  supple build spoon.obj --resolution 60 --fix max-x --young 2e9 --density 1200 -o spoon.supple\n"
      "  supple build examples/beam_model.toml -o out/beam.supple\n");
  const auto options = std::make_shared<Options>();
  app.add_option("INPUT", options->input,
                 "A character (.glb, .gltf), its recipe (.toml), a mesh, or a scene (.toml)\nwith mesh, materials, "
                 "[[fix]] and [reduce]")
      ->required()
      ->type_name("");
  app.add_option("-o,--output", options->output, "The model to write")->required()->type_name("FILE");
  options->object_only.push_back(
      app.add_option("-n,--modes", options->modes, "Linear modes that an object's basis grows from [20]")
          ->check(positive())
          ->type_name("K"));
  app.add_option("-r,--size", options->size,
                 "Coordinates of the model [a character: 45; an object: what is suggested, at most 30]")
      ->check(positive())
      ->type_name("R");
  options->object_only.push_back(
      app.add_flag("--anchored", options->anchored, "Refuse an object that can move as a whole"));
  options->object_only.push_back(
      app.add_option("--sketch", options->sketch, "A recording of `supple sketch` to solve and take the basis from")
          ->type_name("FILE"));
  add_character_options(app, options->character);
  add_cache_option(app, options->character);
  for (const char* name : {"--engine", "--quality", "--frequency", "--damping", "--tets", "--no-cache"}) {
    options->character_only.push_back(app.get_option(name));
    options->character_only.back()->group("Characters");
  }
  add_mesh_options(app, *options, ", or paint:NAME for the\npainted part of a surface (the attribute above 0.5)");
  options->keep(app.add_option("--resolution", options->resolution, "Bricks along the longest side of a surface"))
      ->check(positive())
      ->type_name("N")
      ->capture_default_str();
  return [options](Session& session) { return build(*options, session); };
}

const RegisteredCommand registered{50, "build", "Make a real-time asset of a character or an object.", add};

}  // namespace
}  // namespace supple::build_verb
