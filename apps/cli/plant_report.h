// SPDX-License-Identifier: Apache-2.0
// supple bake and supple init for plants: static models that move in the wind.
#pragma once

#include "command.h"
#include "supple/base/types.h"

#include <filesystem>
#include <optional>

namespace supple {

/// Options of `supple bake` that a plant takes.
struct PlantOptions {
  std::optional<double> frequency, damping, tolerance;
  std::optional<int> tets;
  double rate = 0;  ///< 0: as the recipe says
  int most_morphs = 24;
  Vec3 wind = Vec3::Zero();  ///< [m/s]; zero: as the recipe says
};

Status bake_plant_file(const std::string& input, const std::filesystem::path& output, const PlantOptions& options,
                       Session& session, Json& out);

/// Writes the recipe that the plant would follow; `name` is how it names the input.
Status init_plant(const std::string& input, const std::string& name, const std::filesystem::path& output,
                  Session& session);

}  // namespace supple
