// SPDX-License-Identifier: Apache-2.0
// PlantSource: a plant's file, read once: the document that writers add to, its meshes, and its surface at rest in the
// world, in metres and y up.
#pragma once

#include "supple/io/gltf/gltf_document.h"
#include "supple/pipeline/object/base_motion.h"
#include "supple/pipeline/plant/plant_recipe.h"
#include "supple/rig/raw_character.h"

namespace supple {

struct PlantSource {
  PlantRecipe recipe;
  GltfDocument document;
  RawCharacter character;  ///< its meshes, in the file's units
  Surface surface;         ///< all of them, mesh after mesh [m]
  std::optional<BaseMotion> base;
};

/// A recipe, whose input lies beside it, or a model's file. What isn't glTF becomes a document of its own.
Result<PlantSource> load_plant(const std::filesystem::path& path);

}  // namespace supple
