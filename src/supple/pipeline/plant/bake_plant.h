// SPDX-License-Identifier: Apache-2.0
// Baking a plant: a static model, found to be made of parts, moves in the wind and is written so that others can play
// it. The same road as a character's, with domains for an engine and a wind for a clip.
#pragma once

#include "supple/export/write_soft_glb.h"
#include "supple/pipeline/plant/plant_source.h"
#include "supple/pipeline/plant/sway_plant.h"

namespace supple {

struct PlantModel {
  PlantPlan plan;
  DomainBuild build;
  double frequency = 0;  ///< lowest [Hz]
};

/// Finds the parts of a plant, reduces and tunes them.
Result<PlantModel> build_plant(const PlantSource& source, Progress& progress = Progress::silent());

struct PlantReport {
  PlantFindings found;
  Index domains = 0, kinds = 0, coordinates = 0, joints = 0;
  double frequency = 0;
  PlantSway sway;  ///< without its coordinates
  double largest_gap = 0;
  SoftGlbReport glb;
  double build_seconds = 0, simulate_seconds = 0, write_seconds = 0;
};

/// `output`: a .glb or .gltf file. `soft`: tolerance and morph targets.
Result<PlantReport> bake_plant(const PlantSource& source, const std::filesystem::path& output, const SoftOutput& soft,
                               Progress& progress = Progress::silent());

}  // namespace supple
