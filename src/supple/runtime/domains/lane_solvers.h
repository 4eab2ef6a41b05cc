// SPDX-License-Identifier: Apache-2.0
// Small symmetric systems of four domains at once, by pairs (row b holds A(b, 0 … b)), and what moves an inertia from
// one frame to another.
#pragma once

#include "supple/runtime/domains/body_terms.h"

namespace supple::domains {

/// y = A x for a symmetric matrix by pairs.
inline void multiply_pairs(const Pack4* pairs, int r, const Pack4* x, Pack4* y) {
  for (int b = 0; b < r; ++b) {
    Pack4 sum(0.0);
    for (int a = 0; a < b; ++a) {
      sum += pairs[a] * x[a];
      y[a] += pairs[a] * x[b];
    }
    y[b] = sum + pairs[b] * x[b];
    pairs += b + 1;
  }
}

/// L Lᵀ = A by pairs, in place, with inverse pivots. A pivot that is not positive, as when a part is crushed, is kept
/// at a small part of the mass.
inline void factorize_pairs(Pack4* A, int r, const double* mass, Pack4 mass_scale) {
  for (int b = 0; b < r; ++b) {
    Pack4* row = A + b * (b + 1) / 2;
    for (int a = 0; a <= b; ++a) {
      const Pack4* above = A + a * (a + 1) / 2;
      Pack4 sum = row[a];
      for (int k = 0; k < a; ++k) sum -= row[k] * above[k];
      if (a < b) {
        row[a] = sum * above[a];
      } else {
        const Pack4 least = mass_scale * Pack4(1e-3 * mass[b * (b + 1) / 2 + b]);
        row[b] = Pack4(1.0) / sqrt(select(sum > least, sum, least));
      }
    }
  }
}

/// x ← L⁻¹ x for `columns` right-hand sides side by side.
template <int columns>
void solve_lower(const Pack4* L, int r, Pack4* x) {
  for (int b = 0; b < r; ++b) {
    const Pack4* row = L + b * (b + 1) / 2;
    Pack4 sum[columns];
    for (int c = 0; c < columns; ++c) sum[c] = x[b * columns + c];
    for (int k = 0; k < b; ++k)
      for (int c = 0; c < columns; ++c) sum[c] -= row[k] * x[k * columns + c];
    for (int c = 0; c < columns; ++c) x[b * columns + c] = sum[c] * row[b];
  }
}

/// x ← L⁻ᵀ x for `columns` right-hand sides side by side.
template <int columns>
void solve_upper(const Pack4* L, int r, Pack4* x) {
  for (int b = r - 1; b >= 0; --b) {
    const Pack4* row = L + b * (b + 1) / 2;
    Pack4 known[columns];
    for (int c = 0; c < columns; ++c) x[b * columns + c] = known[c] = x[b * columns + c] * row[b];
    for (int k = 0; k < b; ++k)
      for (int c = 0; c < columns; ++c) x[k * columns + c] -= row[k] * known[c];
  }
}

/// 21 numbers of a symmetric 6×6 matrix: block of force, mixed block, block of torque.
inline void pack_inertia(const LaneInertia& I, Pack4 (&out)[21]) {
  int k = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j) out[k++] = I.force(i, j);
  for (int i = 0; i < 9; ++i) out[k++] = I.mixed.m[i];
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j) out[k++] = I.torque(i, j);
}

inline LaneInertia unpack_inertia(const Pack4 (&in)[21]) {
  LaneInertia I;
  int k = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j) I.force(j, i) = I.force(i, j) = in[k++];
  for (int i = 0; i < 9; ++i) I.mixed.m[i] = in[k++];
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j) I.torque(j, i) = I.torque(i, j) = in[k++];
  return I;
}

/// The same inertia in the axes of the parent: R B Rᵀ of each block.
inline LaneInertia turned(const LaneInertia& I, const LaneMatrix& R) {
  const LaneMatrix Rt = R.transposed();
  return {R * I.force * Rt, R * I.mixed * Rt, R * I.torque * Rt};
}

/// Xᵀ I X for the shift of the origin by −x: a ↦ a + α × x.
inline LaneInertia shifted(const LaneInertia& I, const LaneVector& x) {
  const LaneMatrix cross_x = LaneMatrix::cross_with(x);  // α × x = −x̃ α
  const LaneMatrix mixed = I.mixed - I.force * cross_x;
  const LaneMatrix torque = I.torque + cross_x * I.mixed - (I.mixed.transposed() + cross_x * I.force) * cross_x;
  return {I.force, mixed, torque};
}

/// A subtree's mass in one point at `r` of its frame, which turns with `omega`.
inline void lump(Pack4 mass, const LaneVector& r, const LaneVector& omega, LaneInertia& I, LaneVector& force,
                 LaneVector& torque) {
  const Pack4 zero(0.0);
  I.force = {{mass, zero, zero, zero, mass, zero, zero, zero, mass}};
  I.mixed = (zero - mass) * LaneMatrix::cross_with(r);
  I.torque = (zero - mass) * (LaneMatrix::cross_with(r) * LaneMatrix::cross_with(r));
  force = mass * cross(omega, cross(omega, r));
  torque = cross(r, force);
}

/// I ← I − YᵀY and p ← p + Yᵀy with Y = L⁻¹ M_qf and y = L⁻¹ rhs: coordinates are eliminated.
inline void eliminate(const Pack4* Y, const Pack4* y, int r, Pack4 (&inertia)[21], Pack4 (&wrench)[6]) {
  static constexpr int first[21] = {0, 0, 0, 1, 1, 2, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5};
  static constexpr int second[21] = {0, 1, 2, 1, 2, 2, 3, 4, 5, 3, 4, 5, 3, 4, 5, 3, 4, 5, 4, 5, 5};
  for (int l = 0; l < r; ++l, Y += 6) {
    for (int k = 0; k < 21; ++k) inertia[k] -= Y[first[k]] * Y[second[k]];
    for (int k = 0; k < 6; ++k) wrench[k] += Y[k] * y[l];
  }
}

}  // namespace supple::domains
