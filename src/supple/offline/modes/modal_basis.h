// SPDX-License-Identifier: Apache-2.0
// A basis for large deformations from the rest shape alone (2005 paper, section 5.1): linear modes and their
// derivatives, weighted by frequency (Eq. 16), compressed by mass-PCA:
//   { λ_1/λ_j Ψ_j }  ∪  { λ_1²/(λ_i λ_j) Φ_ij / |Φ_ij|_M }
// The derivatives enter with unit mass norm. Without that their weight against the modes would depend on the unit of
// mass; with it the subspace is the same for every global scale of stiffness and density.
//
// Bodies that can move rigidly take tangent derivatives (Eq. 29, all ordered pairs), their rigid part removed: the
// basis is mass-orthogonal to the rigid motions, which a floating frame carries.
#pragma once

#include "supple/fem/modes.h"

namespace supple {

struct ModalBasisSettings {
  int linear_modes = 20;          ///< k
  int size = 0;                   ///< r; 0 takes the suggested one
  bool require_anchored = false;  ///< refuse bodies that can move rigidly
};

struct ModalBasis {
  MatX basis;              ///< 3n × r, mass-orthonormal, zero at fixed vertices
  VecX singular_values;    ///< all of the set, descending
  int suggested_size = 0;  ///< by suggest_size()
  VecX frequencies;        ///< of the k linear modes [Hz]
  bool anchored = false;
  double largest_residual = 0.0;  ///< of the derivatives' linear systems
  int iterations = 0;             ///< most that a derivative took; 0 for anchored bodies
  double modes_seconds = 0.0;     ///< the columns of Figure 8 …
  double right_hand_side_seconds = 0.0;
  double solve_seconds = 0.0;
  double pca_seconds = 0.0;  ///< … and what the paper calls small
};

/// Fails with a sentence when the body is in pieces, is not anchored where that is required, or when more modes or
/// basis vectors are asked for than exist.
Result<ModalBasis> build_modal_basis(const ElasticBody& body, std::span<const Index> fixed,
                                     const ModalBasisSettings& settings = {}, Progress& progress = Progress::silent());

}  // namespace supple
