// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/quasistatic/mesh_distance.h"

#include <fmt/format.h>

#include "supple/mesh/topology.h"

#include <Eigen/Geometry>

#include <map>

namespace supple {
namespace {

/// 6 V = Σ a · (b × c) of some triangles of a surface.
double six_volumes(const Surface& surface, std::span<const Triangle> triangles) {
  double sum = 0;
  for (const auto& [a, b, c] : triangles)
    sum += surface.vertices[to_size(a)].dot(surface.vertices[to_size(b)].cross(surface.vertices[to_size(c)]));
  return sum;
}

/// An edge that triangles run along more often in one direction than in the other; a mesh without any is closed, and
/// its triangles are all wound the same way.
struct LooseEdge {
  Index from = -1, to = -1;
  int forth = 0, back = 0;
};
std::optional<LooseEdge> loose_edge(const std::vector<Triangle>& triangles) {
  std::map<std::pair<Index, Index>, LooseEdge> edges;
  for (const Triangle& t : triangles)
    for (std::size_t k = 0; k < 3; ++k) {
      const Index a = t[k], b = t[(k + 1) % 3];
      LooseEdge& edge = edges[std::minmax(a, b)];
      edge.from = a, edge.to = b;
      ++(a < b ? edge.forth : edge.back);
    }
  std::optional<LooseEdge> wrongly_wound;
  for (const auto& [ends, edge] : edges) {
    if ((edge.forth + edge.back) % 2 != 0) return edge;
    if (edge.forth != edge.back) wrongly_wound = edge;
  }
  return wrongly_wound;
}

Error about_edge(const Surface& surface, const LooseEdge& edge) {
  const Vec3 middle = 0.5 * (surface.vertices[to_size(edge.from)] + surface.vertices[to_size(edge.to)]);
  const std::string place = fmt::format("({:.3g}, {:.3g}, {:.3g})", middle.x(), middle.y(), middle.z());
  if ((edge.forth + edge.back) % 2 != 0)
    return input_error(
        fmt::format("the mesh is open: at {} an edge has a triangle on one side only; close its holes", place));
  return input_error(
      fmt::format("triangles of the mesh don't all look out: at {} two that meet are wound against each other; "
                  "recalculate the normals",
                  place));
}

/// Coincident vertices joined, without triangles that have lost an edge by it.
Surface joined(const Surface& surface) {
  Surface result = weld(surface).surface;
  std::erase_if(result.triangles, [](const Triangle& t) { return t[0] == t[1] || t[1] == t[2] || t[2] == t[0]; });
  return result;
}

/// A piece that is turned inside out is a cavity if others surround it.
Status check_pieces(const Surface& surface) {
  const Components pieces = connected_components(surface);
  for (Index piece = 0; piece < pieces.count; ++piece) {
    std::vector<Triangle> own;
    Surface others;
    others.vertices = surface.vertices;
    for (std::size_t t = 0; t < surface.triangles.size(); ++t)
      (pieces.label[t] == piece ? own : others.triangles).push_back(surface.triangles[t]);
    if (six_volumes(surface, own) > 0) continue;
    if (!others.triangles.empty()) {
      const TriangleTree tree(others);
      if (WindingNumber(tree)(surface.vertices[to_size(own.front()[0])]) > 0.5) continue;
    }
    return input_error("the mesh is inside out: its triangles look inwards; turn its normals round");
  }
  return {};
}

}  // namespace

MeshDistance::MeshDistance(Surface surface) : surface_(std::move(surface)), tree_(surface_), winding_(tree_) {
  for (const Vec3& x : surface_.vertices) bounds_.add(x);
}

Result<std::shared_ptr<const MeshDistance>> MeshDistance::create(const Surface& surface) {
  Surface whole = joined(surface);
  if (whole.triangles.empty()) return input_error("the mesh has no triangles, so nothing can touch it");
  if (const std::optional<LooseEdge> edge = loose_edge(whole.triangles)) return about_edge(whole, *edge);
  SUPPLE_RETURN_IF_ERROR(check_pieces(whole));
  return std::shared_ptr<const MeshDistance>(new MeshDistance(std::move(whole)));
}

double MeshDistance::distance(const Vec3& x, double reach, Vec3& out) const {
  const bool within = (x.array() >= bounds_.min.array()).all() && (x.array() <= bounds_.max.array()).all();
  const bool inside = within && winding_(x) > 0.5;
  const double infinity = std::numeric_limits<double>::infinity();
  const TriangleTree::Nearest hit = tree_.nearest(x, inside ? infinity : reach);
  out = Vec3::UnitY();
  if (hit.triangle < 0) return infinity;
  const Vec3 away = inside ? Vec3(hit.point - x) : Vec3(x - hit.point);
  // On a triangle there is no way to its nearest point: its normal is.
  const double on_it = 1e-9 * (bounds_.max - bounds_.min).norm();
  out = hit.distance > on_it ? Vec3(away / hit.distance) : Vec3(tree_.area_vector(to_size(hit.place)).normalized());
  return inside ? -hit.distance : hit.distance;
}

}  // namespace supple
