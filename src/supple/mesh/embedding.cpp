// SPDX-License-Identifier: Apache-2.0
#include "supple/mesh/embedding.h"

#include "supple/base/parallel.h"
#include "supple/mesh/element_lookup.h"

#include <fmt/format.h>
#include <Eigen/LU>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace supple {
namespace {

constexpr double inside_tolerance = 1e-9;  // of an element's size

/// Where a point is with respect to one element.
template <int Nodes>
struct Place {
  Eigen::Matrix<double, Nodes, 1> weights = Eigen::Matrix<double, Nodes, 1>::Zero();
  double distance = std::numeric_limits<double>::infinity();
};

template <int Nodes>
using Corners = Eigen::Matrix<double, 3, Nodes>;

template <int Nodes>
Corners<Nodes> corners_of(const VolumeMesh<Nodes>& mesh, Index element) {
  Corners<Nodes> corners;
  for (int c = 0; c < Nodes; ++c) {
    const Index v = mesh.elements[to_size(element)][to_size(c)];
    corners.col(c) = mesh.vertices[to_size(v)];
  }
  return corners;
}

// ---- bricks ---------------------------------------------------------------------------------------------------------

const Eigen::Matrix<double, 8, 3>& brick_signs() {
  static const Eigen::Matrix<double, 8, 3> signs = [] {
    Eigen::Matrix<double, 8, 3> s;
    s << -1, -1, -1, 1, -1, -1, 1, 1, -1, -1, 1, -1, -1, -1, 1, 1, -1, 1, 1, 1, 1, -1, 1, 1;
    return s;
  }();
  return signs;
}

Eigen::Matrix<double, 8, 1> brick_weights(const Vec3& xi) {
  const Eigen::Array<double, 8, 3> f = 1 + (brick_signs() * xi.asDiagonal()).array();
  return 0.125 * (f.col(0) * f.col(1) * f.col(2)).matrix();
}

Eigen::Matrix<double, 8, 3> brick_gradients(const Vec3& xi) {
  const Eigen::Array<double, 8, 3> s = brick_signs().array();
  const Eigen::Array<double, 8, 3> f = 1 + (brick_signs() * xi.asDiagonal()).array();
  Eigen::Matrix<double, 8, 3> gradients;
  gradients.col(0) = 0.125 * s.col(0) * f.col(1) * f.col(2);
  gradients.col(1) = 0.125 * s.col(1) * f.col(0) * f.col(2);
  gradients.col(2) = 0.125 * s.col(2) * f.col(0) * f.col(1);
  return gradients;
}

/// The brick's own coordinates of the point in it that is nearest to `point`. Newton's method on x(ξ) = point with ξ
/// held in the brick: exact for points inside and for boxes (one step), near enough for distorted bricks.
Vec3 nearest_in_brick(const Corners<8>& corners, const Vec3& point) {
  Vec3 xi = Vec3::Zero();
  for (int round = 0; round < 30; ++round) {
    const Vec3 error = point - corners * brick_weights(xi);
    const Vec3 step = (corners * brick_gradients(xi)).partialPivLu().solve(error);
    const Vec3 next = (xi + step).cwiseMax(-1).cwiseMin(1);
    const double change = (next - xi).lpNorm<Eigen::Infinity>();
    xi = next;
    if (!(change > 1e-14)) break;
  }
  return xi;
}

// Outside, the brick is continued linearly from its nearest point: trilinear weights would grow without measure.
Place<8> place_in(const Corners<8>& corners, const Vec3& point) {
  const Vec3 xi = nearest_in_brick(corners, point);
  const Eigen::Matrix<double, 8, 3> gradients = brick_gradients(xi);
  const Mat3 jacobian = corners * gradients;
  const Vec3 offset = point - corners * brick_weights(xi);
  Place<8> place;
  place.weights = brick_weights(xi) + gradients * jacobian.partialPivLu().solve(offset);
  place.distance = offset.norm();
  return place;
}

// ---- tetrahedra -----------------------------------------------------------------------------------------------------

/// Nearest point of a triangle, or of its edges and corners: the projection on the plane, or else the best of the
/// edges.
Vec3 nearest_in_triangle(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& p) {
  const Vec3 u = b - a, v = c - a, w = p - a;
  const double uu = u.dot(u), uv = u.dot(v), vv = v.dot(v), wu = w.dot(u), wv = w.dot(v);
  const double area = uu * vv - uv * uv;
  const double s = (vv * wu - uv * wv) / area, t = (uu * wv - uv * wu) / area;
  if (s >= 0 && t >= 0 && s + t <= 1) return a + s * u + t * v;
  const auto on_edge = [&](const Vec3& from, const Vec3& to) {
    const Vec3 edge = to - from;
    return Vec3(from + std::clamp((p - from).dot(edge) / edge.squaredNorm(), 0.0, 1.0) * edge);
  };
  Vec3 best = on_edge(a, b);
  for (const Vec3& q : {on_edge(b, c), on_edge(c, a)}) {
    if ((q - p).squaredNorm() < (best - p).squaredNorm()) best = q;
  }
  return best;
}

Place<4> place_in(const Corners<4>& corners, const Vec3& point) {
  Mat3 edges;
  for (int c = 0; c < 3; ++c) edges.col(c) = corners.col(c + 1) - corners.col(0);
  const Vec3 inner = edges.partialPivLu().solve(Vec3(point - corners.col(0)));
  Place<4> place;
  place.weights << 1 - inner.sum(), inner;
  if (place.weights.minCoeff() >= 0) {
    place.distance = 0;
    return place;
  }
  for (int skip = 0; skip < 4; ++skip) {
    const Vec3 nearest = nearest_in_triangle(corners.col((skip + 1) % 4), corners.col((skip + 2) % 4),
                                             corners.col((skip + 3) % 4), point);
    place.distance = std::min(place.distance, (nearest - point).norm());
  }
  return place;
}

/// Weights of the nearest point in the element.
Eigen::Vector4d nearest_weights(const Corners<4>& corners, const Vec3& point) {
  Vec3 nearest = corners.col(0);
  for (int skip = 0; skip < 4; ++skip) {
    const Vec3 candidate = nearest_in_triangle(corners.col((skip + 1) % 4), corners.col((skip + 2) % 4),
                                               corners.col((skip + 3) % 4), point);
    if (skip == 0 || (candidate - point).squaredNorm() < (nearest - point).squaredNorm()) nearest = candidate;
  }
  // Weights of the other corners are zero, but for rounding.
  const Eigen::Vector4d weights = place_in(corners, nearest).weights.cwiseMax(0);
  return weights / weights.sum();
}

// ---- all points -----------------------------------------------------------------------------------------------------

template <int Nodes>
double size_of(const Corners<Nodes>& corners) {
  return (corners.rowwise().maxCoeff() - corners.rowwise().minCoeff()).maxCoeff();
}

/// Whether a place in one element is to be preferred to that in another. At the same distance (elements around the
/// nearest vertex, edge or face) that is the element that is continued least, because rounding would decide between
/// distances; of equals, and of all around a point inside, the first.
template <int Nodes>
bool preferred(const Place<Nodes>& a, Index element_a, const Place<Nodes>& b, Index element_b, double tolerance) {
  if (!(std::abs(a.distance - b.distance) <= tolerance)) return a.distance < b.distance;
  const double less = a.distance > 0 && b.distance > 0 ? a.weights.minCoeff() - b.weights.minCoeff() : 0;
  return std::abs(less) > 1e-6 ? less > 0 : element_a < element_b;
}

template <int Nodes>
std::pair<Index, Place<Nodes>> find_place(const VolumeMesh<Nodes>& mesh, const ElementLookup& lookup,
                                          const Vec3& point) {
  Place<Nodes> best;
  Index best_element = -1;
  const auto visit = [&](Index element) {
    const Corners<Nodes> corners = corners_of(mesh, element);
    Place<Nodes> place = place_in(corners, point);
    const double tolerance = inside_tolerance * size_of<Nodes>(corners);
    if (place.distance <= tolerance) place.distance = 0;
    if (best_element >= 0 && !preferred(place, element, best, best_element, tolerance)) return;
    best = place;
    best_element = element;
  };
  lookup.search(point, visit, [&] { return best.distance * (1 + 1e-9); });
  return {best_element, best};
}

template <int Nodes>
Status check_mesh(const VolumeMesh<Nodes>& mesh) {
  if (mesh.elements.empty()) return input_error("The mesh has no elements, so nothing can be embedded in it.");
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    const Corners<Nodes> corners = corners_of(mesh, static_cast<Index>(e));
    Mat3 jacobian;
    if constexpr (Nodes == 8) {
      jacobian = corners * brick_gradients(Vec3::Zero());
    } else {
      for (int c = 0; c < 3; ++c) jacobian.col(c) = corners.col(c + 1) - corners.col(0);
    }
    const double size = size_of<Nodes>(corners);
    if (!(std::abs(jacobian.determinant()) > 1e-14 * size * size * size))
      return input_error(fmt::format(
          "Element {} of the mesh is flat or not a number, so no point can ride on it; repair the mesh.", e));
  }
  return {};
}

Status check_points(std::span<const Vec3> points) {
  for (std::size_t p = 0; p < points.size(); ++p) {
    if (!points[p].allFinite())
      return input_error(fmt::format("Point {} to embed has a coordinate that isn't a number; repair it.", p));
  }
  return {};
}

template <int Nodes>
Result<Embedding> embed_points(const VolumeMesh<Nodes>& mesh, std::span<const Vec3> points) {
  SUPPLE_RETURN_IF_ERROR(check_mesh(mesh));
  SUPPLE_RETURN_IF_ERROR(check_points(points));
  const ElementLookup lookup(mesh);
  Embedding embedding;
  embedding.nodes = Nodes;
  embedding.mesh_vertices = static_cast<Index>(mesh.vertices.size());
  embedding.element.resize(points.size());
  embedding.distance.resize(points.size());
  embedding.vertices.resize(points.size() * Nodes);
  embedding.weights.resize(points.size() * Nodes);
  parallel_for(static_cast<std::int64_t>(points.size()), 512, [&](std::int64_t i) {
    const auto p = to_size(i);
    const auto [element, place] = find_place(mesh, lookup, points[p]);
    embedding.element[p] = element;
    embedding.distance[p] = place.distance;
    for (std::size_t c = 0; c < Nodes; ++c) {
      embedding.vertices[p * Nodes + c] = mesh.elements[to_size(element)][c];
      embedding.weights[p * Nodes + c] = place.weights[static_cast<Eigen::Index>(c)];
    }
  });
  return embedding;
}

template <int Nodes>
Result<std::vector<Index>> under_paint(const VolumeMesh<Nodes>& mesh, const Surface& surface,
                                       std::span<const Index> painted) {
  SUPPLE_RETURN_IF_ERROR(check_mesh(mesh));
  const ElementLookup lookup(mesh);
  std::set<Index> elements;
  for (const Index v : painted) {
    if (v < 0 || to_size(v) >= surface.vertices.size())
      return input_error(
          fmt::format("Painted vertex {} doesn't exist; the surface has {}.", v, surface.vertices.size()));
    const Vec3& point = surface.vertices[to_size(v)];
    SUPPLE_RETURN_IF_ERROR(check_points({&point, 1}));
    const auto [nearest, place] = find_place(mesh, lookup, point);
    elements.insert(nearest);
    const auto visit = [&](Index element) {
      const Corners<Nodes> corners = corners_of(mesh, element);
      if (place_in(corners, point).distance <= 1e-6 * size_of<Nodes>(corners)) elements.insert(element);
    };
    lookup.search(point, visit, [] { return 0.0; });
  }
  std::vector<Index> vertices;
  for (const Index e : elements) {
    const auto& corners = mesh.elements[to_size(e)];
    vertices.insert(vertices.end(), corners.begin(), corners.end());
  }
  std::sort(vertices.begin(), vertices.end());
  vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
  return vertices;
}

}  // namespace

MatX Embedding::interpolate(const Eigen::Ref<const MatX>& displacements) const {
  SUPPLE_ASSERT(displacements.rows() == 3 * static_cast<Eigen::Index>(mesh_vertices));
  MatX result(3 * static_cast<Eigen::Index>(size()), displacements.cols());
  parallel_for(static_cast<std::int64_t>(size()), 512, [&](std::int64_t p) {
    auto rows = result.middleRows<3>(3 * p);
    rows.setZero();
    for (std::int64_t k = p * nodes; k < (p + 1) * nodes; ++k)
      rows += weights[to_size(k)] * displacements.middleRows<3>(3 * Eigen::Index{vertices[to_size(k)]});
  });
  return result;
}

MatX Embedding::spread(const Eigen::Ref<const MatX>& forces) const {
  SUPPLE_ASSERT(forces.rows() == 3 * static_cast<Eigen::Index>(size()));
  MatX result = MatX::Zero(3 * static_cast<Eigen::Index>(mesh_vertices), forces.cols());
  for (Eigen::Index p = 0; p < static_cast<Eigen::Index>(size()); ++p) {
    for (Eigen::Index k = p * nodes; k < (p + 1) * nodes; ++k)
      result.middleRows<3>(3 * Eigen::Index{vertices[to_size(k)]}) += weights[to_size(k)] * forces.middleRows<3>(3 * p);
  }
  return result;
}

Result<Embedding> embed(const TetMesh& mesh, std::span<const Vec3> points) { return embed_points(mesh, points); }

Result<Embedding> embed_nearest(const TetMesh& mesh, std::span<const Vec3> points) {
  Result<Embedding> embedding = embed_points(mesh, points);
  SUPPLE_RETURN_IF_ERROR(embedding);
  for (std::size_t p = 0; p < points.size(); ++p) {
    if (embedding->inside(p)) continue;
    Eigen::Map<Eigen::Vector4d>(embedding->weights.data() + 4 * p) =
        nearest_weights(corners_of(mesh, embedding->element[p]), points[p]);
  }
  return embedding;
}

Result<Embedding> embed(const HexMesh& mesh, std::span<const Vec3> points) { return embed_points(mesh, points); }

Result<std::vector<Index>> painted_vertices(const Surface& surface, std::string_view attribute) {
  const auto found = std::find_if(surface.attributes.begin(), surface.attributes.end(),
                                  [&](const VertexAttribute& a) { return a.name == attribute; });
  if (found == surface.attributes.end())
    return input_error(fmt::format("The surface has no paint called '{}'.", attribute));
  std::vector<Index> painted;
  const auto components = to_size(std::max(1, found->components));
  for (std::size_t v = 0; v < surface.vertices.size() && v * components < found->values.size(); ++v) {
    if (found->values[v * components] > 0.5f) painted.push_back(static_cast<Index>(v));
  }
  if (painted.empty())
    return input_error(fmt::format("The paint '{}' covers no vertex; values above 0.5 count as painted.", attribute));
  return painted;
}

Result<std::vector<Index>> vertices_under_paint(const TetMesh& mesh, const Surface& surface,
                                                std::span<const Index> painted) {
  return under_paint(mesh, surface, painted);
}

Result<std::vector<Index>> vertices_under_paint(const HexMesh& mesh, const Surface& surface,
                                                std::span<const Index> painted) {
  return under_paint(mesh, surface, painted);
}

}  // namespace supple
