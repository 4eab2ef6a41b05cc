// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/object/scene_file.h"

#include <fmt/format.h>
#include "supple/fem/material_limits.h"

#include "supple/io/file.h"
#include "supple/pipeline/toml_reader.h"

#include <algorithm>

namespace supple {
namespace {

using Keys = std::vector<std::string_view>;

void read_positive(TomlReader& toml, const toml::table& table, std::string_view key, double& value) {
  toml.read(table, key, value);
  if (table.contains(key) && !(value > 0)) toml.fail(*table.get(key), fmt::format("\"{}\" must be positive", key));
}

void read_not_negative(TomlReader& toml, const toml::table& table, std::string_view key, double& value) {
  toml.read(table, key, value);
  if (table.contains(key) && value < 0) toml.fail(*table.get(key), fmt::format("\"{}\" must not be negative", key));
}

/// Numbers beyond `most` would stand still, or take for ever, without a word.
template <class T>
void refuse_above(TomlReader& toml, const toml::table& table, std::string_view key, T value, T most,
                  std::string_view unit = "") {
  if (table.contains(key) && value > most)
    toml.fail(*table.get(key), fmt::format("\"{}\" must be at most {:g}{}", key, static_cast<double>(most), unit));
}

// ---- the body -------------------------------------------------------------------------------------------------------

void read_mesh(TomlReader& toml, const toml::table& root, Scene& scene) {
  toml.require(root, "a scene", "mesh");
  std::string mesh;
  toml.read(root, "mesh", mesh);
  if (mesh != "box") scene.mesh = scene.folder / mesh;
  const toml::table* box = toml.table(root, "box");
  if (!box) return;
  if (mesh != "box") toml.fail(*box, "[box] is only for mesh = \"box\"");
  toml.only_keys(*box, "[box]", Keys{"size", "cells", "element"});
  toml.read(*box, "size", scene.box.size);
  toml.read(*box, "cells", scene.box.cells);
  if (!(scene.box.size.array() > 0).all()) toml.fail(*box->get("size"), "\"size\" must be three positive lengths");
  refuse_above(toml, *box, "size", scene.box.size.maxCoeff(), 1e6, " m");
  const std::array<int, 3>& cells = scene.box.cells;
  if (std::int64_t{cells[0]} * cells[1] * cells[2] > 20'000'000)
    toml.fail(*box->get("cells"), "\"cells\" asks for more than 20 million cells");
  scene.box.bricks = toml.read_word(*box, "element", Keys{"tet", "brick"}).value_or(0) == 1;
}

void read_voxels(TomlReader& toml, const toml::table& root, Scene& scene) {
  const toml::table* table = toml.table(root, "voxels");
  if (!table) return;
  toml.only_keys(*table, "[voxels]", Keys{"resolution", "pieces"});
  VoxelOptions& voxels = scene.voxels.emplace();
  toml.read(*table, "resolution", voxels.resolution, 1);
  if (voxels.resolution > VoxelOptions::max_resolution)
    toml.fail(*table->get("resolution"),
              fmt::format("\"resolution\" must be at most {}", VoxelOptions::max_resolution));
  if (const auto pieces = toml.read_word(*table, "pieces", Keys{"largest", "all"}))
    voxels.pieces = *pieces == 0 ? VoxelPieces::largest : VoxelPieces::all;
}

void read_reduction(TomlReader& toml, const toml::table& root, Scene& scene) {
  const toml::table* table = toml.table(root, "reduce");
  if (!table) return;
  toml.only_keys(*table, "[reduce]", Keys{"modes", "size", "anchored", "sketch"});
  toml.read(*table, "modes", scene.reduction.linear_modes, 1);
  toml.read(*table, "size", scene.reduction.size, 1);
  toml.read(*table, "anchored", scene.reduction.anchored);
  std::string sketch;
  toml.read(*table, "sketch", sketch);
  if (!sketch.empty()) scene.reduction.sketch = scene.folder / sketch;
}

void read_elasticity(TomlReader& toml, const toml::table& table, SceneMaterial& material) {
  toml.read(table, "young", material.young);
  toml.read(table, "poisson", material.poisson);
  toml.read(table, "density", material.density);
  if (material.young && !(*material.young > 0 && *material.young <= stiffest_young))
    toml.fail(*table.get("young"),
              fmt::format("\"young\" must be positive and at most {:g} (pascals)", stiffest_young));
  if (material.density && !(*material.density > 0 && *material.density <= highest_density))
    toml.fail(*table.get("density"),
              fmt::format("\"density\" must be positive and at most {:g} (kg/m³)", highest_density));
  if (material.poisson && !(*material.poisson > -1 && *material.poisson <= highest_poisson))
    toml.fail(*table.get("poisson"),
              fmt::format("\"poisson\" must be greater than -1 and less than 0.5, at most {:g}", highest_poisson));
}

std::optional<MaterialModel> read_model(TomlReader& toml, const toml::table& table) {
  const Keys models{"linear", "corotational", "stvk", "neo_hookean", "stable_neo_hookean", "flesh"};
  const auto word = toml.read_word(table, "model", models);
  return word ? material_model_from(models[*word]) : std::nullopt;
}

/// Which elements a [[region]] or a [[domain]] has.
SceneRegion read_elements(TomlReader& toml, const toml::table& table, std::string_view title, const Scene& scene) {
  if (table.contains("set") + table.contains("select") + table.contains("surface") != 1)
    toml.fail(table, fmt::format("{} needs one of \"set\", \"select\" and \"surface\"", title));
  SceneRegion region;
  toml.read(table, "set", region.set);
  toml.read(table, "select", region.select);
  std::string surface;
  toml.read(table, "surface", surface);
  if (!surface.empty()) region.surface = scene.folder / surface;
  return region;
}

SceneRegion read_region(TomlReader& toml, const toml::table& table, const Scene& scene) {
  toml.only_keys(table, "[[region]]", Keys{"set", "select", "surface", "young", "poisson", "density"});
  SceneRegion region = read_elements(toml, table, "[[region]]", scene);
  read_elasticity(toml, table, region.material);
  return region;
}

void read_domains(TomlReader& toml, const toml::table& root, Scene& scene) {
  SceneDomains& domains = scene.domains;
  if (const toml::table* table = toml.table(root, "domains")) {
    toml.only_keys(*table, "[domains]",
                   Keys{"root", "size", "inertia", "iterations", "cut", "narrow", "loops", "coordinates", "smooth"});
    toml.read(*table, "root", domains.root);
    toml.read(*table, "size", domains.size, 0);
    toml.read(*table, "iterations", domains.iterations, 1);
    refuse_above(toml, *table, "iterations", domains.iterations, 100);
    toml.read(*table, "coordinates", domains.total, 1);
    read_positive(toml, *table, "smooth", domains.smooth);
    refuse_above(toml, *table, "smooth", domains.smooth, 1e6, " m");
    read_positive(toml, *table, "narrow", domains.narrow);
    if (domains.narrow >= 1) toml.fail(*table->get("narrow"), "\"narrow\" must be less than 1");
    if (const auto word = toml.read_word(*table, "cut", Keys{"by_hand", "branches", "necks"}))
      domains.cut = static_cast<SceneCut>(*word);
    if (domains.cut != SceneCut::by_hand) domains.loops = SceneLoops::merge;
    if (const auto word = toml.read_word(*table, "loops", Keys{"refuse", "merge", "close"}))
      domains.loops = static_cast<SceneLoops>(*word);
    if (const auto word = toml.read_word(*table, "inertia", Keys{"full", "centre", "interface"}))
      domains.inertia = static_cast<SceneInertia>(*word);
  }
  toml.tables(root, "domain", [&](const toml::table& table) {
    toml.only_keys(
        table, "[[domain]]",
        Keys{"name", "set", "select", "surface", "size", "frequency", "model", "joint", "axis", "joint_stiffness"});
    toml.require(table, "[[domain]]", "name");
    SceneDomain domain;
    toml.read(table, "name", domain.name);
    domain.elements = read_elements(toml, table, "[[domain]]", scene);
    toml.read(table, "size", domain.size, 0);
    read_positive(toml, table, "frequency", domain.frequency);
    refuse_above(toml, table, "frequency", domain.frequency, 1e3);
    domain.model = read_model(toml, table);
    if (const auto word = toml.read_word(table, "joint", Keys{"fixed", "hinge", "ball", "slider"}))
      domain.joint.kind = static_cast<JointKind>(*word);
    toml.read(table, "axis", domain.joint.axis);
    if (const double length = domain.joint.axis.norm(); table.contains("axis") && !(length > 1e-9 && length < 1e9))
      toml.fail(*table.get("axis"), "\"axis\" must be a direction, such as [0, 0, 1]");
    read_not_negative(toml, table, "joint_stiffness", domain.joint.stiffness);
    refuse_above(toml, table, "joint_stiffness", domain.joint.stiffness, 1e12);
    for (const SceneDomain& other : domains.parts)
      if (other.name == domain.name) toml.fail(table, fmt::format("two domains are named \"{}\"", domain.name));
    domains.parts.push_back(std::move(domain));
  });
}

void read_loops(TomlReader& toml, const toml::table& root, Scene& scene) {
  toml.tables(root, "loop", [&](const toml::table& table) {
    toml.only_keys(table, "[[loop]]", Keys{"between", "stiffness", "hold"});
    toml.require(table, "[[loop]]", "between");
    SceneLoop loop;
    toml.read(table, "between", loop.between);
    if (loop.between[0].empty() || loop.between[0] == loop.between[1])
      toml.fail(table, "\"between\" must name two domains, or one and \"ground\"");
    const bool is_domain = std::any_of(scene.domains.parts.begin(), scene.domains.parts.end(),
                                       [](const SceneDomain& domain) { return domain.name == "ground"; });
    for (std::string& name : loop.between)
      if (name == "ground" && !is_domain) name.clear();
    if (loop.between[0].empty()) std::swap(loop.between[0], loop.between[1]);
    read_positive(toml, table, "stiffness", loop.stiffness);
    if (const auto word = toml.read_word(table, "hold", Keys{"all", "point"})) loop.turns = *word == 1;
    scene.domains.closed.push_back(std::move(loop));
  });
  if (scene.domains.closed.empty()) return;
  const toml::table* table = toml.table(root, "domains");
  if (table != nullptr && table->contains("loops") && scene.domains.loops != SceneLoops::close)
    toml.fail(*table->get("loops"), "[[loop]] closes loops; say loops = \"close\", or leave it out");
  scene.domains.loops = SceneLoops::close;
}

void read_wind(TomlReader& toml, const toml::table& root, Scene& scene) {
  const toml::table* table = toml.table(root, "wind");
  if (!table) return;
  toml.only_keys(*table, "[wind]", Keys{"velocity", "gusts", "turbulence", "eddy_size", "period"});
  toml.require(*table, "[wind]", "velocity");
  WindField& wind = scene.wind.emplace();
  wind.gusts = 0.5;
  wind.turbulence = 0.4;
  toml.read(*table, "velocity", wind.velocity);
  if (!(wind.velocity.norm() <= 1000)) toml.fail(*table->get("velocity"), "\"velocity\" must be at most 1000 m/s");
  read_not_negative(toml, *table, "gusts", wind.gusts);
  read_not_negative(toml, *table, "turbulence", wind.turbulence);
  read_positive(toml, *table, "eddy_size", wind.eddy_size);
  read_positive(toml, *table, "period", wind.period);
  refuse_above(toml, *table, "gusts", wind.gusts, 10.0);
  refuse_above(toml, *table, "turbulence", wind.turbulence, 10.0);
  refuse_above(toml, *table, "eddy_size", wind.eddy_size, 1e6, " m");
  refuse_above(toml, *table, "period", wind.period, 1e6, " s");
}

void read_base(TomlReader& toml, const toml::table& root, Scene& scene) {
  const toml::table* table = toml.table(root, "base");
  if (!table) return;
  toml.only_keys(*table, "[base]", Keys{"character", "joint", "clip"});
  toml.require(*table, "[base]", "character");
  toml.require(*table, "[base]", "joint");
  BaseBone& base = scene.base.emplace();
  toml.read(*table, "character", base.character);
  toml.read(*table, "joint", base.joint);
  toml.read(*table, "clip", base.clip);
}

void read_materials(TomlReader& toml, const toml::table& root, Scene& scene) {
  if (const toml::table* material = toml.table(root, "material")) {
    toml.only_keys(*material, "[material]", Keys{"model", "young", "poisson", "density"});
    if (const auto model = read_model(toml, *material)) {
      scene.model = *model;
      scene.model_given = true;
    }
    read_elasticity(toml, *material, scene.material);
  }
  toml.tables(root, "region",
              [&](const toml::table& table) { scene.regions.push_back(read_region(toml, table, scene)); });
  toml.tables(root, "group", [&](const toml::table& table) {
    toml.only_keys(table, "[[group]]", Keys{"name", "young", "poisson", "density"});
    SceneGroup& group = scene.groups.emplace_back();
    toml.read(table, "name", group.name);
    read_elasticity(toml, table, group.material);
  });
}

// ---- what holds and pushes it ---------------------------------------------------------------------------------------

constexpr double strongest_gravity = 1e6;  // [m/s²]: a thousand times that of a crash

TimeWindow read_window(TomlReader& toml, const toml::table& table) {
  TimeWindow window;
  toml.read(table, "start", window.start);
  toml.read(table, "end", window.end);
  if (!(window.start < window.end)) toml.fail(table, "\"end\" must be later than \"start\"");
  return window;
}

SceneForce read_force(TomlReader& toml, const toml::table& table) {
  toml.only_keys(table, "[[force]]", Keys{"select", "total", "per_vertex", "start", "end"});
  toml.require(table, "[[force]]", "select");
  if (table.contains("total") == table.contains("per_vertex"))
    toml.fail(table, "[[force]] needs either \"total\" or \"per_vertex\", in newtons");
  SceneForce force;
  toml.read(table, "select", force.select);
  toml.read(table, "total", force.newtons);
  toml.read(table, "per_vertex", force.newtons);
  force.per_vertex = table.contains("per_vertex");
  force.window = read_window(toml, table);
  return force;
}

void read_loads(TomlReader& toml, const toml::table& root, Scene& scene) {
  toml.read(root, "gravity", scene.gravity);
  if (!(scene.gravity.norm() <= strongest_gravity))
    toml.fail(*root.get("gravity"), fmt::format("\"gravity\" must be at most {:g} m/s²", strongest_gravity));
  toml.tables(root, "fix", [&](const toml::table& table) {
    toml.only_keys(table, "[[fix]]", Keys{"select"});
    toml.require(table, "[[fix]]", "select");
    toml.read(table, "select", scene.fixed.emplace_back());
  });
  toml.tables(root, "force", [&](const toml::table& table) { scene.forces.push_back(read_force(toml, table)); });
  toml.tables(root, "traction", [&](const toml::table& table) {
    toml.only_keys(table, "[[traction]]", Keys{"select", "value", "start", "end"});
    toml.require(table, "[[traction]]", "select");
    toml.require(table, "[[traction]]", "value");
    SceneTraction& traction = scene.tractions.emplace_back();
    toml.read(table, "select", traction.select);
    toml.read(table, "value", traction.pascals);
    traction.window = read_window(toml, table);
  });
  toml.tables(root, "pressure", [&](const toml::table& table) {
    toml.only_keys(table, "[[pressure]]", Keys{"select", "value", "start", "end"});
    toml.require(table, "[[pressure]]", "select");
    toml.require(table, "[[pressure]]", "value");
    ScenePressure& pressure = scene.pressures.emplace_back();
    toml.read(table, "select", pressure.select);
    toml.read(table, "value", pressure.pascals);
    pressure.window = read_window(toml, table);
  });
}

// ---- how it is solved -----------------------------------------------------------------------------------------------

void read_linear_solver(TomlReader& toml, const toml::table& table, LinearSettings& linear) {
  if (const auto method = toml.read_word(table, "linear_solver", Keys{"automatic", "direct", "conjugate_gradients"})) {
    constexpr LinearMethod methods[] = {LinearMethod::automatic, LinearMethod::direct,
                                        LinearMethod::conjugate_gradients};
    linear.method = methods[*method];
  }
  read_positive(toml, table, "linear_tolerance", linear.cg_tolerance);
  refuse_above(toml, table, "linear_tolerance", linear.cg_tolerance, 0.1);
}

/// A tolerance of one takes any guess for the answer.
void read_newton(TomlReader& toml, const toml::table& table, int& iterations, double& tolerance) {
  toml.read(table, "newton_iterations", iterations, 1);
  refuse_above(toml, table, "newton_iterations", iterations, 10'000);
  read_positive(toml, table, "newton_tolerance", tolerance);
  refuse_above(toml, table, "newton_tolerance", tolerance, 0.1);
}

void read_dynamics(TomlReader& toml, const toml::table& table, Scene& scene) {
  DynamicsSettings& settings = scene.dynamics;
  const Keys integrators{"newmark", "backward_euler", "central_differences"};
  if (const auto integrator = toml.read_word(table, "integrator", integrators)) {
    constexpr Integrator values[] = {Integrator::newmark, Integrator::backward_euler, Integrator::central_differences};
    settings.integrator = values[*integrator];
  }
  read_positive(toml, table, "dt", settings.time_step);
  read_positive(toml, table, "duration", scene.duration);
  if (scene.duration / settings.time_step > 1e9) toml.fail(table, "\"duration\" takes more than 1e9 steps of \"dt\"");
  if (settings.time_step >= 2 * scene.duration)
    toml.fail(table, fmt::format("a step (\"dt\", {:g} s) is longer than all that is simulated (\"duration\", {:g} s)",
                                 settings.time_step, scene.duration));
  read_positive(toml, table, "newmark_beta", settings.newmark_beta);
  toml.read(table, "newmark_gamma", settings.newmark_gamma);
  refuse_above(toml, table, "newmark_beta", settings.newmark_beta, 1.0);
  refuse_above(toml, table, "newmark_gamma", settings.newmark_gamma, 1.0);
  if (settings.newmark_gamma < 0.5)
    toml.fail(*table.get("newmark_gamma"), "\"newmark_gamma\" must be at least 0.5; below that energy grows");
  read_not_negative(toml, table, "mass_damping", settings.mass_damping);
  refuse_above(toml, table, "mass_damping", settings.mass_damping, 1e6, " 1/s");
  read_not_negative(toml, table, "stiffness_damping", settings.stiffness_damping);
  refuse_above(toml, table, "stiffness_damping", settings.stiffness_damping, 1e6, " s");
  read_newton(toml, table, settings.max_newton_iterations, settings.newton_tolerance);
  read_linear_solver(toml, table, settings.linear);
}

void read_statics(TomlReader& toml, const toml::table& table, Scene& scene) {
  toml.read(table, "load_steps", scene.statics.load_steps, 1);
  refuse_above(toml, table, "load_steps", scene.statics.load_steps, 100'000);
  read_newton(toml, table, scene.statics.max_iterations, scene.statics.tolerance);
  read_linear_solver(toml, table, scene.statics.linear);
}

void read_solver(TomlReader& toml, const toml::table& root, SceneUse use, Scene& scene) {
  if (use == SceneUse::run) toml.require(root, "a scene", "solver");
  const toml::table* solver = toml.table(root, "solver");
  if (!solver) return;
  const Keys shared{"kind", "newton_iterations", "newton_tolerance", "linear_solver", "linear_tolerance"};
  const Keys only_dynamic{"integrator",    "dt",           "duration",         "newmark_beta",
                          "newmark_gamma", "mass_damping", "stiffness_damping"};
  const Keys only_static{"load_steps"};
  Keys all = shared;
  all.insert(all.end(), only_dynamic.begin(), only_dynamic.end());
  all.insert(all.end(), only_static.begin(), only_static.end());
  toml.only_keys(*solver, "[solver]", all);
  toml.require(*solver, "[solver]", "kind");
  const auto kind = toml.read_word(*solver, "kind", Keys{"static", "dynamic"});
  if (!kind) return;
  scene.dynamic = *kind == 1;
  for (const std::string_view key : scene.dynamic ? only_static : only_dynamic) {
    if (solver->contains(key))
      toml.fail(*solver->get(key),
                fmt::format("\"{}\" is for kind = \"{}\"", key, scene.dynamic ? "static" : "dynamic"));
  }
  if (scene.dynamic)
    read_dynamics(toml, *solver, scene);
  else
    read_statics(toml, *solver, scene);
}

void read_output(TomlReader& toml, const toml::table& root, Scene& scene) {
  toml.tables(root, "track", [&](const toml::table& table) {
    toml.only_keys(table, "[[track]]", Keys{"name", "select"});
    toml.require(table, "[[track]]", "name");
    toml.require(table, "[[track]]", "select");
    SceneTrack track;
    toml.read(table, "name", track.name);
    toml.read(table, "select", track.select);
    if (track.name.find_first_of(",\"\n") != track.name.npos)
      toml.fail(table, "a track's \"name\" heads a column: no commas, quotes or line breaks");
    for (const SceneTrack& other : scene.tracks)
      if (other.name == track.name) toml.fail(table, fmt::format("two tracks are named \"{}\"", track.name));
    scene.tracks.push_back(track);
  });
  const toml::table* output = toml.table(root, "output");
  if (!output) return;
  toml.only_keys(*output, "[output]", Keys{"directory", "every"});
  toml.require(*output, "[output]", "directory");
  std::string directory;
  toml.read(*output, "directory", directory);
  scene.output.directory = scene.folder / directory;
  toml.read(*output, "every", scene.output.every, 0);
}

void check_windows(TomlReader& toml, const toml::table& root, const Scene& scene) {
  if (!root.contains("solver")) return;
  bool windows = false;
  for (const SceneForce& load : scene.forces) windows |= !load.window.always();
  for (const SceneTraction& load : scene.tractions) windows |= !load.window.always();
  for (const ScenePressure& load : scene.pressures) windows |= !load.window.always();
  if (windows && !scene.dynamic) toml.fail(root, "a static scene has no time, so its loads can't have start or end");
}

}  // namespace

int Scene::step_count() const { return static_cast<int>(std::max(1.0, std::round(duration / dynamics.time_step))); }

Result<Scene> parse_scene(std::string_view text, const std::string& name, const std::filesystem::path& folder,
                          SceneUse use) {
  TomlReader toml(name);
  const toml::table* parsed = toml.parse(text);
  if (!parsed) return toml.error();
  const toml::table& root = *parsed;
  Scene scene;
  scene.name = name;
  scene.folder = folder;
  toml.only_keys(root, "a scene", Keys{"mesh", "gravity", "box",      "voxels",   "material", "region",  "group",
                                       "fix",  "force",   "traction", "pressure", "reduce",   "domains", "domain",
                                       "loop", "wind",    "base",     "solver",   "track",    "output"});
  read_mesh(toml, root, scene);
  read_voxels(toml, root, scene);
  read_reduction(toml, root, scene);
  read_materials(toml, root, scene);
  read_domains(toml, root, scene);
  read_loops(toml, root, scene);
  read_wind(toml, root, scene);
  read_base(toml, root, scene);
  read_loads(toml, root, scene);
  read_solver(toml, root, use, scene);
  read_output(toml, root, scene);
  check_windows(toml, root, scene);
  SUPPLE_RETURN_IF_ERROR(toml);
  return scene;
}

Result<Scene> load_scene(const std::filesystem::path& path, SceneUse use) {
  const Result<std::string> text = read_file(path);
  SUPPLE_RETURN_IF_ERROR(text);
  return parse_scene(*text, path.string(), path.parent_path(), use);
}

}  // namespace supple
