// SPDX-License-Identifier: Apache-2.0
// Decompositions of dense matrices of any size, behind plain functions: Eigen's templates for them take a compiler 3
// (Cholesky) to 8 s (eigenvectors, singular values) in every file that names them, so that they stand in one.
//
//   symmetric      A x = λ x              generalized   K x = λ M x, xᵀ M x = 1
//   positive       A = L Lᵀ
//   Procrustes     Q = argmin ‖B Q − A‖_M,  QᵀQ = 1        BᵀMA = Y Σ Zᵀ,  Q = Y Zᵀ   (2016 paper, Eq. 11 and 12)
//
// For bases of unit columns the singular values of the overlap BᵀMA are the cosines of the angles between the
// subspaces.
#pragma once

#include "supple/base/types.h"

#include <memory>
#include <optional>
#include <vector>

namespace supple {

struct SymmetricEigen {
  VecX values;   ///< ascending
  MatX vectors;  ///< beside them, as columns
};
/// Eigenvalues and orthonormal eigenvectors of a symmetric matrix, of which the lower triangle is read.
SymmetricEigen symmetric_eigen(const MatX& A);
/// The eigenvalues alone, ascending.
VecX symmetric_eigenvalues(const MatX& A);
/// K x = λ M x for symmetric K and positive definite M.
SymmetricEigen generalized_eigen(const MatX& K, const MatX& M);
/// The eigenvalues alone, ascending.
VecX generalized_eigenvalues(const MatX& K, const MatX& M);

/// A = L Lᵀ of a symmetric positive definite matrix, of which the lower triangle is read.
class PositiveFactor {
 public:
  PositiveFactor();
  explicit PositiveFactor(const MatX& A);
  PositiveFactor(PositiveFactor&&) noexcept;
  PositiveFactor& operator=(PositiveFactor&&) noexcept;
  ~PositiveFactor();

  /// False where the matrix is not positive definite.
  bool ok() const;
  /// A⁻¹ b
  VecX solve(const VecX& b) const;
  MatX solve(const MatX& b) const;
  /// X L⁻ᵀ: the columns of X, orthonormal in the metric whose Gram matrix A is.
  MatX orthonormal(const MatX& X) const;

 private:
  struct Factor;
  std::unique_ptr<Factor> factor_;
};

/// x of A x = b for a symmetric matrix that may be indefinite, of which the lower triangle is read.
VecX solve_symmetric(const MatX& A, const VecX& b);
MatX solve_symmetric(const MatX& A, const MatX& b);
/// The smallest pivot of a symmetric matrix: not positive where the matrix isn't positive definite.
double smallest_pivot(const MatX& A);

/// A⁻¹ by complete pivoting; nothing where A is so near to a singular matrix that 1/condition < `least`.
std::optional<MatX> pivoted_inverse(const MatX& A, double least);

/// Unknowns of A x = 0, those first that the others determine: x_first = top · x_others.
struct RowElimination {
  std::vector<int> order;
  MatX top;  ///< −U_first⁻¹ U_others
};
/// By complete pivoting of A = L U; A has full row rank.
RowElimination eliminate_rows(const MatX& A);

struct IndependentColumns {
  std::vector<int> kept;  ///< ascending
  MatX basis;             ///< orthonormal, of the space that they span
};
/// As many columns as are independent, to within `threshold` of the largest pivot.
IndependentColumns independent_columns(const MatX& A, double threshold);
/// Orthonormal columns that span all that is orthogonal to the columns of B, which are independent.
MatX orthogonal_complement(const MatX& B);

/// Combinations of columns that A maps to next to nothing: right singular vectors whose singular value is at most
/// `tolerance`.
MatX null_space(const MatX& A, double tolerance);

struct Procrustes {
  MatX rotation;  ///< Q
  VecX cosines;   ///< descending
};

/// The rotation of one basis that brings it nearest to another; `overlap` is BᵀMA, square.
Procrustes align_subspaces(const MatX& overlap);

}  // namespace supple
