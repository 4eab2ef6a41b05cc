// SPDX-License-Identifier: Apache-2.0
// A plant in the wind for one period, after others in which it has found its motion. The wind repeats, and so does what
// it drives; what is left between the last frame and the first is taken out of all of them, a little of it in each.
#pragma once

#include "supple/base/progress.h"
#include "supple/pipeline/object/base_motion.h"
#include "supple/pipeline/plant/plant_recipe.h"
#include "supple/runtime/domains/domain_dynamics.h"

namespace supple {

struct PlantSway {
  std::vector<double> times;           ///< of the frames [s], from 0 to the period
  std::vector<std::vector<double>> q;  ///< coordinates of all domains at each
  std::vector<RootMotion> root;        ///< where the root is at each
  bool loop = true;
  double speed = 0;         ///< of the wind [m/s]
  double sway = 0;          ///< of the middle of the upper quarter, to either side, as a share of the height
  double largest = 0;       ///< displacement of any vertex, as a share of the height
  double gap = 0;           ///< of the loop before it was closed, as a share of the largest
  double step_seconds = 0;  ///< median
  int rounds = 0;           ///< of looking for the wind
  int firmed = 0;           ///< parts that bent too far, whose frequencies were raised
};

/// Fails where the motion breaks down whatever the wind.
/// `base`: what carries the plant, or nothing.
Result<PlantSway> sway_plant(const DomainModel& model, const PlantRecipe& recipe, const BaseMotion* base,
                             double frequency, double height, Progress& progress = Progress::silent());

}  // namespace supple
