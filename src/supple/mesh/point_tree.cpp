// SPDX-License-Identifier: Apache-2.0
#include "supple/mesh/point_tree.h"

#include "supple/mesh/bounds.h"

#include <algorithm>
#include <numeric>

namespace supple {
namespace {

bool nearer(const PointTree::Neighbour& a, const PointTree::Neighbour& b) {
  return a.distance < b.distance || (a.distance == b.distance && a.point < b.point);
}

}  // namespace

PointTree::PointTree(std::span<const Vec3> points)
    : points_(points.begin(), points.end()), index_(points.size()), axis_(points.size(), 0) {
  std::iota(index_.begin(), index_.end(), 0);
  build(0, points_.size());
  for (std::size_t k = 0; k < index_.size(); ++k) points_[k] = points[to_size(index_[k])];
}

void PointTree::build(std::size_t begin, std::size_t end) {
  if (end - begin < 2) return;
  Bounds bounds;
  for (std::size_t k = begin; k < end; ++k) bounds.add(points_[to_size(index_[k])]);
  int axis = 0;
  (bounds.max - bounds.min).maxCoeff(&axis);
  const std::size_t middle = begin + (end - begin) / 2;
  std::nth_element(index_.begin() + static_cast<std::ptrdiff_t>(begin),
                   index_.begin() + static_cast<std::ptrdiff_t>(middle),
                   index_.begin() + static_cast<std::ptrdiff_t>(end), [&](Index a, Index b) {
                     const double left = points_[to_size(a)][axis];
                     const double right = points_[to_size(b)][axis];
                     return left < right || (left == right && a < b);
                   });
  axis_[middle] = static_cast<std::uint8_t>(axis);
  build(begin, middle);
  build(middle + 1, end);
}

void PointTree::search(std::size_t begin, std::size_t end, const Vec3& place, std::size_t k,
                       std::vector<Neighbour>& found) const {
  if (begin == end) return;
  const std::size_t middle = begin + (end - begin) / 2;
  const Neighbour candidate{index_[middle], (points_[middle] - place).norm()};
  if (found.size() < k || nearer(candidate, found.back())) {
    found.insert(std::upper_bound(found.begin(), found.end(), candidate, nearer), candidate);
    if (found.size() > k) found.pop_back();
  }
  if (end - begin == 1) return;
  const double offset = place[axis_[middle]] - points_[middle][axis_[middle]];
  const bool left_first = offset < 0;
  if (left_first) {
    search(begin, middle, place, k, found);
  } else {
    search(middle + 1, end, place, k, found);
  }
  if (found.size() == k && std::abs(offset) > found.back().distance) return;
  if (left_first) {
    search(middle + 1, end, place, k, found);
  } else {
    search(begin, middle, place, k, found);
  }
}

std::vector<PointTree::Neighbour> PointTree::nearest(const Vec3& place, int k) const {
  std::vector<Neighbour> found;
  found.reserve(to_size(k) + 1);
  search(0, points_.size(), place, to_size(k), found);
  return found;
}

}  // namespace supple
