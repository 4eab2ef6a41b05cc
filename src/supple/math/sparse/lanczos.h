// SPDX-License-Identifier: Apache-2.0
// The smallest eigenvalues of K x = λ M x by shift-invert Lanczos (Spectra), for an inverse of any kind.
//
// The iteration never sees K: it runs on x → (K − σM)⁻¹ M x, whose largest eigenvalues 1/(λ − σ) belong to the smallest
// λ above the shift σ. The inverse may also be one on a subspace only, zero on what is left out: those directions have
// eigenvalue 0 and are never found.
#pragma once

#include "supple/base/result.h"
#include "supple/base/types.h"

#include <Eigen/SparseCore>

#include <functional>

namespace supple {

struct Eigenpairs {
  VecX values;  ///< ascending
  MatX vectors;
};

struct ShiftInvert {
  /// y = (K − σM)⁻¹ x; false stops the iteration.
  std::function<bool(Eigen::Ref<const VecX> x, Eigen::Ref<VecX> y)> solve;
  double shift = 0.0;              ///< σ, below the eigenvalues that are wanted
  Eigen::Index subspace_size = 0;  ///< dimension of what `solve` can reach
};

/// `mass`: lower triangle of M. `start`: any vector, brought into the subspace by one solve. Fails when the iteration
/// doesn't converge, or with "cancelled" when `solve` says so. `count` must be below the size of the subspace.
Result<Eigenpairs> shift_invert_lanczos(const ShiftInvert& inverse, const Eigen::SparseMatrix<double>& mass,
                                        const VecX& start, int count, double tolerance);

}  // namespace supple
