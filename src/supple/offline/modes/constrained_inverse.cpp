// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/modes/constrained_inverse.h"

#include "supple/math/dense/decompositions.h"
#include "supple/math/sparse/sparse_factor.h"

namespace supple {
namespace {

using Sparse = Eigen::SparseMatrix<double>;

constexpr double null_space_threshold = 1e-10;
constexpr double largest_multiple = 30;  ///< of one unknown in another
constexpr double cg_tolerance = 1e-13;
constexpr int cg_max_iterations = 200;

class BorderedInverse final : public ConstrainedInverse {
 public:
  explicit BorderedInverse(const ConstraintRows& rows) : rows_(rows) {}

  bool factorize(const Sparse& K) {
    factor_.analyze(K, 3);
    if (!factor_.factorize(K)) return false;
    if (rows_.count() == 0) return true;
    const MatX Q = rows_.basis();
    X_ = factor_.solve(Q);
    S_ = PositiveFactor(Q.transpose() * X_);
    return S_.ok();
  }

  void solve(Eigen::Ref<const VecX> f, Eigen::Ref<VecX> y) const override {
    factor_.solve(f, y);
    if (rows_.count() > 0) y.noalias() -= X_ * S_.solve(rows_.multiply(y));
  }

  MatX solve(const MatX& f) const override {
    MatX y = factor_.solve(f);
    if (rows_.count() == 0) return y;
    MatX violation(rows_.count(), y.cols());
    for (Eigen::Index k = 0; k < y.cols(); ++k) violation.col(k) = rows_.multiply(y.col(k));
    y.noalias() -= X_ * S_.solve(violation);
    return y;
  }

 private:
  const ConstraintRows& rows_;
  SparseFactor factor_;
  MatX X_;
  PositiveFactor S_;
};

/// Contacts eliminate their own vertex and leave Z sparse. Rows that nearly say the same have small pivots; their
/// orthonormal basis has none, but fills Z.
RowElimination eliminate(const ConstraintBlock& block) {
  RowElimination sparse = eliminate_rows(block.rows);
  const bool safe = sparse.top.size() == 0 || sparse.top.cwiseAbs().maxCoeff() < largest_multiple;
  return safe ? sparse : eliminate_rows(block.basis.transpose());
}

class NullSpaceInverse final : public ConstrainedInverse {
 public:
  NullSpaceInverse(const ConstraintRows& rows, bool iterate) : rows_(rows), iterate_(iterate) {}

  bool factorize(const Sparse& K) {
    cut_ = null_space(rows_, K.rows(), null_space_threshold);
    const Sparse full = K.selfadjointView<Eigen::Lower>();
    const Sparse product = full * cut_;
    const Sparse reduced = cut_.transpose() * product;
    const Sparse lower = reduced.triangularView<Eigen::Lower>();
    const Sparse definite = lower + determined_diagonal(K);
    if (iterate_) {
      K_ = K;
      exact_ = null_space(rows_, K.rows(), 0.0);
    }
    factor_.analyze(definite, 3);
    return factor_.factorize(definite);
  }

  void solve(Eigen::Ref<const VecX> f, Eigen::Ref<VecX> y) const override {
    if (iterate_) {
      y = exact_ * conjugate_gradients(exact_.transpose() * f);
      return;
    }
    VecX x = cut_.transpose() * f;
    factor_.solve(x, x);
    y = cut_ * x;
  }
  using ConstrainedInverse::solve;

 private:
  /// K's own diagonal for unknowns that others determine: their columns of Z are empty, and so are their right-hand
  /// sides.
  Sparse determined_diagonal(const Sparse& K) const {
    std::vector<Eigen::Triplet<double>> entries;
    for (Eigen::Index i = 0; i < K.rows(); ++i)
      if (cut_.outerIndexPtr()[i] == cut_.outerIndexPtr()[i + 1])
        entries.emplace_back(static_cast<Index>(i), static_cast<Index>(i), K.coeff(i, i));
    Sparse diagonal(K.rows(), K.cols());
    diagonal.setFromTriplets(entries.begin(), entries.end());
    return diagonal;
  }

  VecX conjugate_gradients(VecX r) const {
    VecX x = VecX::Zero(r.size()), z(r.size());
    const double target = cg_tolerance * r.norm();
    factor_.solve(r, z);
    VecX p = z;
    double rz = r.dot(z);
    for (int k = 0; k < cg_max_iterations && r.norm() > target; ++k) {
      const VecX Zp = exact_ * p;
      const VecX Ap = exact_.transpose() * VecX(K_.selfadjointView<Eigen::Lower>() * Zp);
      const double a = rz / p.dot(Ap);
      x += a * p;
      r -= a * Ap;
      factor_.solve(r, z);
      const double next = r.dot(z);
      p = z + (next / rz) * p;
      rz = next;
    }
    return x;
  }

  const ConstraintRows& rows_;
  bool iterate_;
  Sparse K_, cut_, exact_;
  SparseFactor factor_;
};

}  // namespace

Sparse null_space(const ConstraintRows& rows, Eigen::Index size, double threshold) {
  std::vector<char> determined(to_size(size), 0);
  std::vector<Eigen::Triplet<double>> entries;
  for (const ConstraintBlock& block : rows.blocks()) {
    const RowElimination elimination = eliminate(block);
    const MatX& top = elimination.top;
    const auto unknown = [&](Eigen::Index k) { return block.columns[to_size(elimination.order[to_size(k)])]; };
    for (Eigen::Index i = 0; i < top.rows(); ++i) determined[to_size(unknown(i))] = 1;
    for (Eigen::Index j = 0; j < top.cols(); ++j)
      for (Eigen::Index i = 0; i < top.rows(); ++i)
        if (std::abs(top(i, j)) > threshold) entries.emplace_back(unknown(i), unknown(top.rows() + j), top(i, j));
  }
  for (Index i = 0; i < size; ++i)
    if (determined[to_size(i)] == 0) entries.emplace_back(i, i, 1.0);
  Sparse Z(size, size);
  Z.setFromTriplets(entries.begin(), entries.end());
  return Z;
}

MatX ConstrainedInverse::solve(const MatX& f) const {
  MatX y(f.rows(), f.cols());
  for (Eigen::Index k = 0; k < f.cols(); ++k) solve(f.col(k), y.col(k));
  return y;
}

std::unique_ptr<ConstrainedInverse> ConstrainedInverse::create(const Sparse& K, const ConstraintRows& rows,
                                                               ConstraintMethod method) {
  if (method == ConstraintMethod::bordered) {
    auto inverse = std::make_unique<BorderedInverse>(rows);
    if (!inverse->factorize(K)) return nullptr;
    return inverse;
  }
  auto inverse = std::make_unique<NullSpaceInverse>(rows, method == ConstraintMethod::null_space_cg);
  if (!inverse->factorize(K)) return nullptr;
  return inverse;
}

}  // namespace supple
