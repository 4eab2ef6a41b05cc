// SPDX-License-Identifier: Apache-2.0
#include "supple/mesh/box.h"

namespace supple {
namespace {

std::vector<Vec3> lattice_vertices(const Vec3& size, const std::array<int, 3>& cells) {
  std::vector<Vec3> vertices;
  vertices.reserve(to_size(cells[0] + 1) * to_size(cells[1] + 1) * to_size(cells[2] + 1));
  for (int k = 0; k <= cells[2]; ++k) {
    for (int j = 0; j <= cells[1]; ++j) {
      for (int i = 0; i <= cells[0]; ++i) {
        vertices.emplace_back(size[0] * i / cells[0], size[1] * j / cells[1], size[2] * k / cells[2]);
      }
    }
  }
  return vertices;
}

}  // namespace

HexMesh make_hex_box(const Vec3& size, const std::array<int, 3>& cells) {
  HexMesh mesh;
  mesh.vertices = lattice_vertices(size, cells);
  const Index row = cells[0] + 1;
  const Index layer = row * (cells[1] + 1);
  for (Index k = 0; k < cells[2]; ++k) {
    for (Index j = 0; j < cells[1]; ++j) {
      for (Index i = 0; i < cells[0]; ++i) {
        const Index v = i + j * row + k * layer;
        mesh.elements.push_back({v, v + 1, v + 1 + row, v + row,  //
                                 v + layer, v + 1 + layer, v + 1 + row + layer, v + row + layer});
      }
    }
  }
  return mesh;
}

TetMesh make_tet_box(const Vec3& size, const std::array<int, 3>& cells) {
  // Each tetrahedron walks from corner 0 to corner 6 along three edges, one per axis order; odd orders are mirrored.
  constexpr std::array<std::array<int, 4>, 6> corners = {
      {{0, 1, 2, 6}, {0, 2, 3, 6}, {0, 3, 7, 6}, {0, 7, 4, 6}, {0, 4, 5, 6}, {0, 5, 1, 6}}};
  const HexMesh bricks = make_hex_box(size, cells);
  TetMesh mesh;
  mesh.vertices = bricks.vertices;
  mesh.elements.reserve(bricks.elements.size() * corners.size());
  for (const HexMesh::Element& brick : bricks.elements) {
    for (const auto& tet : corners)
      mesh.elements.push_back({brick[tet[0]], brick[tet[1]], brick[tet[2]], brick[tet[3]]});
  }
  return mesh;
}

}  // namespace supple
