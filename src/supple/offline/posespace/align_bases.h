// SPDX-License-Identifier: Apache-2.0
// Bases of several poses made to fit each other, so that they can be interpolated column by column (2016 paper, 5.1).
//
// Columns with the same number have nothing to do with each other at first: modes swap, and turn with the body. Bases
// are kept turned back by the local rotations of their pose (PoseBasis), which removes the turning; then each is
// multiplied by the rotation Q of the orthogonal Procrustes problem that brings it closest to another, its parent.
// Parents form a tree from the neutral pose: of all pairs of a pose that has its place and one that hasn't, the closest
// in pose space comes next. Local bases are aligned region by region.
#pragma once

#include "supple/math/block_matrix.h"
#include "supple/offline/posespace/pose_basis.h"

namespace supple {

struct BasisAlignment {
  std::vector<int> parent;  ///< of each pose; −1: the neutral pose, which stays as it is
  std::vector<VecX>
      angles;  ///< between the subspaces of a pose and of its parent, ascending [rad]; empty for the first
};

/// Of all directions together: cos² θ = mean of cos² θ_k, the share of one basis that the other has [rad].
double subspace_angle(const VecX& angles);

/// The first pose is the root. Columns must be mass-orthonormal within each region (`region_sizes`; empty: one region).
BasisAlignment align_bases(const BlockMatrix& mass, const PoseLayout& layout, std::span<const int> region_sizes,
                           std::span<PoseBasis> poses);

}  // namespace supple
