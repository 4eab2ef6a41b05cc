// SPDX-License-Identifier: Apache-2.0
// A point as a mean of few points around it: w ≥ 0, Σ w = 1, Σ w X_k = X, such that Σ w |X_k − X|² is least.
//
// That linear program chooses the corners of the Delaunay tetrahedron of the X_k that contains X, and its barycentric
// coordinates, without triangulating anything: a basic solution has four positive weights. Solved by the simplex
// method with four rows; four far points of great cost make a first solution, and stay in the last one where X lies
// outside of all the others.
#pragma once

#include "supple/base/types.h"

#include <array>
#include <optional>
#include <span>

namespace supple {

struct SurroundingWeights {
  std::array<Index, 4> point{};  ///< places in `points`
  std::array<double, 4> weight{};
};

/// Finds the weights, or none where x isn't surrounded by the points. `numbers`: one for each point, ascending; of
/// solutions that are equally good they choose one, whichever other points there are.
std::optional<SurroundingWeights> surrounding_weights(const Vec3& x, std::span<const Vec3> points,
                                                      std::span<const Index> numbers);

}  // namespace supple
