// SPDX-License-Identifier: Apache-2.0
// Affine motion for players that know translations, rotations and scales only: two nodes, one inside the other.
//
//   A = R S Q      R, Q rotations, S = diag(s): the singular value decomposition, with Q = Vᵀ
//
// The outer node has the translation, R and S, the inner one Q. Where singular values are nearly equal, V is any of
// many, and players turn from one key's to the next: so it is found from the last one by the smallest turns that make
// the columns of A V orthogonal (one-sided Jacobi: M. R. Hestenes, Inversion of matrices by biorthogonalization, 1958).
#pragma once

#include "supple/rig/pose.h"

namespace supple {

struct StretchedMotion {
  Transform outer;               ///< translation, R, S; a scale below zero where the motion mirrors
  Quat turn = Quat::Identity();  ///< Q
};

/// `motion` as [A | t]; `last`: Q of the key before.
StretchedMotion stretched_motion(const Eigen::Matrix<double, 3, 4>& motion, const Quat& last);

}  // namespace supple
