// SPDX-License-Identifier: Apache-2.0
// The skin of a solid mesh. Faces are thrown into one bucket per smallest vertex (a counting sort), where the few faces
// of a bucket are compared directly: linear time, no hashing.
#include "supple/mesh/topology.h"

namespace supple {
namespace {

// Faces seen from outside run counter-clockwise.
template <int Nodes>
struct Faces;

template <>
struct Faces<4> {
  static constexpr std::size_t count = 4, corners = 3;
  static constexpr std::size_t node[count][corners] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
};

template <>
struct Faces<8> {
  static constexpr std::size_t count = 6, corners = 4;
  static constexpr std::size_t node[count][corners] = {{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4},
                                                       {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}};
};

template <int Nodes>
struct Face {
  std::array<Index, Faces<Nodes>::corners> key;  // ascending vertices
  std::size_t number;                            // element * faces + local face
};

template <int Nodes>
std::array<Index, Faces<Nodes>::corners> face_vertices(const VolumeMesh<Nodes>& mesh, std::size_t number) {
  using Table = Faces<Nodes>;
  const auto& element = mesh.elements[number / Table::count];
  std::array<Index, Table::corners> vertices;
  for (std::size_t k = 0; k < Table::corners; ++k) vertices[k] = element[Table::node[number % Table::count][k]];
  return vertices;
}

// All faces, those with the same smallest vertex side by side; `begin` has the first face of each such bucket.
template <int Nodes>
std::vector<Face<Nodes>> bucket_faces(const VolumeMesh<Nodes>& mesh, std::vector<std::size_t>& begin) {
  const std::size_t faces = mesh.elements.size() * Faces<Nodes>::count;
  std::vector<Face<Nodes>> unsorted(faces);
  begin.assign(mesh.vertices.size() + 1, 0);
  for (std::size_t number = 0; number < faces; ++number) {
    Face<Nodes>& face = unsorted[number];
    face = {face_vertices(mesh, number), number};
    std::sort(face.key.begin(), face.key.end());
    ++begin[to_size(face.key[0]) + 1];
  }
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v) begin[v + 1] += begin[v];
  std::vector<Face<Nodes>> sorted(faces);
  std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
  for (const Face<Nodes>& face : unsorted) sorted[next[to_size(face.key[0])]++] = face;
  return sorted;
}

// The numbers of faces that occur once, ascending.
template <int Nodes>
std::vector<std::size_t> lonely_faces(const VolumeMesh<Nodes>& mesh, Index& crowded) {
  std::vector<std::size_t> begin;
  std::vector<Face<Nodes>> faces = bucket_faces(mesh, begin);
  std::vector<std::size_t> lonely;
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
    const auto first = faces.begin() + static_cast<std::ptrdiff_t>(begin[v]);
    const auto last = faces.begin() + static_cast<std::ptrdiff_t>(begin[v + 1]);
    std::sort(first, last, [](const Face<Nodes>& a, const Face<Nodes>& b) { return a.key < b.key; });
    for (auto run = first; run != last;) {
      const auto end = std::find_if(run, last, [&](const Face<Nodes>& face) { return face.key != run->key; });
      if (end - run == 1) lonely.push_back(run->number);
      if (end - run > 2) ++crowded;
      run = end;
    }
  }
  std::sort(lonely.begin(), lonely.end());
  return lonely;
}

// Replaces solid vertex numbers by surface vertex numbers.
void compact_vertices(const std::vector<Vec3>& vertices, BoundarySurface& boundary) {
  std::vector<Index> surface_vertex(vertices.size(), -1);
  for (const Triangle& t : boundary.surface.triangles) {
    for (const Index v : t) surface_vertex[to_size(v)] = 0;
  }
  for (std::size_t v = 0; v < vertices.size(); ++v) {
    if (surface_vertex[v] < 0) continue;
    surface_vertex[v] = static_cast<Index>(boundary.volume_vertex.size());
    boundary.volume_vertex.push_back(static_cast<Index>(v));
    boundary.surface.vertices.push_back(vertices[v]);
  }
  for (Triangle& t : boundary.surface.triangles) {
    for (Index& v : t) v = surface_vertex[to_size(v)];
  }
}

template <int Nodes>
BoundarySurface boundary_of(const VolumeMesh<Nodes>& mesh) {
  BoundarySurface boundary;
  for (const std::size_t number : lonely_faces(mesh, boundary.crowded_faces)) {
    const auto corner = face_vertices(mesh, number);
    for (std::size_t k = 2; k < corner.size(); ++k) {
      boundary.surface.triangles.push_back({corner[0], corner[k - 1], corner[k]});
      boundary.element.push_back(static_cast<Index>(number / Faces<Nodes>::count));
    }
  }
  compact_vertices(mesh.vertices, boundary);
  return boundary;
}

}  // namespace

BoundarySurface boundary_surface(const TetMesh& mesh) { return boundary_of(mesh); }
BoundarySurface boundary_surface(const HexMesh& mesh) { return boundary_of(mesh); }

}  // namespace supple
