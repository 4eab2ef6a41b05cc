// SPDX-License-Identifier: Apache-2.0
// Runs a scene (pipeline/object/scene_file.h) and writes what it asks for:
//   static    final.vtu, history.csv (one row)
//   dynamic   frame_000000.vtu …, series.pvd (open this in ParaView), final.vtu, history.csv (a row per step)
// Everything is written into a folder of its own beside the target and moved there at the end: a run that fails or is
// stopped leaves nothing.
#pragma once

#include "supple/base/progress.h"
#include "supple/pipeline/object/scene_body.h"

namespace supple {

struct TrackResult {
  std::string name;
  std::size_t vertices = 0;
  Vec3 displacement = Vec3::Zero();  ///< mean at the end [m]
};

struct SceneSummary {
  std::size_t vertices = 0;
  std::size_t elements = 0;
  std::size_t fixed_vertices = 0;
  std::vector<SceneSelection> fixed_selections;
  double mass = 0;  ///< [kg]
  int steps = 0;    ///< time steps, or load steps
  int newton_iterations = 0;
  int unconverged_steps = 0;     ///< time steps that stopped at the limit of Newton iterations
  double residual = 0;           ///< of the equilibrium, or the worst of all time steps
  double time = 0;               ///< at the end [s]
  double elastic_energy = 0;     ///< at the end [J]
  double kinetic_energy = 0;     ///< at the end [J]
  double gravity_energy = 0;     ///< at the end, relative to rest [J]
  double peak_displacement = 0;  ///< largest of all vertices and times [m]
  Index peak_vertex = 0;
  double peak_time = 0;           ///< [s]
  double final_displacement = 0;  ///< largest of all vertices at the end [m]
  Vec3 reaction = Vec3::Zero();   ///< static: total force of the fixed vertices on the body [N]
  std::vector<TrackResult> tracks;
  std::vector<std::string> warnings;
  std::vector<std::filesystem::path> files;
  double setup_seconds = 0;
  double solve_seconds = 0;
};

/// Fails without output when a selection finds nothing, the solver gives up or the progress says cancelled.
Result<SceneSummary> solve_scene(const Scene& scene, Progress& progress = Progress::silent());

}  // namespace supple
