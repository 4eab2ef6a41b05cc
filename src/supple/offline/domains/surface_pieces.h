// SPDX-License-Identifier: Apache-2.0
// The pieces of a surface that nobody prepared: what hangs together by its vertices is one piece, and a piece that is a
// copy of an earlier one, moved, turned and scaled, is told from it by its place alone (2011 paper, section 5).
#pragma once

#include "supple/mesh/bounds.h"
#include "supple/mesh/surface.h"

namespace supple {

/// Where a copy is: x = position + scale · rotation · X.
struct CopyPlace {
  double scale = 1.0;
  Mat3 rotation = Mat3::Identity();
  Vec3 position = Vec3::Zero();

  Vec3 apply(const Vec3& X) const { return position + scale * (rotation * X); }
  Vec3 unapply(const Vec3& x) const { return rotation.transpose() * (x - position) / scale; }
};

struct SurfacePiece {
  std::vector<Index> vertices;  ///< of the surface, in the order in which its triangles meet them
  Surface shape;                ///< the same vertices, with the triangles in their numbers
  Bounds bounds;
  double area = 0;
  Index original = -1;  ///< the first piece of the same shape; itself where there is no earlier one
  CopyPlace place;      ///< the original's vertices, so placed, are this one's

  double size() const { return bounds.diagonal(); }
};

/// Vertices nearer to each other than `weld` are one. Triangles without area belong to the piece that they touch; a
/// piece with nothing else, and vertices that no triangle uses, are in no piece.
std::vector<SurfacePiece> find_pieces(const Surface& surface, double weld);

/// The similarity that takes some points nearest to others, in the least squares; mirrored ones fit badly.
CopyPlace fit_similarity(std::span<const Vec3> from, std::span<const Vec3> to);

}  // namespace supple
