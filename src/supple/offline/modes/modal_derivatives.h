// SPDX-License-Identifier: Apache-2.0
// Modal derivatives (2005 paper, section 5.1 and appendix D): how linear modes bend as the body deforms along them.
//
// Static (Eq. 14). Load the body with Σ p_i K Ψ_i: its static shape u(p) obeys f(u(p)) = Σ p_i K Ψ_i. Differentiating
// once gives ∂u/∂p_i = Ψ_i, twice K ∂²u/∂p_i∂p_j + (H:Ψ_i)Ψ_j = 0. So
//   K Φ_ij = −(H:Ψ_i)Ψ_j
// is exactly the curvature of the static response, and symmetric; K must be regular.
//
// Tangent (Eq. 29). The mode of the body deformed by p_j Ψ_j obeys (K(u) − λ M) Ψ_i(u) = 0. Its derivative, multiplied
// by Ψ_iᵀ, gives ∂λ_i/∂p_j = Ψ_iᵀ(H:Ψ_j)Ψ_i, and with it
//   (K − λ_i M) Φ_ij = (M Ψ_i Ψ_iᵀ − I)(H:Ψ_i)Ψ_j,     Ψ_iᵀ M Φ_ij = 0
// where the second follows from the unit mass norm of Ψ_i(u). Not symmetric; works with rigid motions, of which it
// contains a part: Rᵀ M Φ_ij = Rᵀ (H:Ψ_i)Ψ_j / λ_i.
//
// Every K − λ_i M is indefinite, but only along modes that we already know. There the answer is a division,
// Ψ_mᵀ g / (λ_i − λ_m); on the rest, mass-orthogonal to all given modes, K − λ_i M is positive definite. Conjugate
// gradients run on that rest for many right-hand sides at once, with one Cholesky factor of K + σM as the
// preconditioner for every i: the preconditioned spectrum is (λ_m − λ_i)/(λ_m + σ), within (1 − λ_i/λ_next, 1]. A few
// modes more than are differentiated make it short. A factor for every λ_i (LDLᵀ without pivoting) would be slower and
// less safe.
#pragma once

#include "supple/fem/modes.h"

#include <array>

namespace supple {

struct ModalDerivatives {
  MatX shapes;                            ///< Φ_ij over all vertices, zero at fixed ones, not normalised
  std::vector<std::array<int, 2>> pairs;  ///< (i, j) of each column; static: i ≤ j, tangent: all
  double largest_residual = 0.0;          ///< of |left − right| / |(H:Ψ_i)Ψ_j|, as checked after the solve
  int iterations = 0;                     ///< most conjugate gradient iterations that a column took; static: 0
  double right_hand_side_seconds = 0.0;
  double solve_seconds = 0.0;
};

/// Eq. 14 for the first `count` modes. Fails when the body can move rigidly, or a residual is above 1e-6.
Result<ModalDerivatives> static_derivatives(const ElasticBody& body, std::span<const Index> fixed, const Modes& modes,
                                            int count, Progress& progress = Progress::silent());

/// Eq. 29 for the first `count` modes, anchored or not. Modes whose eigenvalues are within 1e-4 of each other count as
/// one eigenspace, in which single derivatives don't exist: Φ_ij is then mass-orthogonal to the whole eigenspace.
Result<ModalDerivatives> tangent_derivatives(const ElasticBody& body, std::span<const Index> fixed, const Modes& modes,
                                             int count, Progress& progress = Progress::silent());

}  // namespace supple
