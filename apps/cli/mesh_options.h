// SPDX-License-Identifier: Apache-2.0
// Commands that take a scene (.toml) also take a bare mesh, with a few options in place of the scene's tables. With a
// scene those options are refused: two places must not say the same thing.
#pragma once

#include "command.h"
#include "supple/pipeline/object/scene_file.h"

namespace supple {

struct MeshOptions {
  std::string input;  ///< the scene or the mesh
  std::vector<std::string> fixed;
  SceneMaterial material;
  std::vector<CLI::Option*> mesh_only;

  bool is_scene() const { return std::filesystem::path(input).extension() == ".toml"; }

  /// Lists the option under "Without a scene file".
  CLI::Option* keep(CLI::Option* option) {
    mesh_only.push_back(option->group("Without a scene file"));
    return option;
  }

  /// Fails when the input is a scene and one of the mesh's options was given.
  Status check() const;
  /// The mesh with what holds it and what it is made of.
  Scene scene() const;
};

/// --young, --poisson, --density.
std::vector<CLI::Option*> add_material_options(CLI::App& app, SceneMaterial& material);

/// --fix and the material's.
void add_mesh_options(CLI::App& app, MeshOptions& options, const std::string& more_selections = {});

}  // namespace supple
