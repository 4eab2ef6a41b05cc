// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/meshing/slits.h"

#include "supple/mesh/disjoint_sets.h"

#include <algorithm>
#include <map>
#include <utility>

namespace supple {
namespace {

/// What surrounds one node: in each of the 24 lattice tetrahedra around its site, the nodes that share its group.
class NodeSurroundings {
 public:
  NodeSurroundings(const std::vector<Stencil>& stencils, const std::vector<Index>& mine, Index node,
                   const BccLattice& lattice) {
    for (const Index s : mine) {
      const Stencil& stencil = stencils[to_size(s)];
      const auto corners = BccLattice::tet(lattice.coordinates(stencil.corner), stencil.tet);
      Far& far = far_.emplace_back();
      std::size_t n = 0;
      for (std::size_t k = 0; k < 4; ++k) {
        if (stencil.node[k] != node) far[n++] = {lattice.site(corners[k]), stencil.node[k]};
      }
      std::sort(far.begin(), far.end());
    }
    find_slits();
  }

  /// Is the flesh around the node a ball, or one with a single slit?
  bool sound() const { return slits_.empty() || (slit_pieces() == 1 && !crowded()); }

  /// Nodes that are held with this one somewhere.
  std::vector<Index> held() const {
    std::vector<Index> all;
    for (const Far& far : far_) {
      for (const auto& [site, node] : far) {
        if (node >= 0) all.push_back(node);
      }
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

 private:
  using Corner = std::pair<Site, Index>;  ///< and the node there, -1 if it isn't of the group
  using Far = std::array<Corner, 3>;      ///< the triangle opposite to the node

  /// Two triangles that share a side whose ends they don't see alike have a slit between them.
  void find_slits() {
    std::map<std::array<Site, 2>, std::array<Corner, 2>> first;
    for (const Far& far : far_) {
      for (std::size_t k = 0; k < 3; ++k) {
        const Corner& a = far[std::min((k + 1) % 3, (k + 2) % 3)];
        const Corner& b = far[std::max((k + 1) % 3, (k + 2) % 3)];
        const auto [other, fresh] = first.try_emplace({a.first, b.first}, std::array<Corner, 2>{a, b});
        if (!fresh && other->second != std::array<Corner, 2>{a, b}) slits_.push_back({a.first, b.first});
      }
    }
  }

  int slit_pieces() const {
    std::vector<Site> ends;
    for (const auto& slit : slits_) ends.insert(ends.end(), slit.begin(), slit.end());
    std::sort(ends.begin(), ends.end());
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    const auto number = [&](Site s) {
      return static_cast<Index>(std::lower_bound(ends.begin(), ends.end(), s) - ends.begin());
    };
    DisjointSets sets(ends.size());
    auto pieces = static_cast<int>(ends.size());
    for (const auto& slit : slits_) {
      const Index a = number(slit[0]), b = number(slit[1]);
      if (sets.find(a) == sets.find(b)) return 0;  // a slit all around
      sets.unite(a, b);
      --pieces;
    }
    return pieces;
  }

  /// Do slits divide the tetrahedra around an edge from the node into several fans that see its end alike?
  bool crowded() const {
    for (const auto& slit : slits_) {
      for (const Site end : slit) {
        if (!fans_differ(end)) return true;
      }
    }
    return false;
  }

  bool fans_differ(Site end) const {
    std::vector<std::size_t> ring;
    for (std::size_t f = 0; f < far_.size(); ++f) {
      if (std::any_of(far_[f].begin(), far_[f].end(), [&](const Corner& c) { return c.first == end; }))
        ring.push_back(f);
    }
    DisjointSets fans(ring.size());
    for (std::size_t i = 0; i < ring.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (share_side(far_[ring[i]], far_[ring[j]])) fans.unite(static_cast<Index>(i), static_cast<Index>(j));
      }
    }
    std::map<Index, Index> fan_of;  // by what it sees at the end
    for (std::size_t i = 0; i < ring.size(); ++i) {
      const Far& far = far_[ring[i]];
      const Index node = std::find_if(far.begin(), far.end(), [&](const Corner& c) { return c.first == end; })->second;
      const Index fan = fans.find(static_cast<Index>(i));
      if (fan_of.try_emplace(node, fan).first->second != fan) return false;
    }
    return true;
  }

  static bool share_side(const Far& a, const Far& b) {
    return std::count_if(a.begin(), a.end(),
                         [&](const Corner& c) { return std::find(b.begin(), b.end(), c) != b.end(); }) == 2;
  }

  std::vector<Far> far_;
  std::vector<std::array<Site, 2>> slits_;
};

/// Nodes in stencils that hold two together that aren't linked, with all stencils around each.
std::map<Index, std::vector<Index>> nodes_at_slits(const std::vector<Stencil>& stencils, const BccLattice& lattice,
                                                   const FleshNodes& nodes) {
  std::map<Index, std::vector<Index>> found;
  for (const Stencil& stencil : stencils) {
    bool whole = true;
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = i + 1; j < 4; ++j) {
        const Index a = stencil.node[i], b = stencil.node[j];
        whole = whole && (a < 0 || b < 0 || nodes.linked(a, b, lattice));
      }
    }
    for (const Index n : stencil.node) {
      if (!whole && n >= 0) found[n];
    }
  }
  for (std::size_t s = 0; s < stencils.size(); ++s) {
    for (const Index n : stencils[s].node) {
      const auto place = n >= 0 ? found.find(n) : found.end();
      if (place != found.end()) place->second.push_back(static_cast<Index>(s));
    }
  }
  return found;
}

/// Is it the only node at its site?
bool alone(const FleshNodes& nodes, Index node) {
  const Site site = nodes.site[to_size(node)];
  const auto s = to_size(site);
  const std::size_t thin = nodes.has_thin[s] ? nodes.thin_at.at(site).size() : 0;
  return thin + (nodes.real_at[s] >= 0 ? 1 : 0) == 1;
}

}  // namespace

bool settle_nodes(const std::vector<Stencil>& stencils, const BccLattice& lattice, FleshNodes& nodes) {
  bool any = false;
  for (const auto& [node, mine] : nodes_at_slits(stencils, lattice, nodes)) {
    const NodeSurroundings around(stencils, mine, node, lattice);
    if (around.sound()) continue;
    for (const Index other : around.held()) {
      if (nodes.linked(node, other, lattice) || !alone(nodes, node) || !alone(nodes, other)) continue;
      nodes.add_link(node, other, lattice);
      any = true;
    }
  }
  return any;
}

}  // namespace supple
