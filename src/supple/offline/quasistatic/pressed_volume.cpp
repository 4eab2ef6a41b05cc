// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/quasistatic/pressed_volume.h"

#include "supple/base/parallel.h"

#include <algorithm>

namespace supple {
namespace {

constexpr std::int64_t row_grain = 256;
using BlockF = Eigen::Map<const Eigen::Matrix3f>;
using VectorF = Eigen::Map<Eigen::Vector3f>;

/// Σ A_k B_kᵀ over the columns that two sparse rows share, up to the lengths given.
Mat3 shared_product(std::span<const Index> a, const float* a_block, std::span<const Index> b, const float* b_block) {
  Mat3 sum = Mat3::Zero();
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] == b[j]) {
      sum += BlockF(a_block + 9 * i).cast<double>() * BlockF(b_block + 9 * j).cast<double>().transpose();
      ++i, ++j;
    } else if (a[i] < b[j]) {
      ++i;
    } else {
      ++j;
    }
  }
  return sum;
}

}  // namespace

PressedVolume::PressedVolume(const ExRotatedBody& body, BlockIncompleteCholesky interior)
    : interior_(std::move(interior)), rows_(interior_.order().rows) {
  const auto [begin, end] = body.boundary();
  for (Index v = begin; v < end; ++v) rows_.push_back(v);
  eliminate_interior(body);
  boundary_ =
      PressedFactor(remainder(body), begin, std::span(body.rest()).subspan(to_size(begin), to_size(end - begin)));
  ordered_.resize(3 * to_size(end - begin));
}

/// L_bj = (K_bj − Σ_k L_bk L_jkᵀ) L_jj⁻ᵀ over those k < j where both have blocks.
void PressedVolume::eliminate_interior(const ExRotatedBody& body) {
  const BlockPattern& pattern = body.stiffness().pattern();
  const auto [begin, end] = body.boundary();
  std::vector<Index> place(to_size(begin));
  for (Index i = 0; i < begin; ++i) place[to_size(interior_.order().rows[to_size(i)])] = i;
  std::vector<Index> position;  // in K
  row_begin_.assign(1, 0);
  for (Index b = begin; b < end; ++b) {
    std::vector<std::pair<Index, Index>> entries;
    for (Index k = pattern.row_begin[to_size(b)]; k < pattern.row_begin[to_size(b) + 1]; ++k)
      if (pattern.column[to_size(k)] < begin) entries.emplace_back(place[to_size(pattern.column[to_size(k)])], k);
    std::sort(entries.begin(), entries.end());
    for (const auto& [column, k] : entries) {
      column_.push_back(column);
      position.push_back(k);
      row_of_.push_back(b - begin);
    }
    row_begin_.push_back(static_cast<Index>(column_.size()));
  }
  block_.resize(9 * column_.size());
  parallel_for(end - begin, row_grain, [&](std::int64_t row) {
    const auto first = to_size(row_begin_[to_size(row)]), last = to_size(row_begin_[to_size(row) + 1]);
    for (std::size_t k = first; k < last; ++k) {
      const Index j = column_[k];
      const std::span<const Index> above = interior_.columns(j);
      Mat3 sum = Eigen::Map<const Mat3>(body.stiffness().block(position[k]));
      if (!above.empty())
        sum -= shared_product(std::span(column_).subspan(first, k - first), &block_[9 * first], above,
                              interior_.block(j, 0));
      Eigen::Map<Eigen::Matrix3f> own(block_.data() + 9 * k);
      own = (sum * BlockF(interior_.inverse_diagonal(j)).cast<double>().transpose()).cast<float>();
    }
  });
  column_begin_.assign(to_size(begin) + 1, 0);
  for (const Index column : column_) ++column_begin_[to_size(column) + 1];
  for (std::size_t i = 1; i < column_begin_.size(); ++i) column_begin_[i] += column_begin_[i - 1];
  from_.resize(column_.size());
  std::vector<Index> next(column_begin_.begin(), column_begin_.end() - 1);
  for (std::size_t k = 0; k < column_.size(); ++k) from_[to_size(next[to_size(column_[k])]++)] = static_cast<Index>(k);
}

/// T, with the pattern of K_bb.
BlockMatrix PressedVolume::remainder(const ExRotatedBody& body) const {
  const BlockPattern& pattern = body.stiffness().pattern();
  const auto [begin, end] = body.boundary();
  auto own = std::make_shared<BlockPattern>();
  std::vector<Index> position;
  own->row_begin.assign(1, 0);
  for (Index b = begin; b < end; ++b) {
    for (Index k = pattern.row_begin[to_size(b)]; k < pattern.row_begin[to_size(b) + 1]; ++k) {
      const Index column = pattern.column[to_size(k)];
      if (column < begin || column >= end) continue;
      own->column.push_back(column - begin);
      position.push_back(k);
    }
    own->row_begin.push_back(static_cast<Index>(own->column.size()));
  }
  BlockMatrix T(own);
  const auto columns_of = [&](Index row) {
    return std::span(column_).subspan(to_size(row_begin_[to_size(row)]),
                                      to_size(row_begin_[to_size(row) + 1] - row_begin_[to_size(row)]));
  };
  parallel_for(end - begin, row_grain, [&](std::int64_t i) {
    const auto row = static_cast<Index>(i);
    for (Index k = own->row_begin[to_size(row)]; k < own->row_begin[to_size(row) + 1]; ++k) {
      const Index other = own->column[to_size(k)];
      Eigen::Map<Mat3> block(T.block(k));
      block = Eigen::Map<const Mat3>(body.stiffness().block(position[to_size(k)]));
      const std::span<const Index> a = columns_of(row), b = columns_of(other);
      if (a.empty() || b.empty()) continue;
      block -= shared_product(a, &block_[9 * to_size(row_begin_[to_size(row)])], b,
                              &block_[9 * to_size(row_begin_[to_size(other)])]);
    }
  });
  return T;
}

void PressedVolume::solve(float* y) {
  const auto inside = std::ssize(column_begin_) - 1, outside = std::ssize(row_begin_) - 1;
  float* b = y + 3 * inside;
  interior_.forward(y);
  parallel_for(outside, row_grain, [&](std::int64_t row) {
    VectorF own(b + 3 * row);
    for (Index k = row_begin_[to_size(row)]; k < row_begin_[to_size(row) + 1]; ++k)
      own.noalias() -= BlockF(&block_[9 * to_size(k)]) * VectorF(y + 3 * to_size(column_[to_size(k)]));
  });
  const std::vector<Index>& order = boundary_.factor().order().rows;
  for (std::size_t i = 0; i < order.size(); ++i) std::copy_n(b + 3 * to_size(order[i]), 3, &ordered_[3 * i]);
  boundary_.factor().solve(ordered_.data());
  for (std::size_t i = 0; i < order.size(); ++i) std::copy_n(&ordered_[3 * i], 3, b + 3 * to_size(order[i]));
  parallel_for(inside, row_grain, [&](std::int64_t i) {
    VectorF own(y + 3 * i);
    for (Index k = column_begin_[to_size(i)]; k < column_begin_[to_size(i) + 1]; ++k) {
      const auto from = to_size(from_[to_size(k)]);
      own.noalias() -= BlockF(&block_[9 * from]).transpose() * VectorF(b + 3 * to_size(row_of_[from]));
    }
  });
  interior_.backward(y);
}

}  // namespace supple
