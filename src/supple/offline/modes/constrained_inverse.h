// SPDX-License-Identifier: Apache-2.0
// The inverse of a sparse K under constraints: y minimises ½ yᵀK y − fᵀy among all y with B y = 0. With multipliers μ,
//
//   K y + Bᵀ μ = f,   B y = 0   ⇒   y = K⁻¹ f − X S⁻¹ B K⁻¹ f,    X = K⁻¹ Bᵀ,  S = B X.
//
// null_space: the 2016 paper's way (Eq. 27–30). Gaussian elimination with pivoting finds c unknowns that the others
//   determine, B P = L [U_p U_n], so that the columns of
//      Z = P [−U_p⁻¹ U_n; I]
//   span the null space of B, and y = Z (ZᵀKZ)⁻¹ Zᵀ f. (Eq. 30 prints the block without its sign.) Entries of Z below
//   1e-10 are cut and the sparse ZᵀKZ is factorised. Contacts touch few unknowns each, so little is cut and nothing
//   lost. Our Z is square: columns of the determined unknowns are empty, so that the others keep their numbers and ZᵀKZ
//   its vertices, by which it is ordered. A solve costs hardly more than one with K.
// null_space_cg: conjugate gradients with the uncut Z, preconditioned by that factor.
// bordered: the right-hand formula, with one Cholesky factor of K, c solves for X at once, and a dense factor of S
//   (c × c). A solve costs one with K and a product with the dense X: the way for few rows that touch everything. B is
//   the orthonormal Qᵀ of constraint_rows.h, so S is as well conditioned as K.
//
// All three map any f to the null space of B and are symmetric, so they serve Lanczos in the unknowns y themselves. K
// must be positive definite.
#pragma once

#include "supple/offline/modes/constraint_rows.h"

#include <memory>

namespace supple {

enum class ConstraintMethod { null_space, null_space_cg, bordered };

class ConstrainedInverse {
 public:
  /// Factorises K, a lower triangle with three unknowns for each vertex. Gives null when K isn't positive definite.
  /// `rows` must outlive the result.
  static std::unique_ptr<ConstrainedInverse> create(const Eigen::SparseMatrix<double>& K, const ConstraintRows& rows,
                                                    ConstraintMethod method);
  virtual ~ConstrainedInverse() = default;

  /// Solves for one f. Only one call may run at a time on each object.
  virtual void solve(Eigen::Ref<const VecX> f, Eigen::Ref<VecX> y) const = 0;
  /// Solves for many columns at once.
  virtual MatX solve(const MatX& f) const;
};

/// Z as above, `size` × `size`; entries below `threshold` are left out.
Eigen::SparseMatrix<double> null_space(const ConstraintRows& rows, Eigen::Index size, double threshold);

}  // namespace supple
