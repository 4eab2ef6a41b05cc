// SPDX-License-Identifier: Apache-2.0
// min |A x − b|² subject to x ≥ 0, from the normal equations: G = AᵀA and h = Aᵀb are all that is needed.
//
// Block principal pivoting (Portugal, Judice, Vicente 1994; Kim and Park 2011): guess which entries are positive, solve
// for them, and exchange all that turned out wrong at once: negative entries leave, zeros with a descending gradient
// enter. When exchanges stop getting fewer, one at a time (Murty). That ends for certain, but perhaps not soon: after
// many exchanges Lawson and Hanson's active set starts anew. Columns count with unit norm.
#pragma once

#include "supple/base/types.h"

namespace supple {

/// `G` symmetric positive semi-definite, `h` of the same size. The result fulfils the optimality conditions
/// (x ≥ 0, Gx − h ≥ 0 where x = 0, = 0 elsewhere) to 1e-9 of the largest |h| of unit columns.
VecX nonnegative_least_squares(const MatX& G, const VecX& h);

}  // namespace supple
