// SPDX-License-Identifier: Apache-2.0
// Bases of several poses made to fit each other, so that they can be interpolated column by column (2016 paper, 5.1).
//
// Columns with the same number have nothing to do with each other at first: modes swap, and turn with the body. Bases
// are kept turned back by the local rotations of their pose (PoseBasis), which removes the turning; then each is
// multiplied by the rotation Q of the orthogonal Procrustes problem that brings it closest to another, its parent.
// Parents form a tree from the neutral pose: of all pairs of a pose that has its place and one that hasn't, the closest
// in pose space comes next. Local bases are aligned patch by patch.
//
// What is near in mass may be far in energy: the projection of a soft mode onto the other basis has a little of every
// stiff one in it, and then blends are tens of times as stiff as either pose. So overlaps count by compliance,
//   Q = argmax tr(Qᵀ Λ_B⁻¹ BᵀMA Λ_A⁻¹)
// which asks soft directions to meet soft ones: of a stiff one they keep Λ_soft/Λ_stiff as much. (Measured on the X:
// docs/theory.md.)
//
// Poses leave most of a body alone. Where the directions of a patch are within a small angle of those of another pose,
// they are taken over as they are: what a basis can do is lost by the square of the angle, and what several poses have
// in common is stored, blended and shown once. Gradients of the same columns still differ where the body bends, because
// rotations do; forces lose by the difference itself, not by its square, so gradients are taken over only where next to
// nothing differs.
#pragma once

#include "supple/math/sparse/block_matrix.h"
#include "supple/offline/modes/constraint_rows.h"
#include "supple/offline/posespace/bases/pose_basis.h"

namespace supple {

struct BasisAlignment {
  std::vector<int> parent;  ///< of each pose; −1: the neutral pose, which stays as it is
  std::vector<VecX>
      angles;  ///< between the subspaces of a pose and of its parent, ascending [rad]; empty for the first
};

/// When a pose takes over the basis of a patch.
struct SharingRule {
  double angle = 0;  ///< of all directions together, below [rad]; 0: never
  /// The contacts of each pose, if there are any. Where its flesh touches itself, a patch has to have a basis of its
  /// own.
  std::span<const SparseConstraints> contacts = {};
};

/// Gives the angle θ of all directions together [rad]: cos² θ, the mean of cos² θ_k, is the share of one basis that the
/// other has.
double subspace_angle(const VecX& angles);

/// The first pose is the root. Columns must be mass-orthonormal within each patch (`patch_sizes`; empty: one patch).
/// `stiffness`: Λ of each pose, turned along with the bases; none: all directions count alike. Where a pose took
/// something over it is to be found anew.
BasisAlignment align_bases(const BlockMatrix& mass, const PoseLayout& layout, std::span<const int> patch_sizes,
                           std::span<PoseBasis> poses, std::span<MatX> stiffness = {}, const SharingRule& sharing = {});

/// Lets poses take over gradients along with columns, wherever they differ by less than `difference` of their size
/// (weighed by volume and by compliance, `stiffness`). After align_bases().
void share_gradients(const TetMesh& mesh, BasisDirections directions, std::span<const int> patch_sizes,
                     std::span<const MatX> stiffness, double difference, std::span<PoseBasis> poses);

}  // namespace supple
