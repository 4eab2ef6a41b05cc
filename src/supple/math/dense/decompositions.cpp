// SPDX-License-Identifier: Apache-2.0
#include "supple/math/dense/decompositions.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/SVD>

namespace supple {

SymmetricEigen symmetric_eigen(const MatX& A) {
  const Eigen::SelfAdjointEigenSolver<MatX> solver(A);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

VecX symmetric_eigenvalues(const MatX& A) {
  return Eigen::SelfAdjointEigenSolver<MatX>(A, Eigen::EigenvaluesOnly).eigenvalues();
}

SymmetricEigen generalized_eigen(const MatX& K, const MatX& M) {
  const Eigen::GeneralizedSelfAdjointEigenSolver<MatX> solver(K, M);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

VecX generalized_eigenvalues(const MatX& K, const MatX& M) {
  return Eigen::GeneralizedSelfAdjointEigenSolver<MatX>(K, M, Eigen::EigenvaluesOnly).eigenvalues();
}

struct PositiveFactor::Factor {
  Eigen::LLT<MatX> llt;
};

PositiveFactor::PositiveFactor() = default;
PositiveFactor::PositiveFactor(const MatX& A) : factor_(new Factor{Eigen::LLT<MatX>(A)}) {}
PositiveFactor::PositiveFactor(PositiveFactor&&) noexcept = default;
PositiveFactor& PositiveFactor::operator=(PositiveFactor&&) noexcept = default;
PositiveFactor::~PositiveFactor() = default;

bool PositiveFactor::ok() const { return factor_ && factor_->llt.info() == Eigen::Success; }
VecX PositiveFactor::solve(const VecX& b) const { return factor_->llt.solve(b); }
MatX PositiveFactor::solve(const MatX& b) const { return factor_->llt.solve(b); }
MatX PositiveFactor::orthonormal(const MatX& X) const {
  return factor_->llt.matrixL().solve(X.transpose()).transpose();
}

MatX null_space(const MatX& A, double tolerance) {
  const Eigen::JacobiSVD<MatX> svd(A, Eigen::ComputeFullV);
  const Eigen::Index rank = (svd.singularValues().array() > tolerance).count();
  return svd.matrixV().rightCols(A.cols() - rank);
}

// By Jacobi rotations: divide and conquer takes half a minute to compile, and no time that anybody notices is won by it
// at the few hundred columns that bases have.
Procrustes align_subspaces(const MatX& overlap) {
  const Eigen::JacobiSVD<MatX> svd(overlap, Eigen::ComputeFullU | Eigen::ComputeFullV);
  return {svd.matrixU() * svd.matrixV().transpose(), svd.singularValues().cwiseMin(1.0)};
}

}  // namespace supple
