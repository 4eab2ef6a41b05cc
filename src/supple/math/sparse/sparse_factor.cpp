// SPDX-License-Identifier: Apache-2.0
#include "supple/math/sparse/sparse_factor.h"

#include "supple/base/assert.h"
#include "supple/math/sparse/elimination_tree.h"
#include "supple/math/sparse/supernodal_cholesky.h"
#include "supple/math/sparse/vertex_ordering.h"

#include <Eigen/SparseCholesky>

#include <cmath>
#include <limits>

namespace supple {
namespace {
using Sparse = Eigen::SparseMatrix<double>;
}

/// Simplicial LDLᵀ in an order of our own.
class SimplicialFactor {
 public:
  void analyze(const Sparse& lower, int block_size) {
    const int b = block_size > 0 && lower.cols() % block_size == 0 ? block_size : 1;
    const VertexGraph graph = block_graph(lower, b);
    std::vector<char> zero_diagonal(to_size(graph.size()), 0);
    bool any = false;
    for (Eigen::Index j = 0; j < lower.cols(); ++j) {
      if (lower.coeff(j, j) != 0) continue;
      zero_diagonal[to_size(j / b)] = 1;
      any = true;
    }
    const std::vector<Index> order =
        any ? nested_dissection_with_constraints(graph, zero_diagonal) : nested_dissection(graph);
    to_factor_.resize(lower.cols());
    for (std::size_t i = 0; i < order.size(); ++i)
      for (int c = 0; c < b; ++c) to_factor_.indices()[order[i] * b + c] = static_cast<int>(i) * b + c;
    permute(lower);
    ldlt_.analyzePattern(permuted_);
  }

  bool factorize(const Sparse& lower) {
    failed_column_ = -1;
    permute(lower);
    ldlt_.factorize(permuted_);
    if (ldlt_.info() != Eigen::Success) return false;
    return check_pivots();
  }

  Eigen::MatrixXd solve(const Eigen::MatrixXd& b) const {
    return to_factor_.transpose() * ldlt_.solve(to_factor_ * b).eval();
  }

  void solve(Eigen::Ref<const Eigen::VectorXd> b, Eigen::Ref<Eigen::VectorXd> x) const {
    scratch_ = to_factor_ * b;
    ldlt_.matrixL().solveInPlace(scratch_);
    scratch_.array() /= pivots_.array();
    ldlt_.matrixU().solveInPlace(scratch_);
    x = to_factor_.transpose() * scratch_;
  }

  std::int64_t failed_column() const { return failed_column_; }
  const Eigen::VectorXd& pivots() const { return pivots_; }
  std::int64_t nonzeros() const { return ldlt_.matrixL().nestedExpression().nonZeros() + pivots_.size(); }

  double flops() const {
    double flops = 0;
    const auto& l = ldlt_.matrixL().nestedExpression();
    for (Eigen::Index j = 0; j < l.cols(); ++j) {
      const double length = static_cast<double>(l.outerIndexPtr()[j + 1] - l.outerIndexPtr()[j] + 1);
      flops += length * length;
    }
    return flops;
  }

 private:
  void permute(const Sparse& lower) {
    permuted_.resize(lower.rows(), lower.cols());
    permuted_.template selfadjointView<Eigen::Lower>() =
        lower.template selfadjointView<Eigen::Lower>().twistedBy(to_factor_);
  }

  /// A pivot that is nothing but rounding error of its column means a singular matrix.
  bool check_pivots() {
    pivots_ = ldlt_.vectorD();
    Eigen::VectorXd largest = Eigen::VectorXd::Zero(permuted_.cols());
    for (Eigen::Index j = 0; j < permuted_.cols(); ++j) {
      for (Sparse::InnerIterator it(permuted_, j); it; ++it) {
        largest[j] = std::max(largest[j], std::abs(it.value()));
        largest[it.row()] = std::max(largest[it.row()], std::abs(it.value()));
      }
    }
    constexpr double tolerance = 32 * std::numeric_limits<double>::epsilon();
    for (Eigen::Index j = 0; j < pivots_.size(); ++j) {
      if (std::isfinite(pivots_[j]) && std::abs(pivots_[j]) > tolerance * largest[j]) continue;
      for (Eigen::Index i = 0; i < pivots_.size(); ++i)
        if (to_factor_.indices()[i] == j) failed_column_ = i;
      return false;
    }
    return true;
  }

  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> to_factor_;
  Sparse permuted_;
  Eigen::SimplicialLDLT<Sparse, Eigen::Lower, Eigen::NaturalOrdering<int>> ldlt_;
  Eigen::VectorXd pivots_;
  std::int64_t failed_column_ = -1;
  mutable Eigen::VectorXd scratch_;
};

struct SparseFactor::Impl {
  FactorKind kind;
  bool factored = false;
  SupernodalCholesky cholesky;
  SimplicialFactor ldlt;

  bool is_cholesky() const { return kind == FactorKind::cholesky; }
};

SparseFactor::SparseFactor(FactorKind kind) : impl_(std::make_unique<Impl>()) { impl_->kind = kind; }
SparseFactor::~SparseFactor() = default;
SparseFactor::SparseFactor(SparseFactor&&) noexcept = default;
SparseFactor& SparseFactor::operator=(SparseFactor&&) noexcept = default;

void SparseFactor::analyze(const Sparse& lower, int block_size) {
  impl_->factored = false;
  if (impl_->is_cholesky()) {
    impl_->cholesky.analyze(lower, block_size);
  } else {
    impl_->ldlt.analyze(lower, block_size);
  }
}

bool SparseFactor::factorize(const Sparse& lower) {
  impl_->factored = impl_->is_cholesky() ? impl_->cholesky.factorize(lower) : impl_->ldlt.factorize(lower);
  return impl_->factored;
}

std::int64_t SparseFactor::failed_column() const {
  return impl_->is_cholesky() ? impl_->cholesky.failed_column() : impl_->ldlt.failed_column();
}

void SparseFactor::solve(Eigen::Ref<const Eigen::VectorXd> b, Eigen::Ref<Eigen::VectorXd> x) const {
  SUPPLE_ASSERT(impl_->factored);
  impl_->is_cholesky() ? impl_->cholesky.solve(b, x) : impl_->ldlt.solve(b, x);
}

Eigen::MatrixXd SparseFactor::solve(const Eigen::MatrixXd& b) const {
  SUPPLE_ASSERT(impl_->factored);
  return impl_->is_cholesky() ? impl_->cholesky.solve(b) : impl_->ldlt.solve(b);
}

std::int64_t SparseFactor::factor_nonzeros() const {
  return impl_->is_cholesky() ? impl_->cholesky.factor_nonzeros() : impl_->ldlt.nonzeros();
}

double SparseFactor::factor_flops() const {
  return impl_->is_cholesky() ? impl_->cholesky.factor_flops() : impl_->ldlt.flops();
}

double SparseFactor::log_determinant() const {
  SUPPLE_ASSERT(impl_->factored);
  return impl_->is_cholesky() ? impl_->cholesky.log_determinant() : impl_->ldlt.pivots().array().abs().log().sum();
}

int SparseFactor::negative_pivots() const {
  return impl_->is_cholesky() ? 0 : static_cast<int>((impl_->ldlt.pivots().array() < 0).count());
}

}  // namespace supple
