// SPDX-License-Identifier: Apache-2.0
// A tree of boxes over the tetrahedra of a body that deforms: which of them contain a point? The tree is made once of
// the shape at rest; refit() brings its boxes to where the vertices are now. Asking is safe from many threads.
#pragma once

#include "supple/base/parallel.h"
#include "supple/mesh/bounds.h"
#include "supple/mesh/volume_mesh.h"

namespace supple {

class TetTree {
 public:
  using Element = TetMesh::Element;

  TetTree(std::vector<Element> elements, std::span<const Vec3> rest);

  /// Positions of all vertices, stacked.
  void refit(const VecX& x);

  const std::vector<Element>& elements() const { return elements_; }

  /// Calls visit(element) for tetrahedra whose boxes contain the point.
  template <class Visit>
  void near(const Vec3& point, const Visit& visit) const {
    Index open[64];
    int count = 0;
    if (!nodes_.empty()) open[count++] = 0;
    while (count > 0) {
      const Node& node = nodes_[to_size(open[--count])];
      if ((point.array() < node.bounds.min.array()).any() || (point.array() > node.bounds.max.array()).any()) continue;
      if (node.left < 0) {
        for (Index k = node.first; k < node.first + node.count; ++k) visit(order_[to_size(k)]);
      } else {
        open[count++] = node.left;
        open[count++] = node.left + 1;
      }
    }
  }

 private:
  struct Node {
    Bounds bounds;
    Index left = -1;  ///< −1: a leaf; the other child comes next to it
    Index first = 0, count = 0;
  };
  void split(Index node, std::span<const Vec3> centres);

  std::vector<Element> elements_;
  std::vector<Index> order_;  ///< elements in the order of leaves
  std::vector<Node> nodes_;   ///< children after their parents
  std::vector<Index> leaves_;
};

/// Barycentric coordinates of a point in a tetrahedron. Not numbers where it is flat.
Eigen::Vector4d barycentric_in(const std::array<Vec3, 4>& tet, const Vec3& point);

}  // namespace supple
