// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/painting/carry_paint.h"

#include "supple/fem/element.h"
#include "supple/math/sparse/sparse_factor.h"
#include "supple/mesh/bounds.h"
#include "supple/mesh/disjoint_sets.h"

#include <Eigen/Geometry>

#include <algorithm>

namespace supple {
namespace {

struct InnerFace {
  Index a, b;     ///< elements
  double weight;  ///< w_f
};

Vec3 center_of(const TetMesh& mesh, Index element) {
  const std::array<Vec3, 4> x = element_nodes(mesh, to_size(element));
  return (x[0] + x[1] + x[2] + x[3]) / 4;
}

double face_weight(const TetMesh& mesh, const std::array<Index, 3>& face, Index a, Index b) {
  const auto at = [&](std::size_t k) -> const Vec3& { return mesh.vertices[to_size(face[k])]; };
  const Vec3 area = 0.5 * (at(1) - at(0)).cross(at(2) - at(0));
  const Vec3 d = center_of(mesh, b) - center_of(mesh, a);
  return std::abs(area.dot(d)) / d.squaredNorm();
}

std::vector<InnerFace> inner_faces(const TetMesh& mesh) {
  struct Side {
    std::array<Index, 3> face;  ///< ascending
    Index element;
  };
  std::vector<Side> sides;
  sides.reserve(4 * mesh.elements.size());
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    for (std::size_t left_out = 0; left_out < 4; ++left_out) {
      std::array<Index, 3> face{};
      for (std::size_t k = 0, n = 0; k < 4; ++k)
        if (k != left_out) face[n++] = mesh.elements[e][k];
      std::sort(face.begin(), face.end());
      sides.push_back({face, static_cast<Index>(e)});
    }
  }
  std::stable_sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) { return a.face < b.face; });
  std::vector<InnerFace> faces;
  for (std::size_t s = 0; s + 1 < sides.size(); ++s) {
    if (sides[s].face != sides[s + 1].face) continue;
    const Index a = sides[s].element, b = sides[s + 1].element;
    faces.push_back({a, b, face_weight(mesh, sides[s].face, a, b)});
  }
  return faces;
}

/// A third of the triangles around each vertex.
std::vector<double> vertex_areas(const Surface& skin) {
  std::vector<double> areas(skin.vertices.size(), 0.0);
  for (const Triangle& t : skin.triangles) {
    const auto at = [&](std::size_t k) -> const Vec3& { return skin.vertices[to_size(t[k])]; };
    const double third = (at(1) - at(0)).cross(at(2) - at(0)).norm() / 6;
    for (const Index v : t) areas[to_size(v)] += third;
  }
  return areas;
}

/// What the paint wants of each element: a_e and a_e Ē_e.
struct Wishes {
  VecX area;
  VecX product;
};

Wishes gather_paint(const TetMesh& mesh, const Surface& skin, const Embedding& embedding,
                    std::span<const double> paint) {
  const auto count = static_cast<Eigen::Index>(mesh.elements.size());
  Wishes wishes{VecX::Zero(count), VecX::Zero(count)};
  const std::vector<double> areas = vertex_areas(skin);
  for (std::size_t v = 0; v < paint.size(); ++v) {
    if (!std::isfinite(paint[v])) continue;
    wishes.area[embedding.element[v]] += areas[v];
    wishes.product[embedding.element[v]] += areas[v] * paint[v];
  }
  return wishes;
}

/// Without a wish in one of its pieces the system would be singular; there the elements wish for the mean.
void fill_untouched_pieces(std::size_t elements, std::span<const InnerFace> faces, Wishes& wishes) {
  DisjointSets pieces(elements);
  for (const InnerFace& face : faces) pieces.unite(face.a, face.b);
  std::vector<double> piece_area(elements, 0.0);
  for (std::size_t e = 0; e < elements; ++e)
    piece_area[to_size(pieces.find(static_cast<Index>(e)))] += wishes.area[static_cast<Eigen::Index>(e)];
  const double all = wishes.area.sum(), mean = wishes.product.sum() / all;
  const double share = all / static_cast<double>(elements);
  for (std::size_t e = 0; e < elements; ++e) {
    if (piece_area[to_size(pieces.find(static_cast<Index>(e)))] > 0) continue;
    wishes.area[static_cast<Eigen::Index>(e)] = share;
    wishes.product[static_cast<Eigen::Index>(e)] = share * mean;
  }
}

Status check_paint(const TetMesh& mesh, const Surface& skin, const Embedding& embedding, std::span<const double> paint,
                   const CarrySettings& settings) {
  if (mesh.elements.empty()) return input_error("there are no tetrahedra to carry paint to");
  if (paint.size() != skin.vertices.size() || embedding.size() != paint.size())
    return input_error("the paint doesn't belong to this skin: it has another number of vertices");
  if (!(settings.smoothness > 0 && settings.smoothness <= 100))
    return input_error("the smoothness of paint must be above 0 and at most 100 of the body's diagonal");
  return {};
}

}  // namespace

Result<std::vector<double>> carry_paint(const TetMesh& mesh, const Surface& skin, const Embedding& embedding,
                                        std::span<const double> paint, const CarrySettings& settings) {
  SUPPLE_RETURN_IF_ERROR(check_paint(mesh, skin, embedding, paint, settings));
  Wishes wishes = gather_paint(mesh, skin, embedding, paint);
  if (!(wishes.area.sum() > 0)) return input_error("nothing is painted: no vertex of a triangle bears a number");
  const std::vector<InnerFace> faces = inner_faces(mesh);
  fill_untouched_pieces(mesh.elements.size(), faces, wishes);

  // The minimum is where (diag(a) + ℓ L) E = a Ē.
  const double length = settings.smoothness * bounds_of(mesh.vertices).diagonal();
  std::vector<Eigen::Triplet<double>> entries;
  const auto count = static_cast<Eigen::Index>(mesh.elements.size());
  for (Eigen::Index e = 0; e < count; ++e) entries.emplace_back(e, e, wishes.area[e]);
  for (const InnerFace& face : faces) {
    const double w = length * face.weight;
    entries.emplace_back(face.a, face.a, w);
    entries.emplace_back(face.b, face.b, w);
    entries.emplace_back(std::max(face.a, face.b), std::min(face.a, face.b), -w);
  }
  Eigen::SparseMatrix<double> system(count, count);
  system.setFromTriplets(entries.begin(), entries.end());
  SparseFactor factor;
  factor.analyze(system);
  if (!factor.factorize(system))
    return failure("the paint couldn't be carried to the tetrahedra: are some of them flat?");
  std::vector<double> result(mesh.elements.size());
  factor.solve(wishes.product, Eigen::Map<VecX>(result.data(), count));
  return result;
}

}  // namespace supple
