// SPDX-License-Identifier: Apache-2.0
// What a scene's words mean on its mesh: materials, fixed vertices and loads, all checked before any work begins.
#pragma once

#include "supple/mesh/surface.h"
#include "supple/pipeline/object/scene_mesh.h"

namespace supple {

struct SelectedForce {
  std::vector<Index> vertices;
  Vec3 newtons;  ///< at each of them
  TimeWindow window;
};

struct SelectedTraction {
  std::vector<Triangle> triangles;  ///< of solid vertices, outward
  Vec3 pascals;
  TimeWindow window;
};

struct SelectedPressure {
  std::vector<Triangle> triangles;
  double pascals;
  TimeWindow window;
};

struct SceneSelection {
  std::string select;
  std::size_t vertices = 0;
};

struct SceneBody {
  SolidMesh mesh;                  ///< with the scene's materials
  std::optional<Surface> surface;  ///< that rides on the mesh, where the scene has one
  std::optional<Embedding> embedding;
  std::optional<SubspaceModel> model;
  ElasticBody body;
  std::vector<Index> fixed;
  std::vector<SceneSelection> fixed_selections;  ///< how many vertices each [[fix]] found
  VecX gravity_force;
  std::vector<SelectedForce> forces;
  std::vector<SelectedTraction> tractions;
  std::vector<SelectedPressure> pressures;
  std::vector<std::vector<Index>> tracks;  ///< vertices of each track
  std::vector<std::string> warnings;       ///< of the mesh's reader

  std::size_t element_count() const { return element_count_of(mesh); }
  bool has_pressure() const { return !pressures.empty(); }
  /// All loads that act at `time` on the body displaced by u.
  VecX external_force(const VecX& u, double time) const;
};

/// Makes the body of a scene. Errors name the scene or the mesh.
Result<SceneBody> make_scene_body(const Scene& scene);

}  // namespace supple
