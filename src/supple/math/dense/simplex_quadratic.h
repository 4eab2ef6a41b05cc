// SPDX-License-Identifier: Apache-2.0
// Few shares of a whole: argmin wᵀ G w over w ≥ 0, Σ w = 1, with at most so many of them above zero. G is symmetric and
// has no negative eigenvalue. This is how a point between others is explained by some of them: with e_k the way from
// the point to the k-th, G_kl = e_k · e_l and wᵀ G w = |Σ w_k e_k|².
//
// Without the limit: an active set method in the manner of C. L. Lawson, R. J. Hanson, Solving Least Squares Problems,
// 1974, whose equality-constrained problem on a face is w = G⁻¹ 1 / (1ᵀ G⁻¹ 1). With it: shares are taken away one by
// one, each the one whose loss costs least.
#pragma once

#include "supple/base/types.h"

namespace supple {

inline constexpr int most_simplex_entries = 24;
using SimplexMatrix =
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, most_simplex_entries, most_simplex_entries>;
using SimplexVector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, most_simplex_entries, 1>;

/// `most`: at least one. G has one row at least and `most_simplex_entries` at most.
SimplexVector simplex_minimum(const SimplexMatrix& G, int most = most_simplex_entries);

}  // namespace supple
