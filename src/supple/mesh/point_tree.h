// SPDX-License-Identifier: Apache-2.0
// PointTree: which points of a fixed set are nearest? A balanced k-d tree; asking is safe from many threads.
#pragma once

#include "supple/base/types.h"

#include <span>
#include <vector>

namespace supple {

class PointTree {
 public:
  struct Neighbour {
    Index point = -1;
    double distance = 0;
  };

  explicit PointTree(std::span<const Vec3> points);

  /// The k nearest, nearest first, fewer if there are fewer points; equal distances by lower index.
  std::vector<Neighbour> nearest(const Vec3& place, int k) const;

 private:
  void build(std::size_t begin, std::size_t end);
  void search(std::size_t begin, std::size_t end, const Vec3& place, std::size_t k,
              std::vector<Neighbour>& found) const;

  std::vector<Vec3> points_;  ///< in tree order: the median of a range splits it
  std::vector<Index> index_;
  std::vector<std::uint8_t> axis_;  ///< along which the range around this median is split
};

}  // namespace supple
