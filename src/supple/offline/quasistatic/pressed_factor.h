// SPDX-License-Identifier: Apache-2.0
// Preconditioners that know of contact. Springs are ten times as stiff as what holds a vertex, and conjugate gradients
// whose preconditioner doesn't know them take an iteration or more for each of them. They are added to the matrix of
// the reference pose, turned back by the rotations of their vertices,
//   A_ab + Σ w_a w_b R_aᵀ H R_b,   H = k n nᵀ, and what friction resists with,
// whose incomplete Cholesky factor then stands before the system, turned as any other (2014 paper, Eq. 14).
#pragma once

#include "supple/math/sparse/block_incomplete_cholesky.h"
#include "supple/offline/quasistatic/contact_spring.h"
#include "supple/offline/quasistatic/exrotated_body.h"

namespace supple {

class PressedFactor {
 public:
  PressedFactor() = default;
  /// `A`: of the reference pose, with the body's number `first` as its row 0. `points`: of its rows, at rest.
  PressedFactor(BlockMatrix A, Index first, std::span<const Vec3> points)
      : A_(std::move(A)), first_(first), points_(points.begin(), points.end()) {}

  /// Factors anew where the springs aren't those of the last time. `turn`: of each of the body's vertices.
  void press(std::span<const ContactSpring> springs, std::span<const Eigen::Matrix3f> turn);
  const BlockIncompleteCholesky& factor() const { return factor_; }
  /// In another pose the same springs make another matrix.
  void forget() {
    if (!told_.empty()) factor_ = {};
  }

 private:
  /// Rows of what a spring holds; −1: none of ours.
  std::array<Index, 4> rows_of(const ContactSpring& spring) const;
  BlockMatrix with_room_for(std::span<const ContactSpring> springs) const;

  BlockMatrix A_;
  Index first_ = 0;
  std::vector<Vec3> points_;
  BlockIncompleteCholesky factor_;
  std::vector<double> told_;  ///< of the springs of the last time
};

}  // namespace supple
