// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/contact/surface_query.h"

#include "supple/runtime/contact/triangle_distance.h"

#include <algorithm>

namespace supple {

SurfaceQuery::SurfaceQuery(const BoundedDeformationTree& tree, const SurfaceQueryLimits& limits)
    : tree_(&tree),
      limits_(limits),
      shape_(tree.make_shape()),
      positions_(tree.rest_positions().begin(), tree.rest_positions().end()),
      moved_in_(positions_.size(), 0) {
  // An opened node adds at most a leaf's triangles.
  heap_.reserve(to_size(BoundedDeformationTree::triangles_per_leaf * limits.max_visits + 1));
  found_.reserve(to_size(limits.max_triangles));
}

void SurfaceQuery::set_shape(std::span<const double> q) {
  tree_->assign(q, shape_);
  if (++shape_number_ == 0) {  // after 2³² shapes: forget all of them
    std::fill(moved_in_.begin(), moved_in_.end(), 0u);
    shape_number_ = 1;
  }
}

const Vec3& SurfaceQuery::vertex(Index v) {
  const auto k = to_size(v);
  if (moved_in_[k] != shape_number_) {
    positions_[k] = tree_->position(v, shape_);
    moved_in_[k] = shape_number_;
  }
  return positions_[k];
}

std::array<Vec3, 3> SurfaceQuery::corners(Index triangle) {
  const Triangle& t = tree_->triangles()[to_size(triangle)];
  return {vertex(t[0]), vertex(t[1]), vertex(t[2])};
}

double SurfaceQuery::distance_to(Index triangle, const Vec3& point) {
  const auto [a, b, c] = corners(triangle);
  return (nearest_on_triangle(point, a, b, c) - point).norm();
}

void SurfaceQuery::push(const Candidate& candidate, double distance) {
  if (!(candidate.distance < distance)) return;
  heap_.push_back(candidate);
  std::push_heap(heap_.begin(), heap_.end());
}

void SurfaceQuery::push_node(Index node, const Vec3& point, double distance) {
  const Sphere sphere = tree_->sphere(node, shape_);
  const Vec3 way = (point - sphere.center).cwiseAbs();
  const double to_sphere = way.norm() - sphere.radius;
  if (to_sphere >= distance) return;
  const double to_box = (way - tree_->half_widths(node, shape_)).cwiseMax(0.0).norm();
  push({std::max(to_sphere, to_box), node}, distance);
}

void SurfaceQuery::push_triangle(Index triangle, const Vec3& point, double distance) {
  push({distance_to(triangle, point), ~triangle}, distance);
}

void SurfaceQuery::search(const Vec3& point, double distance, std::size_t max_answers) {
  heap_.clear();
  found_.clear();
  visits_ = 0;
  complete_ = true;
  if (tree_->empty()) return;
  push_node(0, point, distance);
  while (!heap_.empty() && found_.size() < max_answers) {
    std::pop_heap(heap_.begin(), heap_.end());
    const Candidate next = heap_.back();
    heap_.pop_back();
    if (next.index < 0) {
      found_.push_back({~next.index, next.distance});
      continue;
    }
    if (visits_ == limits_.max_visits) {
      complete_ = false;  // triangles that are already in the heap still come out
      continue;
    }
    ++visits_;
    const BoundedDeformationTree::Node& node = tree_->nodes()[to_size(next.index)];
    if (node.is_leaf()) {
      for (Index k = node.first; k < node.first + node.count; ++k)
        push_triangle(tree_->triangle_order()[to_size(k)], point, distance);
    } else {
      push_node(node.first_child, point, distance);
      push_node(node.first_child + 1, point, distance);
    }
  }
}

std::span<const NearTriangle> SurfaceQuery::triangles_within(const Vec3& point, double distance) {
  search(point, distance, to_size(limits_.max_triangles));
  complete_ = complete_ && heap_.empty();
  return found_;
}

NearTriangle SurfaceQuery::nearest(const Vec3& point) {
  search(point, std::numeric_limits<double>::infinity(), 1);
  return found_.empty() ? NearTriangle{} : found_.front();
}

}  // namespace supple
