// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/contact/self_contact.h"

#include "supple/base/parallel.h"
#include "supple/mesh/edges.h"
#include "supple/mesh/normals.h"
#include "supple/mesh/topology.h"
#include "supple/mesh/winding_number.h"
#include "supple/offline/contact/near_triangles.h"

#include <fmt/format.h>
#include <Eigen/Geometry>

#include <map>
#include <optional>
#include <queue>

namespace supple {
namespace {

constexpr double touching = 1e-6;  ///< gaps that count as none, in mean edges
constexpr double probe = 0.01;     ///< how far beside a vertex flesh is looked for, in mean edges

/// The edges of the neutral boundary, for distances along it.
struct EdgeGraph {
  struct Link {
    Index to;
    double length;
  };
  std::vector<std::vector<Link>> links;
  double mean_length = 0;

  explicit EdgeGraph(const Surface& surface) : links(surface.vertices.size()) {
    Index edges = 0;
    for_each_edge(sorted_edge_uses(surface.triangles), [&](std::span<const EdgeUse> edge) {
      const auto a = to_size(edge[0].low), b = to_size(edge[0].high);
      const double length = (surface.vertices[a] - surface.vertices[b]).norm();
      links[a].push_back({edge[0].high, length});
      links[b].push_back({edge[0].low, length});
      mean_length += length;
      ++edges;
    });
    mean_length /= std::max(edges, Index{1});
  }

  /// Vertices within `radius` along edges (Dijkstra), ascending.
  std::vector<Index> near(Index start, double radius) const {
    std::map<Index, double> distance = {{start, 0.0}};
    std::priority_queue<std::pair<double, Index>, std::vector<std::pair<double, Index>>, std::greater<>> open;
    open.emplace(0.0, start);
    while (!open.empty()) {
      const auto [d, v] = open.top();
      open.pop();
      if (d > distance[v]) continue;
      for (const Link& link : links[to_size(v)]) {
        const double through = d + link.length;
        const auto found = distance.find(link.to);
        if (through >= radius || (found != distance.end() && found->second <= through)) continue;
        distance[link.to] = through;
        open.emplace(through, link.to);
      }
    }
    std::vector<Index> result;
    for (const auto& [v, d] : distance) result.push_back(v);
    return result;
  }
};

/// b with b₀a + b₁b + b₂c = p for a point p of the triangle.
Vec3 barycentric(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c) {
  const Vec3 normal = (b - a).cross(c - a);
  const double area2 = normal.squaredNorm();
  if (!(area2 > 0)) return Vec3::Constant(1.0 / 3);
  Vec3 w(normal.dot((b - p).cross(c - p)), normal.dot((c - p).cross(a - p)), normal.dot((a - p).cross(b - p)));
  w = (w / area2).cwiseMax(0.0);
  return w / w.sum();
}

/// Vertices with flesh of another part around them: just outside the skin, or twice just inside.
std::vector<char> inside_others(const Surface& surface, const WindingNumber& winding, double edge) {
  const std::vector<Vec3> normals = vertex_normals(surface.triangles, surface.vertices);
  std::vector<char> result(surface.vertices.size(), 0);
  parallel_for(std::ssize(result), 256, [&](std::int64_t i) {
    const auto v = to_size(i);
    const Vec3 step = probe * edge * normals[v];
    result[v] = winding(surface.vertices[v] + step) > 0.5 || winding(surface.vertices[v] - step) > 1.5;
  });
  return result;
}

class ContactSearch {
 public:
  ContactSearch(const Surface& neutral, const Surface& posed, const SelfContactSettings& settings)
      : posed_(posed),
        settings_(settings),
        tree_(posed),
        graph_(neutral),
        edge_(EdgeGraph(posed).mean_length),
        winding_(tree_),
        buried_(inside_others(posed, winding_, edge_)),
        normals_(vertex_normals(posed.triangles, posed.vertices)),
        faces_(triangle_normals(posed)) {
    const TriangleTree tree(neutral);
    built_in_ = inside_others(neutral, WindingNumber(tree), graph_.mean_length);
  }

  /// The contact of a vertex of the boundary, in the boundary's numbers.
  std::optional<SelfContact> contact_of(Index v) const {
    const Vec3& x = posed_.vertices[to_size(v)];
    const Vec3& n = normals_[to_size(v)];
    if (built_in_[to_size(v)] != 0) return std::nullopt;
    const bool buried = buried_[to_size(v)] != 0;
    const double slack = touching * edge_, most = settings_.tolerance * edge_ + slack;
    std::vector<Index> neighbours;
    std::optional<SelfContact> best;
    visit_near_triangles(tree_, x, buried ? std::numeric_limits<double>::infinity() : most,
                         [&](std::size_t place, double& reach) {
                           const Index t = tree_.triangle(place);
                           const Vec3& face = faces_[to_size(t)];
                           if (!(face.dot(n) < -settings_.facing)) return;
                           const auto& [a, b, c] = tree_.corners()[place];
                           const Vec3 point = nearest_point_of_triangle(x, a, b, c), offset = x - point;
                           const double distance = offset.norm();
                           if (!(distance < reach)) return;
                           const bool ahead = offset.dot(face) >= -slack && offset.dot(n) <= slack && distance <= most;
                           const bool behind = buried && offset.dot(face) <= slack && overlaps(x, point, n);
                           if (!ahead && !behind) return;
                           if (neighbours.empty())
                             neighbours = graph_.near(v, settings_.neighbourhood * graph_.mean_length);
                           if (belongs_together(neighbours, t)) return;
                           reach = distance;
                           best = {v, posed_.triangles[to_size(t)], barycentric(point, a, b, c), face,
                                   behind && !ahead ? -distance : distance};
                         });
    return best;
  }

 private:
  /// Between two sides that have passed through each other there is flesh of both; else the point lies at the far side
  /// of the vertex's own part. A little off the middle, so that vertices on rims look into the flesh.
  bool overlaps(const Vec3& x, const Vec3& point, const Vec3& n) const {
    return (x - point).norm() < 2 * probe * edge_ || winding_(0.5 * (x + point) - probe * edge_ * n) > 1.5;
  }
  bool belongs_together(const std::vector<Index>& neighbours, Index triangle) const {
    const Triangle& corners = posed_.triangles[to_size(triangle)];
    return std::any_of(corners.begin(), corners.end(),
                       [&](Index corner) { return std::binary_search(neighbours.begin(), neighbours.end(), corner); });
  }

  const Surface& posed_;
  SelfContactSettings settings_;
  TriangleTree tree_;
  EdgeGraph graph_;
  double edge_;
  WindingNumber winding_;
  std::vector<char> buried_;
  std::vector<char> built_in_;  // buried in the neutral pose: eyes, claws
  std::vector<Vec3> normals_, faces_;
};

}  // namespace

Vec3 SelfContact::relative(const VecX& u) const {
  Vec3 result = u.segment<3>(3 * vertex);
  for (std::size_t k = 0; k < 3; ++k) result -= weights[static_cast<Eigen::Index>(k)] * u.segment<3>(3 * triangle[k]);
  return result;
}

Result<std::vector<SelfContact>> find_self_contacts(const TetMesh& mesh, std::span<const Vec3> positions,
                                                    const SelfContactSettings& settings) {
  if (positions.size() != mesh.vertices.size()) {
    return input_error(
        fmt::format("the pose has {} positions, but the mesh has {} vertices", positions.size(), mesh.vertices.size()));
  }
  const BoundarySurface boundary = boundary_surface(mesh);
  const std::vector<Index>& volume_vertex = boundary.volume_vertex;
  Surface posed = boundary.surface;
  for (std::size_t v = 0; v < posed.vertices.size(); ++v) posed.vertices[v] = positions[to_size(volume_vertex[v])];
  const ContactSearch search(boundary.surface, posed, settings);
  std::vector<std::optional<SelfContact>> found(posed.vertices.size());
  parallel_for(std::ssize(found), 64,
               [&](std::int64_t v) { found[to_size(v)] = search.contact_of(static_cast<Index>(v)); });
  std::vector<SelfContact> contacts;
  for (const std::optional<SelfContact>& contact : found) {
    if (!contact) continue;
    contacts.push_back(*contact);
    contacts.back().vertex = volume_vertex[to_size(contact->vertex)];
    for (Index& corner : contacts.back().triangle) corner = volume_vertex[to_size(corner)];
  }
  return contacts;
}

SparseConstraints contact_constraints(std::span<const SelfContact> contacts, Index vertex_count, ContactKind kind,
                                      ContactAgainst against) {
  std::vector<Eigen::Triplet<double>> entries;
  Index row = 0;
  const auto add_row = [&](const SelfContact& contact, const Vec3& direction) {
    for (Index axis = 0; axis < 3; ++axis) {
      entries.emplace_back(row, 3 * contact.vertex + axis, direction[axis]);
      if (against == ContactAgainst::world) continue;
      for (std::size_t k = 0; k < 3; ++k)
        entries.emplace_back(row, 3 * contact.triangle[k] + axis,
                             -contact.weights[static_cast<Eigen::Index>(k)] * direction[axis]);
    }
    ++row;
  };
  for (const SelfContact& contact : contacts) {
    if (kind == ContactKind::sliding) {
      add_row(contact, contact.normal);
    } else {
      for (int axis = 0; axis < 3; ++axis) add_row(contact, Vec3::Unit(axis));
    }
  }
  SparseConstraints C(row, 3 * vertex_count);
  C.setFromTriplets(entries.begin(), entries.end());
  return C;
}

}  // namespace supple
