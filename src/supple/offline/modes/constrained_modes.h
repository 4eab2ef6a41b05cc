// SPDX-License-Identifier: Apache-2.0
// Modes and modal derivatives of a body under linear constraints and within a patch (2016 paper, sections 6 and 7).
//
// Contact: whatever touches in a pose shall stay as it touches, C u = 0. Patch: displacements fade to zero where the
// weights w of the vertices do, φ = W y with W = diag(w). Both at once (Eq. 26–35), in the unknowns y:
//
//   K y_i = λ_i W M W y_i,              C W y_i = 0,      φ_i = W y_i,    φ_iᵀ M φ_j = δ_ij
//   K z_ij = −(H : φ_i) y_j + (CW)ᵀ μ,  C W z_ij = 0,     ψ_ij = W z_ij
//
// Where the paper writes y for coordinates of the null space Z of C W, our y is its Z y.
//
// What the derivatives are. Eq. 31 gives the patch the stiffness W⁻¹ K(u) W⁻¹. Let the body move along φ_i and apply
// the load that held φ_j there before: W⁻¹ K(p φ_i) W⁻¹ φ(p) = W⁻¹ K W⁻¹ φ_j. Then dφ/dp = ψ_ij at p = 0. H is
// symmetric in all its indices, so without weights (H:φ_i) y_j = (H:φ_j) y_i, ψ_ij = ψ_ji, and ψ_ij is the curvature of
// the constrained static response. With weights that vary W⁻¹ K(u) W⁻¹ is no longer the gradient of a force, and ψ_ij
// and ψ_ji differ: both are given.
//
// Weights may be zero (those vertices are held), constraints redundant (removed) or absent; without either this is
// compute_modes() and static_derivatives().
#pragma once

#include "supple/offline/modes/constrained_inverse.h"
#include "supple/offline/modes/modal_derivatives.h"

namespace supple {

struct ModeProblem {
  const ElasticBody& body;  ///< in its pose, see ElasticBody::posed()
  std::span<const Index> fixed = {};
  VecX vertex_weights = {};            ///< w, one per vertex, none negative; empty: 1 everywhere
  SparseConstraints constraints = {};  ///< C over all degrees of freedom; empty: none
};

/// The factorised problem, to be asked for modes and then for their derivatives.
class ConstrainedBody {
 public:
  /// Fails when sizes don't fit, numbers are not finite, or nothing is left to move.
  static Result<ConstrainedBody> create(const ModeProblem& problem,
                                        ConstraintMethod method = ConstraintMethod::null_space,
                                        Progress& progress = Progress::silent());
  ~ConstrainedBody();
  ConstrainedBody(ConstrainedBody&&) noexcept;
  ConstrainedBody& operator=(ConstrainedBody&&) noexcept;

  Index constraint_count() const;  ///< independent rows that act on free vertices
  Index redundant_count() const;   ///< rows that were removed
  Index available_modes() const;   ///< elastic modes that exist

  /// `rigid`: motions that cost no energy and obey the constraints, as W y too.
  Result<Modes> modes(const ModesSettings& settings = {}, Progress& progress = Progress::silent()) const;
  /// W y with K y = W f up to what constraints carry, for forces f on all degrees of freedom: how the patch gives way.
  MatX responses(const MatX& forces) const;
  /// Finds the derivatives of the first `count` modes: of pairs i ≤ j without weights, else of all pairs. Fails when
  /// rigid motions are left.
  Result<ModalDerivatives> derivatives(const Modes& modes, int count, Progress& progress = Progress::silent()) const;

 private:
  struct Impl;
  explicit ConstrainedBody(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Makes a ConstrainedBody and asks it for its modes, for callers who need nothing else.
Result<Modes> constrained_modes(const ModeProblem& problem, const ModesSettings& settings = {},
                                ConstraintMethod method = ConstraintMethod::null_space,
                                Progress& progress = Progress::silent());

}  // namespace supple
