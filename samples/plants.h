// SPDX-License-Identifier: Apache-2.0
// Plants made by code as artists make them: static surfaces in many pieces, nobody's domains.
//
//   tree    a trunk, twelve branches of one shape and 600 leaf cards of another
//   palm    a trunk and fourteen fronds
//   grass   180 blades that stand on the ground
//   oak     41 branches and 1,394 leaves: the scene of domain_scenes.h
//   bush    a stem, seven twigs, and leaves that are nodes of their own
#pragma once

#include "supple/base/result.h"
#include "supple/rig/raw_character.h"

#include <filesystem>
#include <span>
#include <string_view>

namespace supple::samples {

struct PlantExample {
  std::string_view name, brief;
  RawCharacter (*make)();
};
std::span<const PlantExample> plant_examples();
const PlantExample* find_plant_example(std::string_view name);

/// A trunk with `branches` branches, each with `leaves` leaf cards: the tree at any size.
RawCharacter make_tree(int branches, int leaves);

/// Writes a plant as .glb: wood is brown, leaves are green.
Status write_plant(const std::filesystem::path& file, const RawCharacter& plant);

}  // namespace supple::samples
