// SPDX-License-Identifier: Apache-2.0
// From a scene's body to a subspace model (2005 paper): bricks or tetrahedra, a basis from modes and their derivatives
// or from a sketch, exact force coefficients, and the surface to look at.
#pragma once

#include "supple/asset/subspace_model.h"
#include "supple/base/progress.h"
#include "supple/offline/sketch/sketch_recording.h"
#include "supple/pipeline/object/scene_body.h"

namespace supple {

struct SubspaceBuild {
  SubspaceModel model;
  VecX frequencies;  ///< of the linear modes [Hz]; empty for sketches
  VecX singular_values;
  int suggested_size = 0;
  int loads_selected = 0;   ///< how many loads of a sketch were solved …
  int shapes_selected = 0;  ///< … and how many of their shapes the basis is made from
  double mass = 0;          ///< [kg]
  std::vector<SceneSelection> fixed_selections;
  std::vector<std::string> warnings;
  double mesh_seconds = 0;
  double basis_seconds = 0;
  double coefficients_seconds = 0;
};

/// Fails with a sentence on bodies without an inside, in pieces, inside out, not held where that was asked for, on
/// incompressible materials, on another material than St. Venant-Kirchhoff, and on more basis vectors than exist.
Result<SubspaceBuild> build_subspace(const Scene& scene, Progress& progress = Progress::silent());

/// One scripted pull of a sketch: grabs the selected vertices and walks along the corners.
struct SketchPull {
  std::string select;
  std::vector<PullCorner> path;
  int steps = 20;
};

/// Plays the pulls on the linear modal model of the scene's body and records the loads, one pull after the other.
Result<SketchRecording> record_sketch(const Scene& scene, std::span<const SketchPull> pulls,
                                      Progress& progress = Progress::silent());

}  // namespace supple
