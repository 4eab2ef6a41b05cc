// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/modes/constrained_inverse.h"

#include "supple/math/sparse_factor.h"

#include <Eigen/Cholesky>
#include <Eigen/LU>

namespace supple {
namespace {

using Sparse = Eigen::SparseMatrix<double>;

constexpr double null_space_threshold = 1e-10;
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
    S_.compute(Q.transpose() * X_);
    return S_.info() == Eigen::Success;
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
  Eigen::LLT<MatX> S_;
};

class NullSpaceInverse final : public ConstrainedInverse {
 public:
  NullSpaceInverse(const ConstraintRows& rows, bool iterate) : rows_(rows), iterate_(iterate) {}

  bool factorize(const Sparse& K) {
    cut_ = null_space(rows_, K.rows(), null_space_threshold);
    const Sparse full = K.selfadjointView<Eigen::Lower>();
    const Sparse product = full * cut_;
    const Sparse reduced = cut_.transpose() * product;
    const Sparse lower = reduced.triangularView<Eigen::Lower>();
    if (iterate_) {
      K_ = K;
      exact_ = null_space(rows_, K.rows(), 0.0);
    }
    factor_.analyze(lower);
    return factor_.factorize(lower);
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
  // Unknowns that others determine get no column.
  std::vector<char> determined(static_cast<std::size_t>(size), 0);
  std::vector<Eigen::FullPivLU<MatX>> factors;
  for (const ConstraintBlock& block : rows.blocks()) {
    const auto& lu = factors.emplace_back(block.rows);
    for (Eigen::Index k = 0; k < block.rows.rows(); ++k)
      determined[static_cast<std::size_t>(block.columns[static_cast<std::size_t>(lu.permutationQ().indices()[k])])] = 1;
  }
  std::vector<Index> column(static_cast<std::size_t>(size), -1);
  std::vector<Eigen::Triplet<double>> entries;
  Index count = 0;
  for (Index i = 0; i < size; ++i) {
    if (determined[static_cast<std::size_t>(i)] != 0) continue;
    entries.emplace_back(i, count, 1.0);
    column[static_cast<std::size_t>(i)] = count++;
  }
  for (std::size_t b = 0; b < factors.size(); ++b) {
    const Eigen::Index c = rows.blocks()[b].rows.rows(), rest = rows.blocks()[b].rows.cols() - c;
    const MatX& LU = factors[b].matrixLU();
    const MatX top = -LU.leftCols(c).triangularView<Eigen::Upper>().solve(LU.rightCols(rest));
    const auto unknown = [&](Eigen::Index k) {
      return rows.blocks()[b].columns[static_cast<std::size_t>(factors[b].permutationQ().indices()[k])];
    };
    for (Eigen::Index j = 0; j < rest; ++j)
      for (Eigen::Index i = 0; i < c; ++i)
        if (std::abs(top(i, j)) > threshold)
          entries.emplace_back(unknown(i), column[static_cast<std::size_t>(unknown(c + j))], top(i, j));
  }
  Sparse Z(size, count);
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
