// SPDX-License-Identifier: Apache-2.0
// Mass-scaled principal components (2005 paper, appendix A): the best r-dimensional subspace through the rest shape for
// a set of deformations, in the metric |u|²_M = uᵀMu (Eq. 17).
//
// The paper factors M = L Lᵀ and takes the singular values of Lᵀ X. Here X = Q R with QᵀMQ = I by pivoted Gram-Schmidt
// in the mass metric, and the singular values are those of the small R: no factor of M, nothing of size 3n × 3n. The
// Gram matrix XᵀMX would be simpler, but squares the condition: singular values below 1e-8 of the largest are lost.
// Gram-Schmidt commits an error that is small against each column by itself, so small values that come from small
// weights keep their digits.
#pragma once

#include "supple/base/result.h"
#include "supple/math/sparse/block_matrix.h"

namespace supple {

struct MassPca {
  MatX basis;            ///< 3n × rank, mass-orthonormal, most important direction first
  VecX singular_values;  ///< all of them, descending; as many as the set has independent shapes
};

/// `shapes`: one deformation in each column; column j counts weights[j] times (no weights: once). Shapes that are zero
/// or depend on others to 1e-12 of their own size add nothing. Fails when sizes don't fit or a number isn't finite.
Result<MassPca> mass_pca(const BlockMatrix& mass, MatX shapes, const VecX& weights = {});

/// The smallest r for which the first r directions hold this share of the sum of squared singular values. The default
/// leaves out a thousandth of the set, measured in the mass metric.
int suggest_size(const VecX& singular_values, double share = 1 - 1e-6);

/// A mass-orthonormal basis of the columns' span, in the order of the columns; dependent columns are left out.
MatX mass_orthonormalize(const BlockMatrix& mass, MatX shapes);

/// Gives A X, computed column by column in parallel.
MatX multiply_columns(const BlockMatrix& A, const MatX& X);
/// Gives √(xᵀMx) of every column x.
VecX mass_norms(const BlockMatrix& mass, const MatX& X);

}  // namespace supple
