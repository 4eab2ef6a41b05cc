// SPDX-License-Identifier: Apache-2.0
// A body that the user brings: [body] mesh = "hero.msh" of a recipe, tetrahedra around the character of its input.
//
// The file is in the units and the place of the input, in the pose that its skin is bound in; what the recipe's `scale`
// does to the input it does to the tetrahedra. Materials that the file gives to its regions stay, unless the recipe
// says what the flesh is made of.
#pragma once

#include "supple/mesh/volume_mesh.h"
#include "supple/offline/painting/painted_body.h"
#include "supple/pipeline/character/recipe.h"

namespace supple {

struct OwnBody {
  TetMesh mesh;                       ///< [m]
  std::string name;                   ///< of the file, as the recipe has it, with the line that names it
  std::vector<std::string> warnings;  ///< each a sentence
};

/// Reads the tetrahedra that the recipe names and checks that they are sound. Surfaces and bricks are refused.
Result<OwnBody> load_own_body(const Recipe& recipe, const std::filesystem::path& folder);

/// What the regions of a mesh are made of, as paint: E, ν and ρ of each element, those of `base` where the file says
/// nothing. Empty where it says nothing at all.
std::vector<PaintedQuantity> file_materials(const TetMesh& mesh, const ElasticMaterial& base);

}  // namespace supple
