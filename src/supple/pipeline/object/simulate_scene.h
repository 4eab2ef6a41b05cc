// SPDX-License-Identifier: Apache-2.0
// Runs a scene whose mesh is a subspace model: the same loads, tracks and solver table as solve_scene.h, at a cost that
// depends on the model's r alone. Loads that don't change are projected once; a pressure follows the deformed surface
// and costs a look at the whole mesh in every step. A model that nothing holds falls, flies and turns (scene_motion.h);
// whatever is written shows it where it is in the world.
//
// Output goes to the scene's folder as solve_scene writes it (history.csv has one row per frame), or to a PC2 point
// cache of the model's surface with the surface itself beside it as .obj.
#pragma once

#include "supple/pipeline/object/solve_scene.h"

namespace supple {

struct SimulateOptions {
  std::filesystem::path point_cache;  ///< a .pc2 instead of the scene's folder; dynamic scenes only
  std::filesystem::path resume;       ///< a state to begin with (runtime/subspace/state_archive.h)
  std::filesystem::path save_state;   ///< where the last state goes
  bool force = false;                 ///< the surface beside the point cache may replace any file
};

struct SimulationSummary {
  SceneSummary scene;
  int coordinates = 0;      ///< r
  double step_seconds = 0;  ///< median of one step, loads included, output not
  double worst_step_seconds = 0;
};

/// Fails without output when the mesh is no model, a selection finds nothing, nothing holds the body of a static scene,
/// a step breaks down or the progress says cancelled.
Result<SimulationSummary> simulate_scene(const Scene& scene, const SimulateOptions& options = {},
                                         Progress& progress = Progress::silent());

}  // namespace supple
