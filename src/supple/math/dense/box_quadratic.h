// SPDX-License-Identifier: Apache-2.0
// Convex quadratic programs in a box: min ½ xᵀQx + cᵀx, low ≤ x ≤ high, with Q sparse and positive definite.
//
// Two stages on one symbolic factorisation, because all their matrices have the pattern of Q:
//  1. Mehrotra's predictor-corrector interior point method, which solves with Q + diag(y/s) some twenty times whatever
//     the size, and cannot cycle. It ends near the answer, but not on the bounds.
//  2. On request, the primal-dual active set method from there (Hintermüller, Ito & Kunisch 2003): entries on a bound
//     are held, the others solved for exactly, until none wants to change sides. Where the second doesn't settle, the
//     interior point is the answer. For biharmonic weights it takes ten to thirty steps, because where a weight is zero
//     all around, the bound presses on nothing and it hardly matters which side a vertex is on.
//
// How good x is, is told by the projected step: residual = max_i |x_i − clamp(x_i − (Qx + c)_i / Q_ii)|, which is zero
// exactly where the Karush-Kuhn-Tucker conditions hold, and has the unit of x.
#pragma once

#include "supple/base/types.h"
#include "supple/math/sparse/sparse_factor.h"

namespace supple {

struct BoxQuadraticReport {
  int interior_steps = 0;
  int active_set_steps = 0;
  double residual = 0;
  bool exact = false;  ///< the active set settled
};

struct BoxQuadraticSettings {
  double complementarity = 1e-12;  ///< mean of distance × multiplier to reach, relative to the first one
  int active_set_steps = 0;        ///< at most
};

/// Solves many such programs that share one Q.
class BoxQuadratic {
 public:
  /// All of Q, both triangles, with its diagonal.
  explicit BoxQuadratic(Eigen::SparseMatrix<double> q, const BoxQuadraticSettings& settings = {});

  VecX minimize(const VecX& c, double low, double high, BoxQuadraticReport* report = nullptr);

 private:
  struct Interior;
  enum class Bound : char { none, low, high };

  bool solve_with_diagonal(const VecX& more);
  VecX interior_point(const VecX& c, double low, double high, std::vector<Bound>& bound, BoxQuadraticReport& report);
  bool settle(const VecX& c, double low, double high, std::vector<Bound>& bound, VecX& x, BoxQuadraticReport& report);
  bool solve_between(const VecX& c, const std::vector<Bound>& bound, VecX& x);
  double residual(const VecX& c, double low, double high, const VecX& x) const;

  BoxQuadraticSettings settings_;
  Eigen::SparseMatrix<double> q_;
  Eigen::SparseMatrix<double> lower_;   ///< of Q
  Eigen::SparseMatrix<double> matrix_;  ///< same pattern, to be factored
  VecX diagonal_;
  SparseFactor factor_;
};

}  // namespace supple
