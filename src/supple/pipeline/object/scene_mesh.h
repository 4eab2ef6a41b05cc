// SPDX-License-Identifier: Apache-2.0
// The mesh of a scene: a solid from a file, a box, a surface turned into bricks, or the mesh inside a subspace model;
// with the scene's materials.
#pragma once

#include "supple/asset/subspace_model.h"
#include "supple/mesh/embedding.h"
#include "supple/pipeline/object/scene_file.h"

#include <variant>

namespace supple {

using SolidMesh = std::variant<TetMesh, HexMesh>;

struct SceneMesh {
  SolidMesh solid;
  std::optional<Surface> surface;      ///< that the bricks were made around
  std::optional<Embedding> embedding;  ///< of that surface
  std::optional<SubspaceModel> model;  ///< where the scene's mesh is one; its groups have the scene's changes
  std::vector<std::string> warnings;   ///< of the mesh's reader
};

/// Makes the mesh of a scene. Errors name the scene or the mesh.
Result<SceneMesh> make_scene_mesh(const Scene& scene);

/// Reads a solid mesh from a file.
Result<SolidMesh> load_solid(const std::filesystem::path& path, std::vector<std::string>& warnings);

/// Replaces the values that are given in every material of the mesh.
void override_materials(SolidMesh& mesh, const SceneMaterial& material);

/// The elements that a region names, ascending. `surface`: what the mesh was made around, or null; paint is on it.
Result<std::vector<Index>> elements_of(const SceneRegion& region, const Scene& scene, const SolidMesh& mesh,
                                       const Surface* surface);

const std::vector<Vec3>& vertices_of(const SolidMesh& mesh);
std::size_t element_count_of(const SolidMesh& mesh);

/// Puts the scene's name and the part of it in front of an error: "SCENE: PART: message".
Error in_scene(const Scene& scene, std::string_view part, const Error& error);

}  // namespace supple
