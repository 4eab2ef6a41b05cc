// SPDX-License-Identifier: Apache-2.0
// Vibration modes at rest: the smallest eigenvalues of K x = λ M x, λ = (2π f)².
//
// Shift-invert Lanczos (Spectra) on a sparse Cholesky factor of K − σM. Rigid motions are known exactly, so they are
// not searched for: they are taken out of every vector the iteration sees, and only elastic modes remain.
#pragma once

#include "supple/base/progress.h"
#include "supple/fem/free_vertices.h"

namespace supple {

struct Modes {
  VecX eigenvalues;  ///< λ [rad²/s²], ascending, elastic modes only
  VecX frequencies;  ///< f = √λ / 2π [Hz]
  MatX shapes;       ///< columns over all vertices, mass-orthonormal, zero at fixed vertices
  VecX residuals;    ///< |K x − λ M x| / (λ |M x|) of each mode, as checked after the solve
  MatX rigid;        ///< mass-orthonormal rigid motions that were separated; 6 columns for a free connected body
  double rigid_residual = 0.0;  ///< largest √|xᵀKx| of the rigid motions relative to the first elastic √λ
};

struct ModesSettings {
  int count = 20;
  double tolerance = 1e-10;  ///< of the eigenvalues, relative
};

/// Fails when more modes are asked for than exist, or a residual is above 1e-6.
Result<Modes> compute_modes(const ElasticBody& body, std::span<const Index> fixed, const ModesSettings& settings = {},
                            Progress& progress = Progress::silent());

}  // namespace supple
