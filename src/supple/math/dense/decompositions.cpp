// SPDX-License-Identifier: Apache-2.0
#include "supple/math/dense/decompositions.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>

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

VecX solve_symmetric(const MatX& A, const VecX& b) { return Eigen::LDLT<MatX>(A).solve(b); }
MatX solve_symmetric(const MatX& A, const MatX& b) { return Eigen::LDLT<MatX>(A).solve(b); }
double smallest_pivot(const MatX& A) { return Eigen::LDLT<MatX>(A).vectorD().minCoeff(); }

std::optional<MatX> pivoted_inverse(const MatX& A, double least) {
  const Eigen::FullPivLU<MatX> factor(A);
  // The estimate of the condition leaves out pivots that are nothing.
  if (!factor.isInvertible() || factor.rcond() < least) return std::nullopt;
  return factor.inverse();
}

RowElimination eliminate_rows(const MatX& A) {
  const Eigen::FullPivLU<MatX> lu(A);
  const Eigen::Index c = A.rows();
  const auto& order = lu.permutationQ().indices();
  return {std::vector<int>(order.data(), order.data() + order.size()),
          -lu.matrixLU().leftCols(c).triangularView<Eigen::Upper>().solve(lu.matrixLU().rightCols(A.cols() - c))};
}

IndependentColumns independent_columns(const MatX& A, double threshold) {
  Eigen::ColPivHouseholderQR<MatX> qr(A);
  qr.setThreshold(threshold);
  const auto& order = qr.colsPermutation().indices();
  IndependentColumns result{{order.data(), order.data() + qr.rank()},
                            qr.householderQ() * MatX::Identity(A.rows(), qr.rank())};
  std::sort(result.kept.begin(), result.kept.end());
  return result;
}

MatX orthogonal_complement(const MatX& B) {
  const Eigen::HouseholderQR<MatX> qr(B);
  return (qr.householderQ() * MatX::Identity(B.rows(), B.rows())).rightCols(B.rows() - B.cols());
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
