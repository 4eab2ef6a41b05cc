// SPDX-License-Identifier: Apache-2.0
// Voxel bodies: any triangle soup becomes a solid of equal cubes (bricks) that holds it.
//
// A cube stays when a triangle touches it, or when it is enclosed: when no path from outside, through faces of
// untouched cubes, reaches it. So winding, self-intersections, double sheets and cracks smaller than a cube don't
// matter; a surface with a real opening keeps only its shell. The grid is centred on the surface's bounding box.
#pragma once

#include "supple/base/result.h"
#include "supple/mesh/surface.h"
#include "supple/mesh/volume_mesh.h"

namespace supple {

enum class VoxelPieces {
  all,      ///< everything the surface touches
  largest,  ///< the piece with the most cubes, the first of several
};

struct VoxelOptions {
  int resolution = 64;        ///< cubes along the longest side of the bounding box, 1 to 1024
  bool fill_interior = true;  ///< false: the shell alone
  VoxelPieces pieces = VoxelPieces::largest;
  std::int64_t max_cells = 500'000'000;  ///< of the grid, one byte each
  std::int64_t max_bricks = 50'000'000;  ///< of the body, about 200 bytes each
  static constexpr int max_resolution = 1024;
};

struct VoxelBody {
  HexMesh mesh;  ///< bricks by layers of z, then rows of y, then x; no vertex occurs twice
  Vec3 origin = Vec3::Zero();
  double voxel_size = 0;
  std::array<int, 3> cells{};
  std::vector<std::array<int, 3>> cell;  ///< of each brick
  Index surface_bricks = 0;              ///< touched by a triangle
  Index interior_bricks = 0;             ///< inside, touched by none
  /// Pieces joined through faces, counted before any is dropped. Cubes that share an edge or a corner only would hang
  /// together by a hinge, which no solver likes: they count as apart.
  Index pieces = 0;
  Index dropped_bricks = 0;
};

Result<VoxelBody> voxelize(const Surface& surface, const VoxelOptions& options);

}  // namespace supple
