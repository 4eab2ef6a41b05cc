// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/fitting/own_tetrahedra.h"

#include <fmt/format.h>

#include "supple/mesh/bounds.h"
#include "supple/mesh/embedding.h"
#include "supple/mesh/quality.h"
#include "supple/mesh/topology.h"

#include <algorithm>

namespace supple {
namespace {

/// A face of an element: its vertices in ascending order, and whether an even turn of them is how it is seen from
/// outside of the element.
struct TetFace {
  std::array<Index, 3> vertices;
  bool even;
  Index element;
};

TetFace tet_face(std::array<Index, 3> v, Index element) {
  bool even = true;
  const auto order = [&](std::size_t a, std::size_t b) {
    if (v[a] <= v[b]) return;
    std::swap(v[a], v[b]);
    even = !even;
  };
  order(0, 1);
  order(1, 2);
  order(0, 1);
  return {v, even, element};
}

/// All faces, equal ones next to each other.
std::vector<TetFace> sorted_faces(const TetMesh& mesh) {
  constexpr std::size_t corners[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
  std::vector<TetFace> faces;
  faces.reserve(4 * mesh.elements.size());
  for (std::size_t e = 0; e < mesh.elements.size(); ++e)
    for (const auto& corner : corners)
      faces.push_back(tet_face({mesh.elements[e][corner[0]], mesh.elements[e][corner[1]], mesh.elements[e][corner[2]]},
                               static_cast<Index>(e)));
  std::sort(faces.begin(), faces.end(), [](const TetFace& a, const TetFace& b) {
    return a.vertices != b.vertices ? a.vertices < b.vertices : a.element < b.element;
  });
  return faces;
}

double percent_of(double share) { return 100 * share; }

}  // namespace

void drop_loose_vertices(TetMesh& mesh) {
  std::vector<Index> place(mesh.vertices.size(), -1);
  for (const auto& element : mesh.elements)
    for (const Index v : element) place[to_size(v)] = 0;
  std::vector<Vec3> kept;
  for (std::size_t v = 0; v < place.size(); ++v) {
    if (place[v] < 0) continue;
    place[v] = static_cast<Index>(kept.size());
    kept.push_back(mesh.vertices[v]);
  }
  for (auto& element : mesh.elements)
    for (Index& v : element) v = place[to_size(v)];
  mesh.vertices = std::move(kept);
}

Index folded_elements(const TetMesh& mesh) {
  const std::vector<TetFace> faces = sorted_faces(mesh);
  std::vector<char> folded(mesh.elements.size(), 0);
  for (std::size_t k = 1; k < faces.size(); ++k) {
    if (faces[k].vertices != faces[k - 1].vertices || faces[k].even != faces[k - 1].even) continue;
    folded[to_size(faces[k].element)] = folded[to_size(faces[k - 1].element)] = 1;
  }
  return static_cast<Index>(std::count(folded.begin(), folded.end(), char{1}));
}

Status check_tetrahedra(const TetMesh& mesh, const std::string& name) {
  const QualityReport report = quality(mesh);
  const auto of_all = [&](Index count) { return fmt::format("{} of its {} tetrahedra", count, mesh.elements.size()); };
  if (report.inverted > 0)
    return input_error(fmt::format("{}: {} are turned inside out; mesh the body again", name, of_all(report.inverted)));
  if (report.degenerate > 0)
    return input_error(
        fmt::format("{}: {} are flat, which no material can be; mesh the body again", name, of_all(report.degenerate)));
  if (const Index crowded = boundary_surface(mesh).crowded_faces; crowded > 0)
    return input_error(
        fmt::format("{}: {} faces belong to three tetrahedra or more, so that the body overlaps itself; "
                    "mesh it again",
                    name, crowded));
  if (const Index folded = folded_elements(mesh); folded > 0)
    return input_error(
        fmt::format("{}: {} are inverted: they lie on the same side of a face as their neighbour; "
                    "mesh the body again, in the pose the character is bound in",
                    name, of_all(folded)));
  return {};
}

Result<SkinCover> check_cover(const TetMesh& mesh, const Surface& skin, const std::string& name,
                              const OwnTetSettings& settings) {
  const Result<Embedding> embedding = embed(mesh, skin.vertices);
  SUPPLE_RETURN_IF_ERROR(embedding);
  const double diagonal = bounds_of(skin.vertices).diagonal();
  const auto share_beyond = [&](double limit) {
    const auto beyond = std::count_if(embedding->distance.begin(), embedding->distance.end(),
                                      [&](double distance) { return distance > limit; });
    return static_cast<double>(beyond) / static_cast<double>(std::max<std::size_t>(embedding->size(), 1));
  };
  SkinCover cover;
  // What lies on the boundary is inside, whatever the last digit says.
  cover.outside = share_beyond(1e-6 * diagonal);
  cover.visible = share_beyond(settings.remark_share * diagonal);
  cover.far = share_beyond(settings.near_share * diagonal);
  for (const double distance : embedding->distance) cover.farthest = std::max(cover.farthest, distance);
  cover.size_ratio = bounds_of(mesh.vertices).diagonal() / diagonal;
  if (cover.far > settings.most_outside)
    return input_error(fmt::format(
        "{}: its tetrahedra don't surround the skin: {:.1f} % of the skin's vertices are outside, {:.1f} % of them all "
        "farther than {:g} % of the character's size, up to {:.3g} m; the tetrahedra are {:.3g} times as large as the "
        "skin. They must be in the input's units and place, and cover all meshes that aren't excluded",
        name, percent_of(cover.outside), percent_of(cover.far), percent_of(settings.near_share), cover.farthest,
        cover.size_ratio));
  return cover;
}

}  // namespace supple
