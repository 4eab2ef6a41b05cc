// SPDX-License-Identifier: Apache-2.0
// Eigen's decompositions of dense matrices as ground truth, behind plain functions: their templates take a compiler 3
// to 8 s in every file that names them. They are not those of math/dense/decompositions.h, which the library uses.
#pragma once

#include "supple/base/types.h"

namespace supple::truth {

struct Eigenpairs {
  VecX values;   ///< ascending
  MatX vectors;  ///< beside them, as columns
};
/// K x = λ M x for symmetric K and positive definite M.
Eigenpairs eigenpairs(const MatX& K, const MatX& M);
VecX eigenvalues(const MatX& K, const MatX& M);
VecX eigenvalues(const MatX& A);

/// L of A = L Lᵀ; without rows where A isn't positive definite. The lower triangle is read.
MatX cholesky(const MatX& A);
/// A⁻¹ b of a symmetric matrix by A = P L D Lᵀ Pᵀ. The lower triangle is read.
VecX solve_symmetric(const MatX& A, const VecX& b);
MatX solve_symmetric(const MatX& A, const MatX& b);
/// x of least norm among those with the least ‖A x − b‖.
VecX least_squares(const MatX& A, const VecX& b);

struct SingularValues {
  VecX values;  ///< descending
  MatX U;       ///< left singular vectors, as columns
};
SingularValues singular_values(const MatX& A);

/// A = P L U Q with complete pivoting.
struct Pivoted {
  VecX pivots;  ///< the diagonal of U
  MatX kernel;  ///< as columns
  Eigen::Index rank;
};
Pivoted pivoted(const MatX& A);
/// A⁻¹ b by it.
VecX solve_pivoted(const MatX& A, const VecX& b);

}  // namespace supple::truth
