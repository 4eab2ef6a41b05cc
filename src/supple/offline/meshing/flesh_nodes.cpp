// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/meshing/flesh_nodes.h"

#include "supple/base/parallel.h"
#include "supple/offline/meshing/thin_pieces.h"

namespace supple {
namespace {

void add_real_nodes(const LatticeField& field, const BccLattice& lattice, FleshNodes& nodes) {
  nodes.real_at.assign(field.inside.size(), -1);
  for (std::size_t s = 0; s < field.inside.size(); ++s) {
    if (!field.inside[s]) continue;
    nodes.real_at[s] = static_cast<Index>(nodes.site.size());
    nodes.site.push_back(static_cast<Site>(s));
    nodes.center.push_back(lattice.position(static_cast<Site>(s)));
  }
  nodes.real = static_cast<Index>(nodes.site.size());
}

void set_joined(FleshNodes& nodes, Index a, Index b, int direction) {
  nodes.joined[to_size(a)] |= static_cast<std::uint16_t>(1u << direction);
  nodes.joined[to_size(b)] |= static_cast<std::uint16_t>(1u << (13 - direction));
}

void join_real_nodes(const Flesh& flesh, const LatticeField& field, const BccLattice& lattice, bool keep_separate,
                     FleshNodes& nodes) {
  constexpr int forward = BccLattice::neighbor_count / 2;
  nodes.joined.assign(nodes.site.size(), 0);
  std::vector<std::uint16_t> found(nodes.site.size(), 0);
  parallel_for(nodes.real, 256, [&](std::int64_t n) {
    const auto a = to_size(n);
    const bool near = field.near[to_size(nodes.site[a])] != 0;
    for (int d = 0; d < forward; ++d) {
      const Index b = nodes.real_neighbor(static_cast<Index>(n), d, lattice);
      if (b < 0) continue;
      const bool joined = !near || !keep_separate || flesh.joins_over_dents(nodes.center[a], nodes.center[to_size(b)]);
      if (joined) found[a] |= static_cast<std::uint16_t>(1u << d);
    }
  });
  for (Index a = 0; a < nodes.real; ++a) {
    for (int d = 0; d < forward; ++d) {
      if ((found[to_size(a)] >> d) & 1) set_joined(nodes, a, nodes.real_neighbor(a, d, lattice), d);
    }
  }
}

}  // namespace

FleshNodes find_flesh_nodes(const Flesh& flesh, const Surface& soup, const BccLattice& lattice, bool keep_separate) {
  FleshNodes nodes;
  const LatticeField field = sample_lattice(flesh, lattice);
  add_real_nodes(field, lattice, nodes);
  join_real_nodes(flesh, field, lattice, keep_separate, nodes);
  keep_thin_pieces(flesh, lattice, find_thin_pieces(flesh, soup, lattice, nodes), nodes);
  return nodes;
}

}  // namespace supple
