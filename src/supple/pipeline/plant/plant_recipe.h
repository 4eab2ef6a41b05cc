// SPDX-License-Identifier: Apache-2.0
// PlantRecipe: every choice that makes a static model a plant that moves in the wind (docs/plants.md). A file without a
// recipe follows the defaults.
#pragma once

#include "supple/base/result.h"
#include "supple/offline/domains/plan_plant.h"
#include "supple/pipeline/object/base_bone.h"

#include <filesystem>
#include <optional>

namespace supple {

struct PlantWind {
  Vec3 direction = Vec3(1, 0, 0.35);
  std::optional<double> speed;  ///< [m/s]; none: as much as the sway needs
  double gusts = 0.5, turbulence = 0.5;
  std::optional<double> eddy_size;  ///< [m]; none: eddies that pass about as fast as the plant swings
  double period = 8.0;              ///< of the loop [s]
};

struct PlantRecipe {
  std::string input;
  double scale = 1.0;               ///< metres that a unit of the file has
  std::optional<char> up;           ///< 'y' or 'z'; none: y in glTF, otherwise as the shape has it
  std::optional<double> frequency;  ///< lowest [Hz]; none: 2 / √height, from 0.5 to 2.5
  double sway = 0.03;               ///< of the upper quarter to either side, as a share of the height
  double damping = 0.1;             ///< as a share of the critical one
  double rate = 30;                 ///< frames per second
  PlantSettings body;
  PlantWind wind;
  std::optional<BaseBone> base;  ///< then no wind blows unless its speed is given
};

/// Errors name the file, the line and the key.
Result<PlantRecipe> parse_plant_recipe(std::string_view text, const std::string& name);
/// The recipe as a file with a comment for every key; `found` says what its remarks tell.
std::string write_plant_recipe(const PlantRecipe& recipe, const PlantFindings& found);

/// Whether a file is baked as a plant: a recipe with [plant], a mesh without a skeleton, or glTF without skin and
/// animation. False for anything that can't be read.
bool is_plant(const std::filesystem::path& path);

/// A recipe (.toml) as it is, or the one that a model's file gets when nobody has written one.
Result<PlantRecipe> load_plant_recipe(const std::filesystem::path& path);

}  // namespace supple
