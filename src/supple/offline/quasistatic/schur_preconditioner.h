// SPDX-License-Identifier: Apache-2.0
// A sparse approximation of the boundary's stiffness at rest (2014 paper, 6.3),
//   S = K_bb − K_bi K_ii⁻¹ K_ib ≈ K_bb − Yᵀ Y,   Y = L_i⁻¹ K_ib
// and its incomplete Cholesky factor. S is dense, but pushing one vertex of the skin is felt by those around it alone:
// columns of Y are followed through the interior for `reach` edges, and entries of S are kept for pairs that are at
// most `distance` edges apart. The absolute values of what is discarded go to the diagonal, which keeps S definite.
#pragma once

#include "supple/math/sparse/block_incomplete_cholesky.h"
#include "supple/offline/quasistatic/exrotated_body.h"

namespace supple {

struct SchurSettings {
  int reach = 3;     ///< edges
  int distance = 4;  ///< edges
};

/// Ŝ of the boundary of a body in its reference pose, whose interior has that factor. Row 0 is the body's number
/// boundary().begin.
BlockMatrix sparse_schur(const ExRotatedBody& body, const BlockIncompleteCholesky& interior,
                         const SchurSettings& settings = {});
/// The blocks of Ŝ between vertices that share an edge; others are moved to the diagonal.
BlockMatrix nearest_schur(const ExRotatedBody& body, const BlockMatrix& schur);
/// The incomplete Cholesky factor of a matrix of the boundary.
BlockIncompleteCholesky boundary_factor(const ExRotatedBody& body, const BlockMatrix& schur);

}  // namespace supple
