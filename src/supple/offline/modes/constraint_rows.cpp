// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/modes/constraint_rows.h"

#include "supple/math/dense/decompositions.h"
#include "supple/mesh/disjoint_sets.h"

#include <algorithm>
#include <map>

namespace supple {
namespace {

constexpr double redundant = 1e-6;

/// Rows that share unknowns, directly or through others, by the smallest of those unknowns.
std::map<Index, std::vector<Index>> gathered(const SparseConstraints& B, double negligible) {
  DisjointSets sets(to_size(B.cols()));
  std::vector<std::pair<Index, Index>> row_and_unknown;
  for (Index r = 0; r < B.rows(); ++r) {
    Index first = -1;
    if (!(B.row(r).norm() > negligible)) continue;
    for (SparseConstraints::InnerIterator it(B, r); it; ++it) {
      if (it.value() == 0) continue;
      const auto column = static_cast<Index>(it.col());
      if (first < 0) first = column;
      sets.unite(first, column);
    }
    row_and_unknown.emplace_back(r, first);
  }
  std::map<Index, std::vector<Index>> result;
  for (const auto& [row, unknown] : row_and_unknown) result[sets.find(unknown)].push_back(row);
  return result;
}

ConstraintBlock make_block(const SparseConstraints& B, const std::vector<Index>& members) {
  ConstraintBlock block;
  for (const Index r : members)
    for (SparseConstraints::InnerIterator it(B, r); it; ++it)
      if (it.value() != 0) block.columns.push_back(static_cast<Index>(it.col()));
  std::sort(block.columns.begin(), block.columns.end());
  block.columns.erase(std::unique(block.columns.begin(), block.columns.end()), block.columns.end());
  MatX transposed = MatX::Zero(std::ssize(block.columns), std::ssize(members));
  for (std::size_t k = 0; k < members.size(); ++k) {
    const double length = B.row(members[k]).norm();
    for (SparseConstraints::InnerIterator it(B, members[k]); it; ++it) {
      if (it.value() == 0) continue;
      const auto place = std::lower_bound(block.columns.begin(), block.columns.end(), static_cast<Index>(it.col()));
      transposed(place - block.columns.begin(), static_cast<Eigen::Index>(k)) = it.value() / length;
    }
  }
  IndependentColumns independent = independent_columns(transposed, redundant);
  block.rows.resize(std::ssize(independent.kept), transposed.rows());
  for (std::size_t k = 0; k < independent.kept.size(); ++k)
    block.rows.row(static_cast<Eigen::Index>(k)) = transposed.col(independent.kept[k]);
  block.basis = std::move(independent.basis);
  return block;
}

}  // namespace

ConstraintRows::ConstraintRows(const SparseConstraints& B, double negligible) : size_(B.cols()) {
  for (const auto& [unknown, members] : gathered(B, negligible)) {
    blocks_.push_back(make_block(B, members));
    count_ += static_cast<Index>(blocks_.back().rows.rows());
  }
  removed_ = static_cast<Index>(B.rows()) - count_;
}

VecX ConstraintRows::multiply(Eigen::Ref<const VecX> y) const {
  VecX result(count_);
  Eigen::Index begin = 0;
  for (const ConstraintBlock& block : blocks_) {
    const VecX part = y(block.columns);
    result.segment(begin, block.basis.cols()).noalias() = block.basis.transpose() * part;
    begin += block.basis.cols();
  }
  return result;
}

void ConstraintRows::project(Eigen::Ref<VecX> y) const {
  for (const ConstraintBlock& block : blocks_) {
    const VecX part = y(block.columns);
    y(block.columns) = part - block.basis * (block.basis.transpose() * part);
  }
}

MatX ConstraintRows::basis() const {
  MatX result = MatX::Zero(size_, count_);
  Eigen::Index begin = 0;
  for (const ConstraintBlock& block : blocks_) {
    result(block.columns, Eigen::seqN(begin, block.basis.cols())) = block.basis;
    begin += block.basis.cols();
  }
  return result;
}

}  // namespace supple
