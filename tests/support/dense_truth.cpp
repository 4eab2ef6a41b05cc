// SPDX-License-Identifier: Apache-2.0
#include "support/dense_truth.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>

namespace supple::truth {

Eigenpairs eigenpairs(const MatX& K, const MatX& M) {
  const Eigen::GeneralizedSelfAdjointEigenSolver<MatX> solver(K, M);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

VecX eigenvalues(const MatX& K, const MatX& M) {
  return Eigen::GeneralizedSelfAdjointEigenSolver<MatX>(K, M, Eigen::EigenvaluesOnly).eigenvalues();
}

VecX eigenvalues(const MatX& A) { return Eigen::SelfAdjointEigenSolver<MatX>(A, Eigen::EigenvaluesOnly).eigenvalues(); }

MatX cholesky(const MatX& A) {
  const Eigen::LLT<MatX> factor(A);
  return factor.info() == Eigen::Success ? MatX(factor.matrixL()) : MatX();
}

VecX solve_symmetric(const MatX& A, const VecX& b) { return solve_symmetric(A, MatX(b)); }

MatX solve_symmetric(const MatX& A, const MatX& b) { return Eigen::LDLT<MatX>(A).solve(b); }

VecX least_squares(const MatX& A, const VecX& b) { return Eigen::CompleteOrthogonalDecomposition<MatX>(A).solve(b); }

SingularValues singular_values(const MatX& A) {
  const Eigen::JacobiSVD<MatX> svd(A, Eigen::ComputeThinU);
  return {svd.singularValues(), svd.matrixU()};
}

Pivoted pivoted(const MatX& A) {
  const Eigen::FullPivLU<MatX> factor(A);
  return {factor.matrixLU().diagonal(), factor.kernel(), factor.rank()};
}

VecX solve_pivoted(const MatX& A, const VecX& b) { return Eigen::FullPivLU<MatX>(A).solve(b); }

}  // namespace supple::truth
