// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/meshing/manifold_skin.h"

#include "supple/mesh/disjoint_sets.h"
#include "supple/mesh/topology.h"
#include "supple/offline/meshing/surface_fit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <set>

namespace supple {
namespace {

using Edge = std::array<Index, 2>;
using Tet = TetMesh::Element;

bool holds(const Tet& tet, Index v) { return std::find(tet.begin(), tet.end(), v) != tet.end(); }

/// Do two tetrahedra share three vertices?
bool share_face(const Tet& a, const Tet& b) {
  return std::count_if(a.begin(), a.end(), [&](Index v) { return holds(b, v); }) == 3;
}

std::vector<Index> piece_sizes(const Components& pieces) {
  std::vector<Index> size(to_size(pieces.count), 0);
  for (const Index label : pieces.label) ++size[to_size(label)];
  return size;
}

class Mender {
 public:
  explicit Mender(StuffedMesh& stuffed) : stuffed_(stuffed), mesh_(stuffed.mesh) {}

  ManifoldRepairs run() {
    constexpr int rounds = 20;
    for (int k = 0; k < rounds; ++k) {
      split_vertices();
      if (!mend_edges()) break;
    }
    split_vertices();
    drop_crumbs();
    return repairs_;
  }

  /// Keeps the tetrahedra of pieces for which `keep(piece)` is true, and the vertices that they use.
  template <class Keep>
  void keep_pieces(const Components& pieces, const Keep& keep) {
    std::vector<Tet> kept;
    for (std::size_t e = 0; e < mesh_.elements.size(); ++e) {
      if (keep(to_size(pieces.label[e]))) kept.push_back(mesh_.elements[e]);
    }
    repairs_.dropped_tets += static_cast<Index>(mesh_.elements.size() - kept.size());
    mesh_.elements = std::move(kept);
    drop_unused_vertices(stuffed_);
  }

 private:
  /// Tetrahedra around the vertices where the skin isn't a single fan of triangles: only there can it be torn or
  /// crowded.
  void gather(const BoundarySurface& skin) {
    const std::vector<char> wanted = knotted_vertices(skin);
    around_.assign(mesh_.vertices.size(), {});
    for (std::size_t e = 0; e < mesh_.elements.size(); ++e) {
      for (const Index v : mesh_.elements[e]) {
        if (wanted[to_size(v)]) around_[to_size(v)].push_back(static_cast<Index>(e));
      }
    }
  }

  std::vector<char> knotted_vertices(const BoundarySurface& skin) const {
    std::vector<std::vector<Edge>> fan(skin.volume_vertex.size());  // per vertex: the far sides of its triangles
    for (const Triangle& t : skin.surface.triangles) {
      for (std::size_t k = 0; k < 3; ++k) fan[to_size(t[k])].push_back({t[(k + 1) % 3], t[(k + 2) % 3]});
    }
    std::vector<char> knotted(mesh_.vertices.size(), 0);
    for (std::size_t v = 0; v < fan.size(); ++v) {
      // Walk around: each side begins where one before it ends. A single fan comes home after all of them.
      std::size_t steps = 0;
      Index at = fan[v][0][0];
      bool fork = false;
      do {
        Index next = -1;
        for (const auto& [from, to] : fan[v]) {
          if (from != at) continue;
          fork = fork || next >= 0;
          next = to;
        }
        at = next;
      } while (!fork && at >= 0 && at != fan[v][0][0] && ++steps < fan[v].size());
      if (fork || steps + 1 != fan[v].size()) knotted[to_size(skin.volume_vertex[v])] = 1;
    }
    return knotted;
  }

  const Tet& tet(Index e) const { return mesh_.elements[to_size(e)]; }

  /// Groups of tetrahedra that hang together through faces; largest first, then in order of their first.
  std::vector<std::vector<Index>> face_groups(const std::vector<Index>& tets) const {
    DisjointSets sets(tets.size());
    for (std::size_t i = 0; i < tets.size(); ++i) {
      for (std::size_t j = i + 1; j < tets.size(); ++j) {
        if (share_face(tet(tets[i]), tet(tets[j]))) sets.unite(static_cast<Index>(i), static_cast<Index>(j));
      }
    }
    std::map<Index, std::vector<Index>> groups;
    for (std::size_t i = 0; i < tets.size(); ++i) groups[sets.find(static_cast<Index>(i))].push_back(tets[i]);
    std::vector<std::vector<Index>> sorted;
    for (auto& [root, group] : groups) sorted.push_back(std::move(group));
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
    return sorted;
  }

  Index copy_vertex(Index v) {
    const auto k = to_size(v);
    mesh_.vertices.push_back(Vec3(mesh_.vertices[k]));
    stuffed_.wish.push_back(Vec3(stuffed_.wish[k]));
    stuffed_.normal.push_back(Vec3(stuffed_.normal[k]));
    stuffed_.kind.push_back(VertexKind(stuffed_.kind[k]));
    stuffed_.node.push_back(Index(stuffed_.node[k]));
    return static_cast<Index>(mesh_.vertices.size()) - 1;
  }

  void replace(Index e, Index from, Index to) {
    for (Index& v : mesh_.elements[to_size(e)]) {
      if (v == from) v = to;
    }
  }

  void split_vertices() {
    gather(boundary_surface(mesh_));
    const auto count = static_cast<Index>(mesh_.vertices.size());
    for (Index v = 0; v < count; ++v) {
      if (around_[to_size(v)].size() < 2) continue;
      const auto groups = face_groups(around_[to_size(v)]);
      for (std::size_t g = 1; g < groups.size(); ++g) {
        const Index copy = copy_vertex(v);
        for (const Index e : groups[g]) replace(e, v, copy);
        ++repairs_.split_vertices;
      }
    }
  }

  /// Edges of the skin with more than two of its triangles, ascending.
  std::vector<Edge> crowded_edges(const BoundarySurface& skin) const {
    std::vector<Edge> sides;
    for (const Triangle& t : skin.surface.triangles) {
      for (std::size_t k = 0; k < 3; ++k) {
        const Index a = skin.volume_vertex[to_size(t[k])];
        const Index b = skin.volume_vertex[to_size(t[(k + 1) % 3])];
        sides.push_back({std::min(a, b), std::max(a, b)});
      }
    }
    std::sort(sides.begin(), sides.end());
    std::vector<Edge> crowded;
    for (std::size_t i = 0, j = 0; i < sides.size(); i = j) {
      for (j = i; j < sides.size() && sides[j] == sides[i];) ++j;
      if (j - i > 2) crowded.push_back(sides[i]);
    }
    return crowded;
  }

  /// One round; true if there was anything to do.
  bool mend_edges() {
    const BoundarySurface skin = boundary_surface(mesh_);
    const std::vector<Edge> crowded = crowded_edges(skin);
    if (crowded.empty()) return false;
    gather(skin);
    touched_.assign(mesh_.elements.size(), 0);
    dropped_.assign(mesh_.elements.size(), 0);
    for (const Edge& edge : crowded) mend(edge);
    std::vector<Tet> kept;
    for (std::size_t e = 0; e < mesh_.elements.size(); ++e) {
      if (e >= dropped_.size() || !dropped_[e]) kept.push_back(mesh_.elements[e]);
    }
    mesh_.elements = std::move(kept);
    return true;
  }

  void mend(const Edge& edge) {
    std::vector<Index> ring;
    for (const Index e : around_[to_size(edge[0])]) {
      if (!holds(tet(e), edge[1]) || !holds(tet(e), edge[0])) continue;
      if (touched_[to_size(e)]) return;  // next round
      ring.push_back(e);
    }
    const auto fans = face_groups(ring);
    for (const Index e : ring) touched_[to_size(e)] = 1;
    for (std::size_t f = 1; f < fans.size(); ++f) {
      if (can_halve(fans[f], edge)) {
        halve(fans[f], edge);
      } else {
        for (const Index e : fans[f]) dropped_[to_size(e)] = 1;
        repairs_.dropped_tets += static_cast<Index>(fans[f].size());
      }
    }
  }

  bool can_halve(const std::vector<Index>& fan, const Edge& edge) const {
    const double limit = std::cos(10.6 * std::numbers::pi / 180);
    const Vec3 middle = 0.5 * (mesh_.vertices[to_size(edge[0])] + mesh_.vertices[to_size(edge[1])]);
    return std::all_of(fan.begin(), fan.end(), [&](Index e) {
      return std::all_of(edge.begin(), edge.end(), [&](Index moved) {
        std::array<Vec3, 4> x;
        for (std::size_t c = 0; c < 4; ++c) x[c] = tet(e)[c] == moved ? middle : mesh_.vertices[to_size(tet(e)[c])];
        return largest_dihedral_cosine(x) <= limit;
      });
    });
  }

  void halve(const std::vector<Index>& fan, const Edge& edge) {
    const Vec3 middle = 0.5 * (mesh_.vertices[to_size(edge[0])] + mesh_.vertices[to_size(edge[1])]);
    const Index v = copy_vertex(edge[0]);
    mesh_.vertices.back() = stuffed_.wish.back() = middle;
    stuffed_.normal.back().setZero();
    stuffed_.kind.back() = VertexKind::cut;
    stuffed_.node.back() = -1;
    for (const Index e : fan) {
      mesh_.elements.push_back(Tet(tet(e)));
      replace(e, edge[0], v);
      replace(static_cast<Index>(mesh_.elements.size()) - 1, edge[1], v);
    }
    repairs_.halved_tets += static_cast<Index>(fan.size());
  }

  /// Bits that hung on by a vertex alone. A piece of flesh of its own has 24 tetrahedra at least, around one node.
  void drop_crumbs() {
    const Components pieces = connected_components(mesh_);
    const std::vector<Index> size = piece_sizes(pieces);
    keep_pieces(pieces, [&](std::size_t piece) { return size[piece] >= 24; });
  }

  StuffedMesh& stuffed_;
  TetMesh& mesh_;
  std::vector<std::vector<Index>> around_;
  std::vector<char> touched_, dropped_;
  ManifoldRepairs repairs_;
};

}  // namespace

ManifoldRepairs make_skin_manifold(StuffedMesh& stuffed) { return Mender(stuffed).run(); }

void drop_strays(const std::vector<NodeLink>& torn, StuffedMesh& stuffed) {
  constexpr Index stray = 60;  // tetrahedra
  if (torn.empty()) return;
  const Components pieces = connected_components(stuffed.mesh);
  const std::vector<Index> size = piece_sizes(pieces);
  std::map<Index, std::set<Index>> pieces_of;
  for (const auto& [a, b] : torn) pieces_of[a], pieces_of[b];
  for (std::size_t e = 0; e < pieces.label.size(); ++e) {
    for (const Index v : stuffed.mesh.elements[e]) {
      const auto found = pieces_of.find(stuffed.node[to_size(v)]);
      if (found != pieces_of.end()) found->second.insert(pieces.label[e]);
    }
  }
  std::vector<char> lost(size.size(), 0);
  for (const auto& [a, b] : torn) {
    std::set<Index> together = pieces_of[a];
    together.insert(pieces_of[b].begin(), pieces_of[b].end());
    const auto size_of = [&](Index piece) { return size[to_size(piece)]; };
    const Index largest =
        *std::max_element(together.begin(), together.end(), [&](Index x, Index y) { return size_of(x) < size_of(y); });
    for (const Index piece : together) {
      if (size_of(piece) < std::min(stray, size_of(largest))) lost[to_size(piece)] = 1;
    }
  }
  Mender(stuffed).keep_pieces(pieces, [&](std::size_t piece) { return !lost[piece]; });
}

}  // namespace supple
