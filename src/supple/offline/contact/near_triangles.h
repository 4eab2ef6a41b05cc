// SPDX-License-Identifier: Apache-2.0
// A walk over the triangles near a point, for searches that accept some triangles and not others.
#pragma once

#include "supple/mesh/triangle_tree.h"

namespace supple {

/// Calls visit(place, reach) for triangles whose boxes are nearer to x than `reach`, which `visit` may lower.
template <class Visit>
void visit_near_triangles(const TriangleTree& tree, const Vec3& x, double reach, const Visit& visit) {
  if (tree.empty()) return;
  std::vector<Index> open = {0};
  while (!open.empty()) {
    const TriangleTree::Node& node = tree.nodes()[to_size(open.back())];
    open.pop_back();
    if ((node.bounds.min - x).cwiseMax(x - node.bounds.max).cwiseMax(0.0).norm() >= reach) continue;
    if (!node.leaf()) {
      open.insert(open.end(), {node.left, node.left + 1});
      continue;
    }
    for (Index k = node.first; k < node.first + node.count; ++k) visit(to_size(k), reach);
  }
}

}  // namespace supple
