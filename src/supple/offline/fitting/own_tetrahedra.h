// SPDX-License-Identifier: Apache-2.0
// Own tetrahedra: a body that a user brings instead of the mesher's.
//
// The mesher promises much of what it makes; a file promises nothing. So three questions are asked before anything is
// built on it, each with an answer that says what to mend:
//   are the elements sound?    none flat, and none folded over: two elements that share a face lie on either side of it
//   is it a body?              each face belongs to one element or to two
//   does it hold the skin?     nearly all of the skin lies inside, or so near that its element carries it along
// The turning of an element's nodes means nothing (readers turn what is wound the other way), so folds are found where
// two neighbours, both turned to positive volume, see the face between them from the same side.
#pragma once

#include "supple/base/result.h"
#include "supple/mesh/surface.h"
#include "supple/mesh/volume_mesh.h"

#include <string>

namespace supple {

struct OwnTetSettings {
  double near_share = 0.05;    ///< of the skin's diagonal: farther out no element carries a vertex sensibly
  double most_outside = 0.05;  ///< share of the skin's vertices that may lie farther out than that
  double remark_share = 0.02;  ///< of the diagonal: what lies farther out is told
};

/// How the skin lies in the tetrahedra, as shares of its vertices.
struct SkinCover {
  double outside = 0;     ///< outside of all elements
  double far = 0;         ///< farther than near_share of the diagonal
  double visible = 0;     ///< farther than remark_share of the diagonal
  double farthest = 0;    ///< [m]
  double size_ratio = 1;  ///< diagonal of the tetrahedra over that of the skin
};

/// Leaves out vertices that belong to no element. Sets, regions and materials stay as they are.
void drop_loose_vertices(TetMesh& mesh);

/// Elements that lie on the same side of a face as their neighbour. All volumes must be positive.
Index folded_elements(const TetMesh& mesh);

/// Refuses flat and folded elements, and faces of three or more elements. `name` begins the sentence.
Status check_tetrahedra(const TetMesh& mesh, const std::string& name);

/// Refuses tetrahedra that don't surround the skin, both in metres, and says how much of it is outside.
Result<SkinCover> check_cover(const TetMesh& mesh, const Surface& skin, const std::string& name,
                              const OwnTetSettings& settings = {});

}  // namespace supple
