// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/modes/mass_pca.h"

#include <fmt/format.h>

#include "supple/base/parallel.h"

#include <Eigen/Jacobi>

#include <limits>
#include <numeric>

namespace supple {
namespace {

constexpr double dependence_tolerance = 1e-12;

struct MassQr {
  MatX Q;  ///< QᵀMQ = I
  MatX R;  ///< X = Q R
};

/// Modified Gram-Schmidt in the mass metric. Each new direction is swept a second time, which makes it orthogonal to
/// working precision whatever the condition of X; what the second sweep finds belongs to R as well.
class GramSchmidt {
 public:
  GramSchmidt(const BlockMatrix& mass, MatX X)
      : mass_(mass), X_(std::move(X)), size_(mass_norms(mass, X_)), left_(size_.array().square()) {
    const Eigen::Index n = X_.cols();
    Q_.resize(X_.rows(), n);
    MQ_.resize(X_.rows(), n);
    R_ = MatX::Zero(n, n);
    for (Eigen::Index j = 0; j < n; ++j) open_.push_back(j);
  }

  MassQr run(bool pivot) {
    while (!open_.empty()) {
      const auto next = pivot ? largest() : open_.begin();
      const Eigen::Index column = *next;
      open_.erase(next);
      if (add(column)) sweep();
    }
    return {Q_.leftCols(rank_), R_.topRows(rank_)};
  }

 private:
  std::vector<Eigen::Index>::iterator largest() {
    return std::max_element(open_.begin(), open_.end(), [&](auto a, auto b) { return left_[a] < left_[b]; });
  }

  bool add(Eigen::Index column) {
    VecX x = X_.col(column);
    const VecX again = MQ_.leftCols(rank_).transpose() * x;
    x.noalias() -= Q_.leftCols(rank_) * again;
    R_.col(column).head(rank_) += again;
    const VecX Mx = mass_ * x;
    const double norm = std::sqrt(std::max(0.0, x.dot(Mx)));
    if (!(norm > dependence_tolerance * size_[column])) return false;
    Q_.col(rank_) = x / norm;
    MQ_.col(rank_) = Mx / norm;
    R_(rank_, column) = norm;
    ++rank_;
    return true;
  }

  /// Takes the newest direction out of all columns that wait.
  void sweep() {
    const Eigen::Index k = rank_ - 1;
    parallel_for(static_cast<std::int64_t>(open_.size()), 8, [&](std::int64_t i) {
      const Eigen::Index column = open_[to_size(i)];
      const double part = MQ_.col(k).dot(X_.col(column));
      X_.col(column) -= part * Q_.col(k);
      R_(k, column) = part;
      left_[column] = std::max(0.0, left_[column] - part * part);
    });
  }

  const BlockMatrix& mass_;
  MatX X_;
  VecX size_, left_;  // mass norm of each column; squared norm of what is left of it
  MatX Q_, MQ_, R_;
  std::vector<Eigen::Index> open_;
  Eigen::Index rank_ = 0;
};

struct ColumnSvd {
  VecX values;  ///< descending
  MatX right;   ///< G right = left diag(values)
};

/// One-sided Jacobi: turns pairs of columns until all are orthogonal to each other. Columns are compared relative to
/// their own lengths, so that small singular values keep the relative accuracy that the pivoted R has; Eigen's
/// JacobiSVD stops at what is small against the largest one.
ColumnSvd jacobi_svd(MatX G) {
  const Eigen::Index n = G.cols();
  MatX V = MatX::Identity(n, n);
  const double tolerance = 4 * std::numeric_limits<double>::epsilon();
  bool turned = true;
  for (int sweep = 0; turned && sweep < 60; ++sweep) {
    turned = false;
    for (Eigen::Index p = 0; p < n; ++p) {
      for (Eigen::Index q = p + 1; q < n; ++q) {
        const double a = G.col(p).squaredNorm(), b = G.col(q).squaredNorm(), c = G.col(p).dot(G.col(q));
        if (!(std::abs(c) > tolerance * std::sqrt(a) * std::sqrt(b))) continue;
        turned = true;
        const double zeta = (b - a) / (2 * c);
        const double t = (zeta < 0 ? -1 : 1) / (std::abs(zeta) + std::hypot(1.0, zeta));
        const Eigen::JacobiRotation<double> turn(1 / std::hypot(1.0, t), t / std::hypot(1.0, t));
        G.applyOnTheRight(p, q, turn);
        V.applyOnTheRight(p, q, turn);
      }
    }
  }
  const VecX lengths = G.colwise().norm();
  std::vector<Eigen::Index> order(to_size(n));
  std::iota(order.begin(), order.end(), Eigen::Index{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return lengths[a] > lengths[b]; });
  return {lengths(order), V(Eigen::all, order)};
}

}  // namespace

MatX multiply_columns(const BlockMatrix& A, const MatX& X) {
  MatX Y(X.rows(), X.cols());
  parallel_for(X.cols(), 1, [&](std::int64_t c) { Y.col(c) = A * VecX(X.col(c)); });
  return Y;
}

VecX mass_norms(const BlockMatrix& mass, const MatX& X) {
  VecX norms(X.cols());
  parallel_for(X.cols(), 1, [&](std::int64_t c) {
    const VecX x = X.col(c);
    norms[c] = std::sqrt(std::max(0.0, x.dot(mass * x)));
  });
  return norms;
}

Result<MassPca> mass_pca(const BlockMatrix& mass, MatX shapes, const VecX& weights) {
  if (shapes.rows() != 3 * mass.rows()) {
    return input_error(fmt::format("the shapes have {} numbers each, but the body has {} vertices and needs {}",
                                   shapes.rows(), mass.rows(), 3 * mass.rows()));
  }
  if (weights.size() != 0 && weights.size() != shapes.cols()) {
    return input_error(fmt::format("there are {} weights for {} shapes", weights.size(), shapes.cols()));
  }
  if (weights.size() != 0) shapes *= weights.asDiagonal();
  if (!shapes.allFinite()) return input_error("a shape or its weight is not a finite number");
  const MassQr qr = GramSchmidt(mass, std::move(shapes)).run(true);
  if (qr.Q.cols() == 0) return MassPca{MatX(qr.Q.rows(), 0), VecX(0)};
  // R = W S Vᵀ, so X = (Q W) S Vᵀ.
  const ColumnSvd svd = jacobi_svd(qr.R.transpose());
  return MassPca{qr.Q * svd.right, svd.values};
}

int suggest_size(const VecX& singular_values, double share) {
  // From the small end, where the sum has all its digits.
  const double allowed = (1 - share) * singular_values.squaredNorm();
  double left_out = 0;
  Eigen::Index r = singular_values.size();
  while (r > 1) {
    left_out += singular_values[r - 1] * singular_values[r - 1];
    if (left_out > allowed) break;
    --r;
  }
  return static_cast<int>(r);
}

MatX mass_orthonormalize(const BlockMatrix& mass, MatX shapes) {
  return GramSchmidt(mass, std::move(shapes)).run(false).Q;
}

}  // namespace supple
