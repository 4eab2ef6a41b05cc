// SPDX-License-Identifier: Apache-2.0
// The orthogonal Procrustes problem between two bases of subspaces, given their overlap (2016 paper, Eq. 11 and 12):
//   Q = argmin ‖B Q − A‖_M,  QᵀQ = 1        BᵀMA = Y Σ Zᵀ,  Q = Y Zᵀ
// For bases of unit columns the singular values are the cosines of the angles between the subspaces.
#pragma once

#include "supple/base/types.h"

namespace supple {

struct Procrustes {
  MatX rotation;  ///< Q
  VecX cosines;   ///< descending
};

/// `overlap`: BᵀMA, square.
Procrustes align_subspaces(const MatX& overlap);

}  // namespace supple
