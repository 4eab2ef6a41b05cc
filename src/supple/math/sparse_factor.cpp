#include "supple/math/sparse_factor.h"
#include <Eigen/MetisSupport>
#include <Eigen/SparseCholesky>
#include <iostream>
namespace supple {
struct SparseFactor::I {
  Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>, Eigen::Lower, Eigen::MetisOrdering<int>> s;
};
SparseFactor::SparseFactor(FactorKind) : i_(std::make_unique<I>()) {}
SparseFactor::~SparseFactor() = default;
SparseFactor::SparseFactor(SparseFactor&&) noexcept = default;
void SparseFactor::analyze(const Eigen::SparseMatrix<double>& l, int) { i_->s.analyzePattern(l); }
bool SparseFactor::factorize(const Eigen::SparseMatrix<double>& l) {
  i_->s.factorize(l);
  return i_->s.info() == Eigen::Success && i_->s.vectorD().minCoeff() > 0;
}
void SparseFactor::solve(Eigen::Ref<const Eigen::VectorXd> b, Eigen::Ref<Eigen::VectorXd> x) const {
  x = i_->s.solve(b);
}
}  // namespace supple
