// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/quasistatic/pressed_factor.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace supple {

std::array<Index, 4> PressedFactor::rows_of(const ContactSpring& spring) const {
  std::array<Index, 4> rows{-1, -1, -1, -1};
  for (std::size_t k = 0; k < 4; ++k)
    if (spring.vertex[k] >= first_ && spring.vertex[k] - first_ < A_.rows()) rows[k] = spring.vertex[k] - first_;
  return rows;
}

/// A with zeros wherever a spring couples two vertices.
BlockMatrix PressedFactor::with_room_for(std::span<const ContactSpring> springs) const {
  const BlockPattern& old = A_.pattern();
  std::vector<std::vector<Index>> coupled(to_size(A_.rows()));
  for (const ContactSpring& spring : springs)
    for (const Index row : rows_of(spring))
      for (const Index column : rows_of(spring))
        if (row >= 0 && column >= 0) coupled[to_size(row)].push_back(column);
  auto pattern = std::make_shared<BlockPattern>();
  pattern->row_begin.push_back(0);
  for (Index row = 0; row < A_.rows(); ++row) {
    std::vector<Index>& columns = coupled[to_size(row)];
    columns.insert(columns.end(), old.column.begin() + old.row_begin[to_size(row)],
                   old.column.begin() + old.row_begin[to_size(row) + 1]);
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    pattern->column.insert(pattern->column.end(), columns.begin(), columns.end());
    pattern->row_begin.push_back(static_cast<Index>(pattern->column.size()));
  }
  BlockMatrix result(pattern);
  for (Index row = 0; row < A_.rows(); ++row) {
    Index place = pattern->row_begin[to_size(row)];
    for (Index k = old.row_begin[to_size(row)]; k < old.row_begin[to_size(row) + 1]; ++k) {
      while (pattern->column[to_size(place)] != old.column[to_size(k)]) ++place;
      std::copy_n(A_.block(k), BlockMatrix::block_size, result.block(place));
    }
  }
  return result;
}

void PressedFactor::press(std::span<const ContactSpring> springs, std::span<const Eigen::Matrix3f> turn) {
  std::vector<double> told;
  for (const ContactSpring& spring : springs)
    told.insert(told.end(), {static_cast<double>(spring.key), static_cast<double>(spring.place), spring.stiffness,
                             spring.pushes, std::ceil(spring.grips)});
  if (factor_.rows() > 0 && told == told_) return;
  told_ = std::move(told);
  BlockMatrix pressed = with_room_for(springs);
  for (const ContactSpring& spring : springs) {
    const std::array<Index, 4> rows = rows_of(spring);
    const Mat3 resistance = spring.resistance();
    std::array<Mat3, 4> weighted_turn;
    for (std::size_t k = 0; k < 4; ++k)
      if (rows[k] >= 0) weighted_turn[k] = spring.weight[k] * turn[to_size(spring.vertex[k])].cast<double>();
    for (std::size_t a = 0; a < 4; ++a)
      for (std::size_t b = 0; b < 4; ++b)
        if (rows[a] >= 0 && rows[b] >= 0)
          pressed.block_at(rows[a], rows[b]) += weighted_turn[a].transpose() * resistance * weighted_turn[b];
  }
  std::vector<Index> all(to_size(pressed.rows()));
  std::iota(all.begin(), all.end(), 0);
  factor_ = BlockIncompleteCholesky(pressed, slab_order(pressed.pattern(), all, points_));
}

}  // namespace supple
