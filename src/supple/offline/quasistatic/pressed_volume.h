// SPDX-License-Identifier: Apache-2.0
// The preconditioner of the volume, which knows of contact: the incomplete Cholesky factor of the reference pose with
// the boundary eliminated last,
//
//   K ≈ [ L_ii      ] [ 1    ] [ L_iiᵀ  L_biᵀ ]      T = K_bb − L_bi L_biᵀ  where K has blocks,
//       [ L_bi   1  ] [    T ] [           1  ]
//
// so that contact springs, which hold the boundary alone, change T and nothing else: it is factored anew with those
// that push (pressed_factor.h), a fourth of the rows, while L_ii and L_bi stay for good.
#pragma once

#include "supple/offline/quasistatic/pressed_factor.h"

namespace supple {

class PressedVolume {
 public:
  PressedVolume() = default;
  /// `body` in its reference pose, `interior`: the factor of its interior.
  PressedVolume(const ExRotatedBody& body, BlockIncompleteCholesky interior);

  /// As PressedFactor::press: factors what is changed by these springs.
  void press(std::span<const ContactSpring> springs, std::span<const Eigen::Matrix3f> turn) {
    boundary_.press(springs, turn);
  }
  void forget() { boundary_.forget(); }
  Index rows() const { return static_cast<Index>(rows_.size()); }
  /// The body's number of each row of `y` in solve().
  const std::vector<Index>& order() const { return rows_; }
  /// y ← M⁻¹ y, three numbers for each row.
  void solve(float* y);

 private:
  void eliminate_interior(const ExRotatedBody& body);
  BlockMatrix remainder(const ExRotatedBody& body) const;

  BlockIncompleteCholesky interior_;
  std::vector<Index> rows_;
  std::vector<Index> row_begin_, column_;   ///< of L_bi: places in the interior's order, ascending
  std::vector<float> block_;                ///< likewise, column-major
  std::vector<Index> column_begin_, from_;  ///< of L_biᵀ: for each place of the interior which blocks, …
  std::vector<Index> row_of_;               ///< … and the row of each block
  PressedFactor boundary_;
  std::vector<float> ordered_;
};

}  // namespace supple
