// SPDX-License-Identifier: Apache-2.0
// A displacement in the world taken into the space the skin was bound in: d with B d = u.
//
// Where skinning collapses (a joint twisted by half a turn, a part hidden by scaling it to nothing) B has no inverse.
// With B = U diag(σ) Vᵀ, singular values below a tenth of the vertex's usual scale s are held there:
//   d = V diag(σ / max(σ, s/10)²) Uᵀ u,
// so that d stays bounded. What B d then lacks of u can't be reached by any morph target.
#pragma once

#include "supple/base/types.h"

namespace supple {

Vec3 into_bind_space(const Mat3& B, const Vec3& u, double scale);

/// The factor by which a matrix scales lengths, in the mean: |B|_F / √3.
double mean_scale(const Mat3& B);

}  // namespace supple
