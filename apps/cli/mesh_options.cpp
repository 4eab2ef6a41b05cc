// SPDX-License-Identifier: Apache-2.0
#include "mesh_options.h"

#include "supple/fem/material_limits.h"
namespace supple {

Status MeshOptions::check() const {
  if (!is_scene()) return {};
  for (const CLI::Option* option : mesh_only) {
    if (option->count() > 0)
      return usage_error(
          fmt::format("{} is for a mesh; write it into {} instead (docs/scene.md)", option->get_name(), input));
  }
  return {};
}

Scene MeshOptions::scene() const {
  Scene scene;
  scene.name = input;
  scene.mesh = input;
  scene.material = material;
  scene.fixed = fixed;
  return scene;
}

std::vector<CLI::Option*> add_material_options(CLI::App& app, SceneMaterial& material) {
  return {app.add_option("--young", material.young, "Young's modulus [Pa]")
              ->check(positive(stiffest_young))
              ->type_name("E"),
          app.add_option("--poisson", material.poisson, "Poisson's ratio, below 0.5")
              ->check(between(-0.999, highest_poisson))
              ->type_name("NU"),
          app.add_option("--density", material.density, "Density [kg/m³]")
              ->check(positive(highest_density))
              ->type_name("RHO")};
}

void add_mesh_options(CLI::App& app, MeshOptions& options, const std::string& more_selections) {
  options
      .keep(app.add_option(
          "--fix", options.fixed,
          std::string("Vertices that can't move; may be repeated:\n") + selection_help + more_selections))
      ->type_name("SELECT")
      ->allow_extra_args(false);
  for (CLI::Option* option : add_material_options(app, options.material)) options.keep(option);
}

}  // namespace supple
