// SPDX-License-Identifier: Apache-2.0
// Scenes whose body is a tree of domains (2011 paper): [[domain]] names its parts, `supple build` reduces each of them,
// and `supple simulate` runs the tree under gravity, wind and forces, much as simulate_scene.h does for one reduced
// body.
#pragma once

#include "supple/offline/domains/build_domains.h"
#include "supple/pipeline/object/simulate_scene.h"

namespace supple {

struct DomainSceneBuild {
  DomainBuild build;
  std::vector<SceneSelection> fixed_selections;
  std::vector<std::string> warnings;
};

/// Fails with a sentence on elements that belong to no domain, and on all that split_mesh.h and build_domains.h refuse.
Result<DomainSceneBuild> build_domain_scene(const Scene& scene, Progress& progress = Progress::silent());

/// Whether the file is a model made of domains.
bool holds_domains(const std::filesystem::path& path);

struct DomainSceneSummary {
  int domains = 0, coordinates = 0, steps = 0;
  double step_seconds = 0;          ///< median of one step
  double largest_motion = 0;        ///< of any vertex of the surface, from where a moving base would carry it [m]
  double largest_gap = 0;           ///< between copies of a vertex at an interface [m]
  double kinetic = 0, elastic = 0;  ///< at the end [J]
  std::vector<std::filesystem::path> files;
  std::vector<std::string> warnings;
};

/// Runs a dynamic scene whose mesh is a model of domains. Writes a PC2 point cache with the surface beside it as .obj,
/// or history.csv and final.obj into the scene's folder. Fails without output on selections that find nothing, on loads
/// that domains don't take (tractions, pressures), and where a step breaks down.
Result<DomainSceneSummary> simulate_domain_scene(const Scene& scene, const SimulateOptions& options = {},
                                                 Progress& progress = Progress::silent());

}  // namespace supple
