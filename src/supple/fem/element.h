// SPDX-License-Identifier: Apache-2.0
// Shape functions: the linear tetrahedron and the trilinear brick with 2×2×2 Gauss quadrature.
//
// Both are the same thing to the rest of the code: points with a weight (volume) and the gradients of the nodes' shape
// functions at rest, ∂N_a/∂X. Then F = I + Σ_a u_a ⊗ ∂N_a/∂X.
#pragma once

#include "supple/mesh/volume_mesh.h"

#include <array>

namespace supple {

template <int Nodes>
struct ElementShape {
  /// Tetrahedra have a constant gradient, one point is exact; bricks need 2×2×2.
  static constexpr int points = Nodes == 4 ? 1 : 8;

  std::array<Eigen::Matrix<double, 3, Nodes>, points> gradient;  ///< column a: ∂N_a/∂X [1/m]
  std::array<double, points> weight;  ///< volume that the point stands for [m³]; ≤ 0: inverted

  double volume() const;
};

ElementShape<4> element_shape(const std::array<Vec3, 4>& nodes);
ElementShape<8> element_shape(const std::array<Vec3, 8>& nodes);

/// ∫ N_a N_b dV: the consistent mass matrix of the element for unit density.
Eigen::Matrix4d shape_products(const std::array<Vec3, 4>& nodes);
Eigen::Matrix<double, 8, 8> shape_products(const std::array<Vec3, 8>& nodes);

template <int Nodes>
std::array<Vec3, Nodes> element_nodes(const VolumeMesh<Nodes>& mesh, std::size_t element) {
  std::array<Vec3, Nodes> nodes;
  for (int a = 0; a < Nodes; ++a) {
    nodes[to_size(a)] = mesh.vertices[to_size(mesh.elements[element][to_size(a)])];
  }
  return nodes;
}

template <int Nodes>
double ElementShape<Nodes>::volume() const {
  double sum = 0;
  for (const double w : weight) sum += w;
  return sum;
}

}  // namespace supple
