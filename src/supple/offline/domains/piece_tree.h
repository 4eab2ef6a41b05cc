// SPDX-License-Identifier: Apache-2.0
// What hangs on what: pieces of a plant as a tree, from the ground up. Pieces that stand on the ground come first;
// then, again and again, the piece with the smallest gap to one that hangs already is hung on it. So there can't be
// loops. A piece would rather hang on a larger one: a leaf touches its twig and other leaves.
#pragma once

#include "supple/offline/domains/surface_pieces.h"

#include <optional>

namespace supple {

/// What holds a plant: the ground under its lowest vertex, y up, or a place such as a bone's, around its nearest
/// vertex.
struct PlantGround {
  double level = 0;                ///< y of the ground [m]
  std::optional<Vec3> place = {};  ///< in place of the ground
  double nearest = 0;              ///< of the vertices to the place [m]

  /// How far a point is from what is held.
  double away(const Vec3& x) const { return place ? (x - *place).norm() - nearest : x.y() - level; }
};

/// Where a piece is held.
struct PieceHold {
  Index parent = -1;            ///< piece; −1: the ground
  Vec3 contact = Vec3::Zero();  ///< the middle of what touches
  double gap = 0;               ///< to the parent, or above the ground [m]
};

struct PieceTree {
  std::vector<PieceHold> hold;  ///< of each piece
  std::vector<Index> order;     ///< of the pieces, parents before their children
};

/// `height`: of the whole plant.
PieceTree hang_pieces(std::span<const SurfacePiece> pieces, const PlantGround& ground, double height);

}  // namespace supple
