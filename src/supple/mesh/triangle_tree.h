// SPDX-License-Identifier: Apache-2.0
// A tree of boxes over a triangle soup: nearest points and crossings, for any soup.
//
// Triangles are halved at the median of their centres along the longest side of their box until few remain, so that the
// depth is logarithmic whatever the soup looks like. Flat triangles (segments, points) are found like any other by the
// nearest-point search and are never crossed. Building and asking are deterministic; asking is safe from many threads.
#pragma once

#include "supple/mesh/bounds.h"
#include "supple/mesh/surface.h"

#include <limits>

namespace supple {

/// The point of triangle abc nearest to p (Ericson, Real-Time Collision Detection, 5.1.5: by Voronoi regions).
Vec3 nearest_point_of_triangle(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c);

class TriangleTree {
 public:
  /// A box and what is below it: `count` triangles from `first` on if it is a leaf, else the nodes `left`, `left` + 1.
  struct Node {
    Bounds bounds;
    Index left = -1;
    Index first = 0;
    Index count = 0;  ///< of all triangles below
    bool leaf() const { return left < 0; }
  };

  struct Nearest {
    Index triangle = -1;  ///< -1: none within reach
    Index place = -1;     ///< of the triangle in the order of the leaves
    double distance = std::numeric_limits<double>::infinity();
    Vec3 point = Vec3::Zero();
  };

  /// Indices must be in range and coordinates finite.
  explicit TriangleTree(const Surface& surface);

  Nearest nearest(const Vec3& point, double reach = std::numeric_limits<double>::infinity()) const;
  /// The first triangle of the surface of those that are nearest to rounding: points outside of an edge are as near to
  /// both of its triangles, and rounding would choose one.
  Nearest first_nearest(const Vec3& point) const;

  /// Where the open segment p + t (q - p), 0 < t < 1, crosses triangles: all t, ascending. The crossing of a shared
  /// edge may come twice.
  void crossings(const Vec3& p, const Vec3& q, std::vector<double>& out) const;

  const std::vector<Node>& nodes() const { return nodes_; }
  /// Corners of the triangles in the order of the leaves.
  const std::vector<std::array<Vec3, 3>>& corners() const { return corners_; }
  /// Number in the surface of the triangle at a place of that order.
  Index triangle(std::size_t place) const { return order_[place]; }
  /// Twice the area, in the direction from which the triangle at a place runs counter-clockwise.
  Vec3 area_vector(std::size_t place) const;
  bool empty() const { return corners_.empty(); }

 private:
  void split(Index node, const std::vector<Vec3>& centers, const Surface& surface);
  /// Calls visit(place, nearest point, squared distance) for triangles, nearer boxes first. `within`: of boxes whose
  /// squared distance is at most that; visit may make it less.
  template <typename Visit>
  void visit_near(const Vec3& point, const double& within, const Visit& visit) const;

  std::vector<Node> nodes_;
  std::vector<Index> order_;
  std::vector<std::array<Vec3, 3>> corners_;
};

}  // namespace supple
