// SPDX-License-Identifier: Apache-2.0
#include "supple/mesh/tet_tree.h"

#include <Eigen/LU>

#include <algorithm>
#include <numeric>

namespace supple {
namespace {

constexpr Index tets_per_leaf = 4;

}  // namespace

TetTree::TetTree(std::vector<Element> elements, std::span<const Vec3> rest) : elements_(std::move(elements)) {
  if (elements_.empty()) return;
  std::vector<Vec3> centres;
  for (const Element& element : elements_) {
    Vec3 sum = Vec3::Zero();
    for (const Index v : element) sum += rest[to_size(v)];
    centres.push_back(sum / 4);
  }
  order_.resize(elements_.size());
  std::iota(order_.begin(), order_.end(), 0);
  nodes_.push_back({});
  nodes_[0].count = static_cast<Index>(elements_.size());
  for (Index node = 0; node < std::ssize(nodes_); ++node) {
    if (nodes_[to_size(node)].count > tets_per_leaf)
      split(node, centres);
    else
      leaves_.push_back(node);
  }
}

void TetTree::split(Index node, std::span<const Vec3> centres) {
  const Index first = nodes_[to_size(node)].first, count = nodes_[to_size(node)].count;
  const auto begin = order_.begin() + first;
  Bounds box;
  for (auto k = begin; k != begin + count; ++k) box.add(centres[to_size(*k)]);
  int axis = 0;
  box.size().maxCoeff(&axis);
  const Index half = count / 2;
  std::nth_element(begin, begin + half, begin + count, [&](Index a, Index b) {
    const double x = centres[to_size(a)][axis], y = centres[to_size(b)][axis];
    return x != y ? x < y : a < b;
  });
  nodes_[to_size(node)].left = static_cast<Index>(nodes_.size());
  nodes_.push_back({});
  nodes_.back().first = first;
  nodes_.back().count = half;
  nodes_.push_back({});
  nodes_.back().first = first + half;
  nodes_.back().count = count - half;
}

void TetTree::refit(const VecX& x) {
  parallel_for(std::ssize(leaves_), 1024, [&](std::int64_t i) {
    Node& node = nodes_[to_size(leaves_[to_size(i)])];
    node.bounds = {};
    for (Index k = node.first; k < node.first + node.count; ++k)
      for (const Index v : elements_[to_size(order_[to_size(k)])]) node.bounds.add(x.segment<3>(3 * Eigen::Index{v}));
  });
  for (std::size_t k = nodes_.size(); k-- > 0;) {
    Node& node = nodes_[k];
    if (node.left < 0) continue;
    const Bounds &a = nodes_[to_size(node.left)].bounds, &b = nodes_[to_size(node.left) + 1].bounds;
    node.bounds.min = a.min.cwiseMin(b.min);
    node.bounds.max = a.max.cwiseMax(b.max);
  }
}

Eigen::Vector4d barycentric_in(const std::array<Vec3, 4>& tet, const Vec3& point) {
  Mat3 edges;
  for (int k = 0; k < 3; ++k) edges.col(k) = tet[to_size(k) + 1] - tet[0];
  const Vec3 w = edges.inverse() * (point - tet[0]);
  return {1 - w.sum(), w[0], w[1], w[2]};
}

}  // namespace supple
