// SPDX-License-Identifier: Apache-2.0
#include "supple/math/dense/nonnegative_least_squares.h"

#include "supple/math/dense/decompositions.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace supple {
namespace {

/// G of unit columns with as much more on its diagonal as makes it definite: 1e-12 keeps twins apart; where sums of
/// single precision have left G a little indefinite, it takes more.
MatX made_definite(const MatX& G) {
  MatX shifted = G;
  for (double shift = 1e-12; shift < 1; shift *= 100) {
    shifted.diagonal() = G.diagonal().array() + shift;
    if (PositiveFactor(shifted).ok()) break;
  }
  return shifted;
}

class BlockPivoting {
 public:
  BlockPivoting(MatX G, const VecX& h)
      : G_(std::move(G)),
        h_(h),
        positive_(to_size(h.size()), 1),
        x_(VecX::Zero(h.size())),
        tolerance_(1e-10 * h.cwiseAbs().maxCoeff()) {}

  VecX run() {
    std::size_t fewest = positive_.size() + 1;
    int patience = 3;
    const int limit = 100 + 2 * static_cast<int>(positive_.size());
    for (int iteration = 0; iteration < limit; ++iteration) {
      solve();
      const std::vector<Eigen::Index> wrong = infeasible();
      if (wrong.empty()) return x_.cwiseMax(0);
      if (wrong.size() < fewest) {
        fewest = wrong.size();
        patience = 3;
      } else {
        --patience;
      }
      if (patience >= 0) {
        for (const Eigen::Index i : wrong) flip(i);
      } else {
        flip(wrong.back());
      }
    }
    return run_one_by_one();
  }

 private:
  /// Lawson and Hanson 1974: from nothing, one entry in at a time; entries that turn negative on the way leave. The
  /// error falls in every round.
  VecX run_one_by_one() {
    std::fill(positive_.begin(), positive_.end(), 0);
    VecX x = VecX::Zero(h_.size());
    for (Eigen::Index round = 0; round < 4 * h_.size(); ++round) {
      Eigen::Index enters = 0;
      VecX descent = h_ - G_ * x;
      for (Eigen::Index i = 0; i < x.size(); ++i)
        if (positive_[to_size(i)]) descent[i] = 0;
      if (descent.maxCoeff(&enters) <= tolerance_) break;
      flip(enters);
      while (solve(), leave_negative(x)) {
      }
    }
    return x;
  }

  /// Goes from x towards the solution of the set until the first entry vanishes, which leaves. False: got there.
  bool leave_negative(VecX& x) {
    double way = 1;
    for (Eigen::Index i = 0; i < x.size(); ++i)
      if (positive_[to_size(i)] && x_[i] <= 0) way = std::min(way, x[i] / (x[i] - x_[i]));
    const bool all = way >= 1;
    x += std::clamp(way, 0.0, 1.0) * (x_ - x);
    for (Eigen::Index i = 0; i < x.size() && !all; ++i) {
      if (!positive_[to_size(i)] || x_[i] > 0 || x[i] > 1e-15 * x_.cwiseAbs().maxCoeff()) continue;
      flip(i);
      x[i] = 0;
    }
    return !all;
  }

  void flip(Eigen::Index i) { positive_[to_size(i)] ^= 1; }

  void solve() {
    std::vector<Eigen::Index> set;
    for (std::size_t i = 0; i < positive_.size(); ++i)
      if (positive_[i]) set.push_back(static_cast<Eigen::Index>(i));
    x_.setZero();
    const MatX G = G_(set, set);
    const VecX solution = PositiveFactor(G).solve(VecX(h_(set)));
    x_(set) = solution;
    gradient_ = G_ * x_ - h_;
  }

  std::vector<Eigen::Index> infeasible() const {
    std::vector<Eigen::Index> wrong;
    for (Eigen::Index i = 0; i < x_.size(); ++i) {
      const bool in = positive_[to_size(i)] != 0;
      if (in ? x_[i] < 0 : gradient_[i] < -tolerance_) wrong.push_back(i);
    }
    return wrong;
  }

  MatX G_;
  const VecX& h_;
  std::vector<char> positive_;
  VecX x_, gradient_;
  double tolerance_;
};

}  // namespace

VecX nonnegative_least_squares(const MatX& G, const VecX& h) {
  if (h.size() == 0) return h;
  const VecX scale = G.diagonal().unaryExpr([](double d) { return d > 0 ? 1 / std::sqrt(d) : 0.0; });
  const MatX scaled_G = scale.asDiagonal() * G * scale.asDiagonal();
  const VecX scaled_h = scale.cwiseProduct(h);
  return scale.cwiseProduct(BlockPivoting(made_definite(scaled_G), scaled_h).run());
}

}  // namespace supple
