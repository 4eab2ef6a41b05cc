// SPDX-License-Identifier: Apache-2.0
// Elements that share a face: how domains of a mesh hang together.
#pragma once

#include "supple/mesh/volume_mesh.h"

#include <utility>
#include <vector>

namespace supple {

/// Corners of the faces of an element, around the face.
template <int Nodes>
std::vector<std::vector<int>> faces_of() {
  if (Nodes == 4) return {{0, 1, 2}, {0, 1, 3}, {0, 2, 3}, {1, 2, 3}};
  return {{0, 1, 2, 3}, {4, 5, 6, 7}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}};
}

/// Pairs of elements that share a face, in the order of the elements.
std::vector<std::pair<Index, Index>> touching_elements(const TetMesh& mesh);
std::vector<std::pair<Index, Index>> touching_elements(const HexMesh& mesh);

/// The mean of an element's vertices.
template <int Nodes>
Vec3 middle_of(const VolumeMesh<Nodes>& mesh, std::size_t element) {
  Vec3 sum = Vec3::Zero();
  for (const Index v : mesh.elements[element]) sum += mesh.vertices[to_size(v)];
  return sum / Nodes;
}

}  // namespace supple
