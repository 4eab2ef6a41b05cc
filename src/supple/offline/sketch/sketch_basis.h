// SPDX-License-Identifier: Apache-2.0
// A basis from a sketch (2005 paper, section 5.2): the recorded loads, thinned out, are solved on the full nonlinear
// body; the shapes, thinned out by mass distance (Eq. 17), go through mass-PCA.
//
// Loads are solved in parallel, each by itself, so that a shape does not depend on the others. Every solved shape goes
// to the folder at once: after an interruption the same call continues with what is missing and ends with the same
// bits.
#pragma once

#include "supple/fem/statics.h"
#include "supple/offline/sketch/sketch_recording.h"

namespace supple {

struct SketchSettings {
  std::filesystem::path folder;    ///< for solved shapes; created when missing
  double load_separation = 0.02;   ///< between selected loads, as a part of the largest load
  double shape_separation = 0.01;  ///< between selected shapes, in mass norm, as a part of the largest shape
  int size = 0;                    ///< r; 0 takes the suggested one
  StaticsSettings statics = {};
};

struct SketchBasis {
  MatX basis;            ///< 3n × r, mass-orthonormal
  VecX singular_values;  ///< all, descending
  int suggested_size = 0;
  int loads_recorded = 0;
  int loads_selected = 0;
  int shapes_found = 0;               ///< of those loads, taken from the folder
  int shapes_solved = 0;              ///< and solved now
  int shapes_selected = 0;            ///< that the basis is made of
  std::vector<std::string> failures;  ///< one sentence for each load that is left out: no equilibrium, or inside out
  double solve_seconds = 0.0;
};

/// Fails when the recording doesn't fit the body, when no shape is left, or when cancelled; what was solved stays.
Result<SketchBasis> solve_sketch(const ElasticBody& body, std::span<const Index> fixed,
                                 const SketchRecording& recording, const SketchSettings& settings,
                                 Progress& progress = Progress::silent());

/// Indices of shapes (columns) that are at least `distance` in mass norm from all shapes kept before, and from rest.
std::vector<Eigen::Index> select_separated_shapes(const BlockMatrix& mass, const MatX& shapes, double distance);

}  // namespace supple
