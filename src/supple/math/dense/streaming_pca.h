// SPDX-License-Identifier: Apache-2.0
// Principal directions of vectors that come one after another and don't fit into memory together.
//
// A block of vectors X joins the directions found so far, C = [U Σ  X]. The eigenvectors V of CᵀC give the new ones,
// U Σ ← C V, of which the weak are dropped (M. Brand, Incremental Singular Value Decomposition of Uncertain Data with
// Missing Values, 2002, with the Gram matrix in place of a QR). One block: the ordinary, exact decomposition. Vectors
// are not centred. Kept in single precision; sums are taken in double, in an order that no thread count changes.
#pragma once

#include "supple/base/types.h"

#include <span>
#include <vector>

namespace supple {

class StreamingPca {
 public:
  /// Directions with singular values up to `cutoff` are dropped, and all beyond the first `most`. `block`: how many
  /// vectors are gathered before they join. Memory: 4 bytes · dimension · (most + block).
  StreamingPca(Index dimension, Index most, Index block, double cutoff);

  void add(std::span<const float> vector);
  /// Has to be called after the last vector; directions are known from then on.
  void finish();

  Index direction_count() const { return kept_; }
  /// Unit columns, strongest first. Valid after finish().
  const Eigen::MatrixXf& directions() const { return columns_; }
  const std::vector<double>& singular_values() const { return singular_values_; }

 private:
  void join_block();
  MatX gram(Index count) const;
  void combine(const MatX& mix);

  Index most_, block_, kept_ = 0, used_ = 0;
  double cutoff_;
  Eigen::MatrixXf columns_;
  std::vector<double> singular_values_;
};

}  // namespace supple
