// SPDX-License-Identifier: Apache-2.0
// Bases of several poses made to fit each other, so that they can be interpolated column by column (2016 paper, 5.1).
//
// Columns with the same number have nothing to do with each other at first: modes swap, and turn with the body. Bases
// are kept turned back by the local rotations of their pose (PoseBasis), which removes the turning; then each is
// multiplied by the rotation Q of the orthogonal Procrustes problem that brings it closest to another, its parent.
// Parents form a tree from the neutral pose: of all pairs of a pose that has its place and one that hasn't, the closest
// in pose space comes next. Local bases are aligned region by region.
//
// What is near in mass may be far in energy: the projection of a soft mode onto the other basis has a little of every
// stiff one in it, and then blends are tens of times as stiff as either pose. So overlaps count by compliance,
//   Q = argmax tr(Qᵀ Λ_B⁻¹ BᵀMA Λ_A⁻¹)
// which asks soft directions to meet soft ones: of a stiff one they keep Λ_soft/Λ_stiff as much. (Measured on the X:
// docs/theory.md.)
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
/// `stiffness`: Λ of each pose, turned along with the bases; none: all directions count alike.
BasisAlignment align_bases(const BlockMatrix& mass, const PoseLayout& layout, std::span<const int> region_sizes,
                           std::span<PoseBasis> poses, std::span<MatX> stiffness = {});

}  // namespace supple
