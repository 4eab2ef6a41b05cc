// SPDX-License-Identifier: Apache-2.0
// ContactShape: what a deformable object needs to be touched: points that feel, and a field that pushes back.
//
// The field is a grid of signed distances in the rest shape (negative inside), with the nearest surface vertex of each
// node. A point of another body is taken back to the rest shape by the displacement of the vertex nearest to it; depth
// and direction are read there and carried forward by how the surface around that vertex has turned.
#pragma once

#include "supple/base/types.h"

#include <array>
#include <cstddef>
#include <vector>

namespace supple {

struct ContactShape {
  std::vector<Index> points;  ///< vertices of the surface, spread evenly over it
  /// For each vertex of the surface, the other two corners of one of its triangles. How that triangle lies tells how
  /// the surface has turned there.
  std::vector<std::array<Index, 2>> neighbours;

  std::array<int, 3> nodes{};  ///< number of grid nodes along x, y and z
  Vec3 origin = Vec3::Zero();
  double cell_size = 0.0;
  std::vector<float> distances;  ///< at the nodes, x fastest [m]
  std::vector<Index> nearest;    ///< for each node, the vertex of the surface that is nearest

  Vec3 center = Vec3::Zero();  ///< center of a ball that holds the surface
  double radius = 0.0;

  struct Sample {
    double distance;
    Vec3 gradient;
  };
  std::size_t node(int i, int j, int k) const {
    return to_size(i) + to_size(nodes[0]) * (to_size(j) + to_size(nodes[1]) * to_size(k));
  }
  bool holds(const Vec3& rest_point) const;
  /// Interpolates the field linearly between grid nodes. A point outside the grid counts as the nearest point inside.
  Sample sample(const Vec3& rest_point) const;
  Index nearest_vertex(const Vec3& rest_point) const;
};

}  // namespace supple
