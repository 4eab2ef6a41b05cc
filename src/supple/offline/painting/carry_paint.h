// SPDX-License-Identifier: Apache-2.0
// A number painted on the skin, carried to the tetrahedra inside (2016 paper, Eq. 37): close to the paint where there
// is any, as smooth as can be elsewhere,
//
//   E = argmin  Σ_e a_e (E_e − Ē_e)²  +  ℓ Σ_f w_f (E_i − E_j)²,   w_f = A_f (n·d) / |d|²
//
// Ē_e: mean of the painted skin vertices in element e, a_e: the area of skin they stand for; f: a face of area A_f and
// normal n between elements i and j whose centres are d apart. The paper's Laplacian is L = ℓ Σ_f w_f. The sums stand
// for ∫ (E − Ē)² dA over the skin and ℓ ∫ |∇E|² dV over the body, so that nothing depends on how fine either mesh is:
// w_f gives a linear field its exact energy in the mean over directions, because Σ_f A_f n·d = 3 V. The length ℓ is
// what is smoothed away along the skin; inside, the paint is continued like heat that flows between its sides.
//
// Because all w_f are positive, the result never leaves the painted range: what was legal on the skin is legal inside.
// Seams of the file don't matter: elements don't know them.
#pragma once

#include "supple/base/result.h"
#include "supple/mesh/embedding.h"

#include <limits>
#include <span>

namespace supple {

/// Vertices of the skin that bear no paint have this in place of a number.
inline constexpr double unpainted = std::numeric_limits<double>::quiet_NaN();

struct CarrySettings {
  double smoothness = 0.01;  ///< ℓ as a share of the body's diagonal, 0 < … ≤ 100
};

/// One number per element from one per vertex of the skin. Pieces of the body that no paint touches get its mean.
/// Fails when nothing is painted, or sizes don't fit.
Result<std::vector<double>> carry_paint(const TetMesh& mesh, const Surface& skin, const Embedding& embedding,
                                        std::span<const double> paint, const CarrySettings& settings = {});

}  // namespace supple
