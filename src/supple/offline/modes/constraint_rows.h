// SPDX-License-Identifier: Apache-2.0
// Linear constraints B y = 0, made independent: what every solver under constraints starts from.
//
// Rows are scaled to unit length, gathered into blocks that share no unknown (contacts at the left and at the right
// armpit), and each block goes through a QR factorisation with row pivoting. Rows whose pivot is below 1e-6 say nothing
// new and are removed (2016 paper, section 6). Each block then keeps its remaining rows and an orthonormal basis Q of
// what they span, so that B y = 0 ⇔ Qᵀ y = 0.
#pragma once

#include "supple/base/types.h"

#include <Eigen/SparseCore>

#include <vector>

namespace supple {

/// One row per constraint, one column per degree of freedom.
using SparseConstraints = Eigen::SparseMatrix<double, Eigen::RowMajor>;

struct ConstraintBlock {
  std::vector<Index> columns;  ///< the unknowns that it touches, ascending
  MatX rows;                   ///< independent, of unit length, over those columns
  MatX basis;                  ///< Q: orthonormal columns that span the rows
};

class ConstraintRows {
 public:
  /// `B` must be finite; rows shorter than `negligible` count as empty.
  explicit ConstraintRows(const SparseConstraints& B, double negligible = 0.0);

  Index count() const { return count_; }      ///< of independent rows
  Index removed() const { return removed_; }  ///< of the rows given
  const std::vector<ConstraintBlock>& blocks() const { return blocks_; }

  /// Gives Qᵀ y, block after block.
  VecX multiply(Eigen::Ref<const VecX> y) const;
  /// y ← y − Q Qᵀ y: the nearest point that obeys the constraints; takes out of a force what they can carry.
  void project(Eigen::Ref<VecX> y) const;
  /// Gives Q as one matrix over all unknowns.
  MatX basis() const;

 private:
  Eigen::Index size_;
  Index count_ = 0, removed_ = 0;
  std::vector<ConstraintBlock> blocks_;
};

}  // namespace supple
