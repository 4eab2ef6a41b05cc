// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/meshing/skin_thinning.h"

#include "supple/mesh/topology.h"
#include "supple/offline/meshing/surface_fit.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <tuple>

namespace supple {
namespace {

using Tet = TetMesh::Element;
using Pair = std::array<Index, 2>;

double cosine(double degrees) { return std::cos(degrees * std::numbers::pi / 180); }

bool has_vertex(const Tet& tet, Index v) { return std::find(tet.begin(), tet.end(), v) != tet.end(); }

/// What touches a vertex. All lists are sorted.
struct VertexLink {
  std::vector<Index> vertices;
  std::vector<Pair> edges;       ///< far sides of its faces
  std::vector<Pair> skin_edges;  ///< far sides of its faces on the skin
  std::vector<Index> rim;        ///< ends of its edges on the skin
};

template <class T>
void sort_unique(std::vector<T>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

template <class T>
std::size_t common(const std::vector<T>& a, const std::vector<T>& b) {
  std::size_t count = 0;
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
    if (*x == *y)
      ++count, ++x, ++y;
    else
      *x < *y ? ++x : ++y;
  }
  return count;
}

class Thinner {
 public:
  Thinner(StuffedMesh& stuffed, const ThinningOptions& options)
      : stuffed_(stuffed),
        mesh_(stuffed.mesh),
        worst_cosine_(cosine(options.min_dihedral)),
        least_facing_(cosine(options.most_bend)),
        longest_(options.longest_edge * stuffed.cube),
        around_(mesh_.vertices.size()),
        dropped_(mesh_.elements.size(), 0) {
    for (std::size_t e = 0; e < mesh_.elements.size(); ++e) {
      for (const Index v : mesh_.elements[e]) around_[to_size(v)].push_back(static_cast<Index>(e));
    }
  }

  /// One pass over the edges of the skin, shortest first. How many were contracted?
  int pass() {
    int contracted = 0;
    for (const auto& [length, a, b] : short_edges()) {
      // What has moved meanwhile waits for the next pass.
      if (dead(a) || dead(b) || distance(a, b) > 1.001 * length) continue;
      contracted += contract(a, b) ? 1 : 0;
    }
    return contracted;
  }

  void finish() {
    std::size_t kept = 0;
    for (std::size_t e = 0; e < mesh_.elements.size(); ++e) {
      if (!dropped_[e]) mesh_.elements[kept++] = mesh_.elements[e];
    }
    mesh_.elements.resize(kept);
    drop_unused_vertices(stuffed_);
  }

 private:
  const Vec3& at(Index v) const { return mesh_.vertices[to_size(v)]; }
  const Tet& tet(Index e) const { return mesh_.elements[to_size(e)]; }
  const std::vector<Index>& around(Index v) const { return around_[to_size(v)]; }
  double distance(Index a, Index b) const { return (at(a) - at(b)).norm(); }
  bool dead(Index v) const { return around(v).empty(); }
  bool is_cut(Index v) const { return stuffed_.kind[to_size(v)] == VertexKind::cut; }

  std::vector<std::tuple<double, Index, Index>> short_edges() const {
    std::vector<std::tuple<double, Index, Index>> edges;
    TetMesh living;
    living.vertices = mesh_.vertices;
    for (std::size_t e = 0; e < mesh_.elements.size(); ++e) {
      if (!dropped_[e]) living.elements.push_back(mesh_.elements[e]);
    }
    const BoundarySurface skin = boundary_surface(living);
    for (const Triangle& t : skin.surface.triangles) {
      for (std::size_t k = 0; k < 3; ++k) {
        const Index a = skin.volume_vertex[to_size(t[k])];
        const Index b = skin.volume_vertex[to_size(t[(k + 1) % 3])];
        if (a < b && is_cut(a) && is_cut(b) && distance(a, b) < longest_) edges.emplace_back(distance(a, b), a, b);
      }
    }
    std::sort(edges.begin(), edges.end());
    return edges;
  }

  bool contract(Index a, Index b) {
    const Vec3 middle = 0.5 * (at(a) + at(b));
    Vec3 best = middle;
    double least = 2;
    for (const Vec3& x : {middle, Vec3(at(a)), Vec3(at(b))}) {
      const double worst = std::max(worst_around(a, b, x), worst_around(b, a, x));
      if (worst < least) best = x, least = worst;
    }
    if (least > worst_cosine_) return false;
    find_link(a, link_a_);
    find_link(b, link_b_);
    if (!keeps_topology(a, b) || !keeps_facing(a, link_a_, b, best) || !keeps_facing(b, link_b_, a, best)) return false;
    merge(a, b, best);
    return true;
  }

  /// Largest cosine of a dihedral angle around `moved` at x, not counting what the edge to `other` takes away.
  double worst_around(Index moved, Index other, const Vec3& x) const {
    double worst = -1;
    for (const Index e : around(moved)) {
      if (has_vertex(tet(e), other)) continue;
      std::array<Vec3, 4> corners;
      for (std::size_t c = 0; c < 4; ++c) corners[c] = tet(e)[c] == moved ? x : at(tet(e)[c]);
      worst = std::max(worst, largest_dihedral_cosine(corners));
      if (worst > worst_cosine_) return 2;
    }
    return worst;
  }

  void find_link(Index v, VertexLink& link) const {
    link.vertices.clear();
    link.edges.clear();
    link.skin_edges.clear();
    link.rim.clear();
    for (const Index e : around(v)) {
      std::array<Index, 3> far{};
      std::size_t n = 0;
      for (const Index u : tet(e)) {
        if (u != v) far[n++] = u;
      }
      std::sort(far.begin(), far.end());
      link.vertices.insert(link.vertices.end(), far.begin(), far.end());
      link.edges.insert(link.edges.end(), {{far[0], far[1]}, {far[0], far[2]}, {far[1], far[2]}});
    }
    sort_unique(link.vertices);
    std::sort(link.edges.begin(), link.edges.end());
    for (std::size_t i = 0, j = 0; i < link.edges.size(); i = j) {
      for (j = i; j < link.edges.size() && link.edges[j] == link.edges[i];) ++j;
      if (j - i == 1) link.skin_edges.push_back(link.edges[i]);
    }
    sort_unique(link.edges);
    for (const Pair& side : link.skin_edges) link.rim.insert(link.rim.end(), side.begin(), side.end());
    sort_unique(link.rim);
  }

  /// The link condition, inside and on the skin.
  bool keeps_topology(Index a, Index b) const {
    std::vector<Index> vertices;
    std::size_t edges = 0;
    for (const Index e : around(a)) {
      if (!has_vertex(tet(e), b)) continue;
      ++edges;
      for (const Index v : tet(e)) {
        if (v != a && v != b) vertices.push_back(v);
      }
    }
    sort_unique(vertices);
    const auto skin_faces = to_size(std::count_if(link_a_.skin_edges.begin(), link_a_.skin_edges.end(),
                                                  [&](const Pair& s) { return s[0] == b || s[1] == b; }));
    return skin_faces == 2 && common(link_a_.vertices, link_b_.vertices) == vertices.size() &&
           common(link_a_.edges, link_b_.edges) == edges && common(link_a_.rim, link_b_.rim) == skin_faces &&
           common(link_a_.skin_edges, link_b_.skin_edges) == 0;
  }

  /// Do the triangles of the skin around `moved` look about the same way when it is at x?
  bool keeps_facing(Index moved, const VertexLink& link, Index other, const Vec3& x) const {
    return std::all_of(link.skin_edges.begin(), link.skin_edges.end(), [&](const Pair& s) {
      if (s[0] == other || s[1] == other) return true;
      const Vec3 side = at(s[1]) - at(s[0]);
      const Vec3 before = side.cross(at(moved) - at(s[0])), after = side.cross(x - at(s[0]));
      return before.dot(after) > least_facing_ * before.norm() * after.norm();
    });
  }

  void merge(Index a, Index b, const Vec3& x) {
    const auto to = to_size(a), from = to_size(b);
    mesh_.vertices[to] = x;
    stuffed_.wish[to] = 0.5 * (stuffed_.wish[to] + stuffed_.wish[from]);
    stuffed_.normal[to] = (stuffed_.normal[to] + stuffed_.normal[from]).normalized();
    for (const Index e : around_[from]) {
      if (has_vertex(tet(e), a)) {
        drop(e, b);
        continue;
      }
      for (Index& v : mesh_.elements[to_size(e)]) {
        if (v == b) v = a;
      }
      around_[to].push_back(e);
    }
    around_[from].clear();
  }

  void drop(Index e, Index but) {
    dropped_[to_size(e)] = 1;
    for (const Index v : tet(e)) {
      if (v != but) std::erase(around_[to_size(v)], e);
    }
  }

  StuffedMesh& stuffed_;
  TetMesh& mesh_;
  double worst_cosine_, least_facing_, longest_;
  std::vector<std::vector<Index>> around_;  // per vertex: its tetrahedra
  std::vector<char> dropped_;               // per tetrahedron
  VertexLink link_a_, link_b_;
};

}  // namespace

double expected_thinning(const FleshNodes& nodes, const std::vector<Stencil>& stencils) {
  constexpr double share = 0.18;  // 0.16 to 0.22 for all sorts of characters
  std::vector<Stencil> cut;
  std::copy_if(stencils.begin(), stencils.end(), std::back_inserter(cut), [&](const Stencil& stencil) {
    const auto& node = stencil.node;
    return std::any_of(node.begin(), node.end(), [](Index n) { return n < 0; }) &&
           std::none_of(node.begin(), node.end(), [&](Index n) { return n >= 0 && nodes.is_thin(n); });
  });
  return share * static_cast<double>(count_tets(cut));
}

void thin_skin(StuffedMesh& stuffed, const ThinningOptions& options) {
  Thinner thinner(stuffed, options);
  constexpr int passes = 3;
  for (int k = 0; k < passes; ++k) {
    if (thinner.pass() == 0) break;
  }
  thinner.finish();
}

}  // namespace supple
