// SPDX-License-Identifier: Apache-2.0
// Dense arithmetic of one front of a supernodal Cholesky factorisation, on the layout of front_layout.h.
//
//   [ A11      ]   [ L11   ] [ L11ᵀ L21ᵀ ]        A11 = L11 L11ᵀ        L21 = A21 L11⁻ᵀ        update = -L21 L21ᵀ
//   [ A21  A22 ] = [ L21 I ] [       S   ]
//
// `parallel` lets the work be shared among threads; the bits of the result do not depend on it.
#pragma once

#include "supple/math/sparse/front_layout.h"

namespace supple {

/// Overwrites the panel [A11; A21] by [L11; L21]. Returns the first column whose pivot is not above smallest_pivots
/// (one for each column), or -1 when there is none.
std::int64_t factor_panel(double* panel, const PanelShape& shape, const double* smallest_pivots, bool parallel);

/// update = -L21 L21ᵀ, whatever it held before.
void form_update(const double* panel, const PanelShape& shape, double* update, bool parallel);

/// Right-hand sides side by side: element (row, i) of `stripe` of them is at row·stripe + i.
/// Solves L11 Y = X in place for the first k rows x, then adds -L21 Y into `below` (u rows, padded to whole stripes).
void forward_many(const double* panel, const PanelShape& shape, double* x, double* below);
/// Solves L11ᵀ Y = X - L21ᵀ `below` in place for the first k rows x. Padding rows of `below` must be zero.
void backward_many(const double* panel, const PanelShape& shape, double* x, const double* below);

/// Does what forward_many() does, for one right-hand side.
void forward_one(const double* panel, const PanelShape& shape, double* x, double* below);
/// Does what backward_many() does, for one right-hand side. `sums` is scratch for stripe_lanes·k numbers.
void backward_one(const double* panel, const PanelShape& shape, double* x, const double* below, double* sums);

}  // namespace supple
