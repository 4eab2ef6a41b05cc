// SPDX-License-Identifier: Apache-2.0
// The inertia of a part in a moving frame (2011 paper, Eq. 11 to 14), from its precomputed integrals, for four copies.
//
// A point is at p = s (X + U q) in its frame, which has the velocity v, ω and the acceleration a, α, all in its own
// axes. Its acceleration is a + α × p + ω × (ω × p) + 2 ω × ṗ + s U q̈. Integrated over the part with the test fields 1,
// × p and s U this gives
//   force    m a − μ × α + s⁴ F q̈ + h_f             μ = ∫p,  F_l = ∫φ_l
//   torque   μ × a + I α + C q̈ + h_τ                I = tr Σ − Σ,  Σ = ∫p pᵀ,  C_l = ∫p × s φ_l
//   coords   s⁴ Fᵀ a + Cᵀ α + s⁵ M q̈ + h_q
// where all depends on N_l = ∫φ_l (X + U q)ᵀ, and the terms with velocities are
//   h_f = ω × (ω × μ) + 2 ω × μ̇      h_τ = ω × I ω + 2 (tr P − P) ω,  P = ∫ṗ pᵀ
//   h_l = s⁵ (ωᵀ N_l ω − |ω|² tr N_l + 2 ω · ∫U q̇ × φ_l)
#pragma once

#include "supple/runtime/domains/lane_access.h"

namespace supple::domains {

/// A symmetric 6×6 matrix that maps (a, α) of a frame to (force, torque): blocks `force`, `mixed` (force by α; its
/// transpose is torque by a) and `torque`.
struct LaneInertia {
  LaneMatrix force, mixed, torque;
};

struct BodyTerms {
  LaneInertia inertia;
  LaneVector force, torque;      ///< h_f, h_τ
  LaneVector first, first_rate;  ///< μ, μ̇
  LaneMatrix stretch_rate;       ///< P
};

/// What the q and q̇ of a batch cause. For every coordinate: `coupling` gets six numbers, s⁴ F_l and C_l, and `bias`
/// h_l.
inline BodyTerms body_terms(const PreparedPart& part, const Pack4* scales, const Pack4* q, const Pack4* q_dot,
                            const LaneVector& omega, Pack4* coupling, Pack4* bias) {
  const int fields = part.r + 1;
  const Pack4 s3 = scales[PreparedTree::scale3], s4 = scales[PreparedTree::scale4], s5 = scales[PreparedTree::scale5];
  const Pack4 speed2 = dot(omega, omega);
  LaneMatrix Sigma = LaneMatrix::zero(), P = LaneMatrix::zero();
  LaneVector mu = LaneVector::zero(), mu_rate = LaneVector::zero();
  const double* second = part.second.data();
  const double* first = part.first.data();
  const double* twist = part.twist.data();
  for (int l = 0; l < fields; ++l, first += 3) {
    LaneMatrix N;
    for (int k = 0; k < 9; ++k) N.m[k] = Pack4(second[k]);
    second += 9;
    for (int b = 1; b < fields; ++b, second += 9)
      for (int k = 0; k < 9; ++k) N.m[k] += Pack4(second[k]) * q[b - 1];
    const LaneVector F = {Pack4(first[0]), Pack4(first[1]), Pack4(first[2])};
    if (l == 0) {
      Sigma = N;
      mu = F;
      continue;
    }
    for (int k = 0; k < 9; ++k) {
      Sigma.m[k] += N.m[k] * q[l - 1];
      P.m[k] += N.m[k] * q_dot[l - 1];
    }
    mu += q[l - 1] * F;
    mu_rate += q_dot[l - 1] * F;
    LaneVector swirl = LaneVector::zero();
    for (int b = 1; b < fields; ++b, twist += 3) {
      swirl.x += Pack4(twist[0]) * q_dot[b - 1];
      swirl.y += Pack4(twist[1]) * q_dot[b - 1];
      swirl.z += Pack4(twist[2]) * q_dot[b - 1];
    }
    const LaneVector C = twist_of(N);
    Pack4* row = coupling + 6 * (l - 1);
    row[0] = s4 * F.x;
    row[1] = s4 * F.y;
    row[2] = s4 * F.z;
    row[3] = s5 * C.x;
    row[4] = s5 * C.y;
    row[5] = s5 * C.z;
    const Pack4 two(2.0);
    bias[l - 1] = s5 * (dot(omega, N * omega) - speed2 * N.trace() + two * dot(omega, swirl));
  }
  BodyTerms out;
  out.first = s4 * mu;
  out.first_rate = s4 * mu_rate;
  out.stretch_rate = s5 * P;
  LaneMatrix I = (Pack4(0.0) - s5) * Sigma;
  const Pack4 trace = s5 * Sigma.trace();
  for (int i = 0; i < 3; ++i) I(i, i) += trace;
  const Pack4 m = s3 * Pack4(part.mass), zero(0.0);
  out.inertia.force = {{m, zero, zero, zero, m, zero, zero, zero, m}};
  out.inertia.mixed = LaneMatrix::cross_with(LaneVector::zero() - out.first);
  out.inertia.torque = I;
  const Pack4 two(2.0);
  out.force = cross(omega, cross(omega, out.first) + two * out.first_rate);
  const LaneVector stretched = out.stretch_rate.trace() * omega - out.stretch_rate * omega;
  out.torque = cross(omega, I * omega) + two * stretched;
  return out;
}

}  // namespace supple::domains
