// SPDX-License-Identifier: Apache-2.0
// Flesh nodes once they are found: who is linked to whom, and more links where there are too few.
#include "supple/offline/meshing/flesh_nodes.h"

#include <algorithm>
#include <utility>

namespace supple {

Index FleshNodes::real_neighbor(Index node, int direction, const BccLattice& lattice) const {
  const auto x = BccLattice::step(lattice.coordinates(site[to_size(node)]), direction);
  return lattice.holds(x) ? real_at[to_size(lattice.site(x))] : -1;
}

bool FleshNodes::linked(Index a, Index b, const BccLattice& lattice) const {
  if (is_thin(a) || is_thin(b)) {
    const auto& list = links[to_size(a)];
    return std::binary_search(list.begin(), list.end(), b);
  }
  const int d =
      BccLattice::direction_between(lattice.coordinates(site[to_size(a)]), lattice.coordinates(site[to_size(b)]));
  return d >= 0 && ((joined[to_size(a)] >> d) & 1) != 0;
}

void FleshNodes::add_link(Index a, Index b, const BccLattice& lattice) {
  for (const auto& [from, to] : {NodeLink{a, b}, NodeLink{b, a}}) {
    if (is_thin(a) || is_thin(b)) {
      std::vector<Index>& list = links[to_size(from)];
      const auto place = std::lower_bound(list.begin(), list.end(), to);
      if (place == list.end() || *place != to) list.insert(place, to);
    } else {
      const int d = BccLattice::direction_between(lattice.coordinates(site[to_size(from)]),
                                                  lattice.coordinates(site[to_size(to)]));
      joined[to_size(from)] |= static_cast<std::uint16_t>(1u << d);
    }
  }
}

namespace {

/// Points that stand for a node: itself, or some of its samples.
std::vector<Vec3> viewpoints(const FleshNodes& nodes, Index node) {
  if (!nodes.is_thin(node)) return {nodes.center[to_size(node)]};
  constexpr std::size_t most = 8;
  const std::vector<Vec3>& samples = nodes.samples[to_size(node - nodes.real)];
  const std::size_t stride = std::max<std::size_t>(1, samples.size() / most);
  std::vector<Vec3> points;
  for (std::size_t k = 0; k < samples.size(); k += stride) points.push_back(samples[k]);
  return points;
}

/// Does flesh fill some straight way between two nodes?
bool in_view(const Flesh& flesh, const FleshNodes& nodes, Index a, Index b) {
  if (nodes.is_thin(b)) std::swap(a, b);  // a real node, if there is one, comes last
  const bool trusted = !nodes.is_thin(b);
  const std::vector<Vec3> from = viewpoints(nodes, a), to = viewpoints(nodes, b);
  return std::any_of(from.begin(), from.end(), [&](const Vec3& p) {
    return std::any_of(to.begin(), to.end(), [&](const Vec3& q) { return flesh.joins(p, q, trusted); });
  });
}

}  // namespace

bool widen_links(const std::vector<NodeLink>& threads, const Flesh* flesh, const BccLattice& lattice,
                 FleshNodes& nodes) {
  std::vector<NodeLink> web;
  std::size_t before = 0;
  for (const auto& list : nodes.links) before += list.size();
  for (const auto& [a, root] : threads) {
    web.push_back({a, root});
    for (int d = 0; d < BccLattice::neighbor_count && !nodes.is_thin(root); ++d) {
      const Index other = nodes.real_neighbor(root, d, lattice);
      if (other >= 0 && nodes.linked(root, other, lattice)) web.push_back({a, other});
    }
    for (const Index other : nodes.links[to_size(root)]) web.push_back({a, other});
  }
  for (const auto& [a, b] : web) {
    const auto x = lattice.coordinates(nodes.site[to_size(a)]);
    const auto y = lattice.coordinates(nodes.site[to_size(b)]);
    if (BccLattice::direction_between(x, y) < 0 || (!nodes.is_thin(a) && !nodes.is_thin(b))) continue;
    if (flesh != nullptr && !in_view(*flesh, nodes, a, b)) continue;
    nodes.links[to_size(a)].push_back(b);
    nodes.links[to_size(b)].push_back(a);
  }
  std::size_t after = 0;
  for (auto& list : nodes.links) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    after += list.size();
  }
  return after > before;
}

}  // namespace supple
