// SPDX-License-Identifier: Apache-2.0
// CharacterBody: the tetrahedra around a character with the materials that its recipe says and paints: what every
// engine starts from.
#pragma once

#include "supple/offline/fitting/embedded_body.h"
#include "supple/pipeline/character/character_source.h"

namespace supple {

/// Flesh that the recipe or the file of the tetrahedra sets apart from the rest.
struct BodyRegion {
  std::string name;
  std::vector<double> share;  ///< of each tetrahedron, 0 to 1
};

struct CharacterBody {
  EmbeddedBody body;            ///< with the recipe's materials and fixed vertices
  ElasticMaterial base;         ///< of what isn't painted
  bool file_materials = false;  ///< the stiffness is that of the regions of [body] mesh
  /// Quantities painted in some pose, one column per [[pose]] of the recipe.
  std::vector<std::pair<PaintQuantity, PosePaint>> pose_paints;
  std::vector<BodyRegion> regions;  ///< materials of [body] mesh, then each [[region]]
};

/// Fills the character with tetrahedra and paints them. Fails as embed_character() does, and on wrong paint, with the
/// line of the recipe that asks for it.
Result<CharacterBody> make_body(const CharacterSource& source, Progress& progress = Progress::silent(),
                                StageStore& store = StageStore::none());

/// Materials of all elements in one of the recipe's poses (2016 paper, Eq. 36): those of the tuned body, changed by
/// what paint of that pose changes; empty where nothing is painted in any pose. Mass doesn't change with the pose.
std::vector<ElasticMaterial> materials_in_pose(const CharacterBody& body, const TetMesh& tuned, std::size_t pose);

/// Finds what is wrong with paint on the skin before a body is made.
Status check_paints(const Recipe& recipe, const std::filesystem::path& folder, const RawCharacter& character);

/// The stiffness is to be found from `frequency`: the recipe gives no Young's modulus and paints none.
bool tunes_stiffness(const Recipe& recipe);

}  // namespace supple
