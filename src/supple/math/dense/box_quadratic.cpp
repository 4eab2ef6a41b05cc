// SPDX-License-Identifier: Apache-2.0
#include "supple/math/dense/box_quadratic.h"

#include "supple/base/assert.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

using Sparse = Eigen::SparseMatrix<double>;

constexpr int most_interior_steps = 60;

/// The longest step ≤ 1 along which v stays positive.
double longest_step(const VecX& v, const VecX& step) {
  double longest = 1;
  for (Eigen::Index i = 0; i < v.size(); ++i)
    if (step[i] < 0) longest = std::min(longest, -v[i] / step[i]);
  return longest;
}

}  // namespace

/// Distances to the bounds and their multipliers.
struct BoxQuadratic::Interior {
  VecX x, below, above, y_below, y_above;

  double complementarity() const {
    return (below.dot(y_below) + above.dot(y_above)) / static_cast<double>(2 * x.size());
  }
  struct Step {
    VecX x, y_below, y_above;
  };
  /// From a step of x: what makes distance · multiplier the wanted products, to first order.
  Step complete(const VecX& dx, const VecX& want_below, const VecX& want_above) const {
    return {dx, (want_below - y_below.cwiseProduct(dx)).cwiseQuotient(below) - y_below,
            (want_above + y_above.cwiseProduct(dx)).cwiseQuotient(above) - y_above};
  }
  double longest(const Step& step) const {
    return std::min({longest_step(below, step.x), longest_step(above, -step.x), longest_step(y_below, step.y_below),
                     longest_step(y_above, step.y_above)});
  }
  double complementarity_after(const Step& step, double length) const {
    return ((below + length * step.x).dot(y_below + length * step.y_below) +
            (above - length * step.x).dot(y_above + length * step.y_above)) /
           static_cast<double>(2 * x.size());
  }
  void take(const Step& step, double length) {
    x += length * step.x;
    below += length * step.x;
    above -= length * step.x;
    y_below += length * step.y_below;
    y_above += length * step.y_above;
  }
};

BoxQuadratic::BoxQuadratic(Sparse q, const BoxQuadraticSettings& settings) : settings_(settings), q_(std::move(q)) {
  SUPPLE_ASSERT(q_.rows() == q_.cols());
  lower_ = q_.triangularView<Eigen::Lower>();
  lower_.makeCompressed();
  matrix_ = lower_;
  diagonal_ = lower_.diagonal();
  factor_.analyze(lower_);
}

bool BoxQuadratic::solve_with_diagonal(const VecX& more) {
  for (Eigen::Index j = 0; j < lower_.cols(); ++j) {
    // The diagonal comes first in a column of a lower triangle.
    const auto first = lower_.outerIndexPtr()[j], end = lower_.outerIndexPtr()[j + 1];
    std::copy(lower_.valuePtr() + first, lower_.valuePtr() + end, matrix_.valuePtr() + first);
    matrix_.valuePtr()[first] += more[j];
  }
  return factor_.factorize(matrix_);
}

VecX BoxQuadratic::interior_point(const VecX& c, double low, double high, std::vector<Bound>& bound,
                                  BoxQuadraticReport& report) {
  const Eigen::Index n = c.size();
  const double middle = 0.5 * (low + high), half = 0.5 * (high - low);
  const VecX first_multiplier = VecX::Constant(n, diagonal_.mean() * half);
  Interior at{VecX::Constant(n, middle), VecX::Constant(n, half), VecX::Constant(n, half), first_multiplier,
              first_multiplier};
  const double goal = settings_.complementarity * at.complementarity();
  VecX dx(n);
  for (int k = 0; k < most_interior_steps; ++k) {
    const double mu = at.complementarity();
    if (mu < goal) break;
    if (!solve_with_diagonal(at.y_below.cwiseQuotient(at.below) + at.y_above.cwiseQuotient(at.above))) break;
    ++report.interior_steps;
    const VecX gradient = q_ * at.x + c;
    const VecX zero = VecX::Zero(n);
    factor_.solve(VecX(-gradient), dx);
    const Interior::Step predicted = at.complete(dx, zero, zero);
    const double centring = std::pow(at.complementarity_after(predicted, at.longest(predicted)) / mu, 3);
    const VecX want_below = VecX::Constant(n, centring * mu) - dx.cwiseProduct(predicted.y_below);
    const VecX want_above = VecX::Constant(n, centring * mu) + dx.cwiseProduct(predicted.y_above);
    factor_.solve(VecX(-gradient + want_below.cwiseQuotient(at.below) - want_above.cwiseQuotient(at.above)), dx);
    const Interior::Step step = at.complete(dx, want_below, want_above);
    at.take(step, std::min(1.0, 0.995 * at.longest(step)));
  }
  for (Eigen::Index i = 0; i < n; ++i) {
    Bound& side = bound[to_size(i)];
    side = diagonal_[i] * at.below[i] < at.y_below[i]   ? Bound::low
           : diagonal_[i] * at.above[i] < at.y_above[i] ? Bound::high
                                                        : Bound::none;
  }
  return at.x;
}

bool BoxQuadratic::solve_between(const VecX& c, const std::vector<Bound>& bound, VecX& x) {
  const auto held = [&](Eigen::Index i) { return bound[to_size(i)] != Bound::none; };
  VecX b(c.size());
  for (Eigen::Index i = 0; i < c.size(); ++i)
    if (!held(i)) x[i] = 0;
  b = -c - q_ * x;
  // Held rows and columns leave nothing but their diagonal: the pattern, and with it the analysis, stays.
  for (Eigen::Index j = 0; j < lower_.cols(); ++j) {
    for (auto k = lower_.outerIndexPtr()[j]; k < lower_.outerIndexPtr()[j + 1]; ++k) {
      const Eigen::Index i = lower_.innerIndexPtr()[k];
      matrix_.valuePtr()[k] = i != j && (held(i) || held(j)) ? 0.0 : lower_.valuePtr()[k];
    }
    if (held(j)) b[j] = diagonal_[j] * x[j];
  }
  if (!factor_.factorize(matrix_)) return false;
  VecX solved(x.size());
  factor_.solve(b, solved);
  for (Eigen::Index i = 0; i < x.size(); ++i)
    if (!held(i)) x[i] = solved[i];
  return true;
}

bool BoxQuadratic::settle(const VecX& c, double low, double high, std::vector<Bound>& bound, VecX& x,
                          BoxQuadraticReport& report) {
  for (int k = 0; k < settings_.active_set_steps; ++k) {
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      const Bound side = bound[to_size(i)];
      if (side != Bound::none) x[i] = side == Bound::low ? low : high;
    }
    if (!solve_between(c, bound, x)) return false;
    ++report.active_set_steps;
    const VecX gradient = q_ * x + c;
    bool changed = false;
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      Bound& side = bound[to_size(i)];
      const Bound before = side;
      if (side == Bound::none) {
        if (x[i] < low) side = Bound::low;
        if (x[i] > high) side = Bound::high;
      } else if ((side == Bound::low && gradient[i] < 0) || (side == Bound::high && gradient[i] > 0)) {
        side = Bound::none;
      }
      changed = changed || side != before;
    }
    if (!changed) return true;
  }
  return false;
}

double BoxQuadratic::residual(const VecX& c, double low, double high, const VecX& x) const {
  const VecX step = x - (q_ * x + c).cwiseQuotient(diagonal_);
  return (x - step.cwiseMax(low).cwiseMin(high)).cwiseAbs().maxCoeff();
}

VecX BoxQuadratic::minimize(const VecX& c, double low, double high, BoxQuadraticReport* report) {
  BoxQuadraticReport own;
  BoxQuadraticReport& told = report ? *report : own;
  told = {};
  if (c.size() == 0) return c;
  std::vector<Bound> bound(to_size(c.size()));
  const VecX inside = interior_point(c, low, high, bound, told);
  VecX x = inside;
  told.exact = settle(c, low, high, bound, x, told);
  if (!told.exact) x = inside;
  told.residual = residual(c, low, high, x);
  return x;
}

}  // namespace supple
