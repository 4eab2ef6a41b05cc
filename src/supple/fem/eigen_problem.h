// SPDX-License-Identifier: Apache-2.0
// K x = λ M x over the free vertices of a body, and the steps that every search for its modes shares.
//
// Rigid motions R are known exactly and have λ = 0, so they are not searched for: they are taken out of every vector
// the iteration sees, x ← (I − R RᵀM) x. Used by fem/modes.h and by the constrained and weighted modes of
// offline/modes, whose M is weighted and whose inverse works on a subspace.
#pragma once

#include "supple/base/progress.h"
#include "supple/fem/modes.h"
#include "supple/math/sparse/lanczos.h"

namespace supple {

struct EigenProblem {
  Eigen::SparseMatrix<double> K, M;  ///< lower triangles
  MatX rigid;                        ///< R, RᵀMR = I
  MatX M_rigid;                      ///< M R

  Eigen::Index size() const { return K.rows(); }
  VecX multiply_K(const VecX& x) const { return K.selfadjointView<Eigen::Lower>() * x; }
  VecX multiply_M(const VecX& x) const { return M.selfadjointView<Eigen::Lower>() * x; }
  void set_rigid(MatX motions);
  /// Makes x mass-orthogonal to all rigid motions.
  void remove_rigid(Eigen::Ref<VecX> x) const;
};

/// The eigenvalue scale of the slow modes: Rayleigh quotient of a smooth field, here a uniform dilation of the points.
double eigenvalue_scale(const EigenProblem& problem, const VecX& rest_positions);

/// Gives the shift σ that makes K − σM definite where K is singular.
double definite_shift(double scale);

/// Solves small problems, or finds nearly all modes of one. Rigid motions are moved to the far end of the spectrum.
Eigenpairs dense_eigenpairs(MatX K, const MatX& M, const MatX& M_rigid, int count);

/// Decides whether the dense solver is used. Fails where it would be needed and the problem is too large for it.
Result<bool> choose_dense(Eigen::Index size, Eigen::Index available, int count);

/// Lanczos with `inverse.solve` giving (K − σM)⁻¹ x; rigid motions are taken out here, progress is told.
Result<Eigenpairs> lanczos_eigenpairs(const EigenProblem& problem, ShiftInvert inverse, const ModesSettings& settings,
                                      Progress& progress);

/// Scales the vectors to unit mass with their largest entry positive, so that nothing depends on a start vector's
/// sign. Returns |r| / (λ |M x|) of each, where `filter` may take out of r = K x − λ M x what constraints carry.
VecX normalise(const EigenProblem& problem, Eigenpairs& pairs, const std::function<void(VecX&)>& filter = {});

/// Largest √|xᵀKx| of the rigid motions relative to the first elastic √λ.
double rigid_residual(const EigenProblem& problem, double first_eigenvalue);

/// Refuses modes of frequency zero and residuals above 1e-6.
Status check_modes(const Modes& modes, double scale);

}  // namespace supple
