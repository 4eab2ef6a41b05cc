// SPDX-License-Identifier: Apache-2.0
// Bounded biharmonic weights on tetrahedra (Jacobson, Baran, Popović & Sorkine 2011): how much of each vertex belongs
// to each of a few handles, smoothly and locally.
//
// For every handle h:  min ½ xᵀ L M⁻¹ L x,   x = 1 on its own vertices, 0 on those of the others, 0 ≤ x ≤ 1,
// with L_ij = −Σ_e V_e ∇φ_i · ∇φ_j (linear elements; the cotangent Laplacian) and M the vertices' volumes. The bounds
// keep a weight from ringing, and make it exactly 0 on most of what lies behind other handles. The handles are solved
// for one by one and then divided by their sum, as the authors do, which they found next to what the exact partition
// of unity gives.
//
// A piece of the body without a handle of its own goes with the nearest one altogether.
#pragma once

#include "supple/math/dense/box_quadratic.h"
#include "supple/mesh/volume_mesh.h"

#include <span>

namespace supple {

struct BiharmonicReport {
  std::vector<BoxQuadraticReport> handles;   ///< one each; all zero where there was nothing to solve
  double largest_residual = 0;               ///< of the Karush-Kuhn-Tucker conditions, in weights
  double smallest_sum = 1, largest_sum = 1;  ///< of the handles' weights at a vertex, before division
};

struct BiharmonicWeights {
  MatX weights;  ///< vertices × handles, each row sums to one
  BiharmonicReport report;
};

/// `handle`: for each vertex the handle it is part of, or -1. Each of the `handles` needs a vertex. Elements must have
/// volume.
BiharmonicWeights bounded_biharmonic_weights(const TetMesh& mesh, std::span<const Index> handle, Index handles,
                                             const BoxQuadraticSettings& settings = {});

/// L (negative semi-definite) and the diagonal of M.
struct TetLaplacian {
  Eigen::SparseMatrix<double> laplacian;
  VecX volume;  ///< per vertex
};
TetLaplacian tet_laplacian(const TetMesh& mesh);

}  // namespace supple
