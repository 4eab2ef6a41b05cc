// SPDX-License-Identifier: Apache-2.0
// Direct solution of sparse symmetric systems A x = b.
//
// analyze() once per pattern, factorize() once per set of values, solve() as often as wanted. Fill-reducing order by
// nested dissection (METIS). Positive definite matrices go through our own supernodal Cholesky factorisation,
// indefinite ones (saddle points, K - σM) through Eigen's simplicial LDLᵀ, which does not pivot.
//
// Measured, one thread (processor time, busy Xeon, AVX2), cholesky beside Eigen::SimplicialLDLT, both in METIS order:
// 15³ cube, 10,125 DOF: 57 ms (82 % of GEMM speed), 886 ms. 30³ cube, 81,000 DOF: 3.9 s (88 %), 110 s.
#pragma once

#include "supple/base/types.h"

#include <Eigen/SparseCore>

#include <memory>

namespace supple {

enum class FactorKind {
  cholesky,  ///< symmetric positive definite: supernodal L Lᵀ
  ldlt       ///< symmetric indefinite: simplicial L D Lᵀ
};

class SparseFactor {
 public:
  explicit SparseFactor(FactorKind kind = FactorKind::cholesky);
  ~SparseFactor();
  SparseFactor(SparseFactor&&) noexcept;
  SparseFactor& operator=(SparseFactor&&) noexcept;

  /// Ordering and symbolic analysis of a lower triangle, compressed; what lies above the diagonal is ignored. With
  /// block_size b, rows and columns 0 … b - 1 belong to vertex 0 and so on, and vertices are ordered instead of rows.
  /// ldlt: diagonal entries that are zero in these values are taken for constraints and ordered after a neighbour.
  void analyze(const Eigen::SparseMatrix<double>& lower, int block_size = 1);

  /// Numeric factorisation of a matrix with the analysed pattern. False when the matrix is not positive definite to
  /// working precision (cholesky), or singular (ldlt); then there is no factor to solve with.
  bool factorize(const Eigen::SparseMatrix<double>& lower);
  /// Gives the row of the matrix at which the last factorisation failed, or −1 where it didn't. ldlt knows it only for
  /// some faults.
  std::int64_t failed_column() const;

  /// x = A⁻¹ b, in place if b is x. Nothing is allocated after the first call; one call at a time for each object.
  void solve(Eigen::Ref<const Eigen::VectorXd> b, Eigen::Ref<Eigen::VectorXd> x) const;
  /// Many right-hand sides at once, one for each column; much faster than one by one.
  Eigen::MatrixXd solve(const Eigen::MatrixXd& b) const;

  std::int64_t factor_nonzeros() const;  ///< in the lower triangle of L, zeros inside dense blocks included
  double factor_flops() const;           ///< additions and multiplications of the numeric factorisation
  double log_determinant() const;        ///< log |det A|
  int negative_pivots() const;           ///< number of negative eigenvalues (Sylvester); 0 for cholesky

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace supple
