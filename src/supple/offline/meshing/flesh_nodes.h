// SPDX-License-Identifier: Apache-2.0
// Flesh nodes: the pieces of flesh around each lattice site, and which of them hang together.
//
// Stuffing a lattice loses what is thinner than a cell and fuses what shares one. Both have the same cure: a node is
// not a site but a connected piece of the flesh in a site's Voronoi cell. As a point walks through flesh, its nearest
// site passes from one neighbour on the lattice to the next, so pieces of one body always hang together by lattice
// edges, however thin it is, and pieces of two bodies never do, however near they come.
//
//   real nodes     sites inside the flesh, linked along lattice edges that stay in the flesh all the way;
//   thin nodes     pieces that no real node sees: made of surface samples nearest to one site, held together by the
//                  surface and by straight views through the flesh. A site may have several, beside a real one.
//
// Pieces and links together are the nerve of a cover of the flesh by cells, and so have its topology, however thin it
// is. But thin nodes all around ordinary flesh would fatten it by half a cell. A thin node stays where a quarter of its
// samples lie in lattice tetrahedra without a real node that sees them. The others are peeled off one by one where they
// are simple: where what a node is linked to hangs together without a hole, the complex without it has the same
// topology (as in thinning digital pictures; Kong and Rosenfeld 1989). So hardly a wing is perforated and nothing comes
// off, wherever the lattice falls. Links are found from samples, and some are missed: it isn't a proof.
#pragma once

#include "supple/offline/meshing/lattice_field.h"

#include <unordered_map>

namespace supple {

struct FleshNodes {
  std::vector<Site> site;                   ///< per node; the real ones come first, in order of sites
  Index real = 0;                           ///< number of real nodes
  std::vector<std::uint16_t> joined;        ///< per real node: bit d is set if the real node in direction d is linked
  std::vector<std::vector<Index>> links;    ///< per node: links that have a thin end, ascending
  std::vector<std::array<Index, 2>> spare;  ///< links around the end of a crevice, for use if nothing else holds
  std::vector<Index> real_at;               ///< per site, -1 for none
  std::vector<std::uint8_t> has_thin;       ///< per site
  std::unordered_map<Site, std::vector<Index>> thin_at;
  std::vector<Vec3> center;                ///< the site, or the middle of a thin node's samples
  std::vector<std::vector<Vec3>> samples;  ///< per thin node (number minus `real`)

  bool is_thin(Index node) const { return node >= real; }
  bool linked(Index a, Index b, const BccLattice& lattice) const;
  /// Links two nodes, which must be at neighbouring sites.
  void add_link(Index a, Index b, const BccLattice& lattice);
  /// Calls visit(a, b) once for every link.
  template <class Visit>
  void for_each_link(const BccLattice& lattice, const Visit& visit) const {
    for (Index a = 0; a < static_cast<Index>(site.size()); ++a) {
      for (int d = 0; !is_thin(a) && d < BccLattice::neighbor_count / 2; ++d) {
        if ((joined[to_size(a)] >> d) & 1) visit(a, real_neighbor(a, d, lattice));
      }
      for (const Index b : links[to_size(a)]) {
        if (a < b) visit(a, b);
      }
    }
  }
  /// The real node in a direction, -1 for none.
  Index real_neighbor(Index node, int direction, const BccLattice& lattice) const;
};

/// Finds the nodes and their links. With `keep_separate` off, real nodes at neighbouring sites are linked whatever lies
/// between them.
FleshNodes find_flesh_nodes(const Flesh& flesh, const Surface& soup, const BccLattice& lattice, bool keep_separate);

/// A pair of nodes.
using NodeLink = std::array<Index, 2>;

/// Links each first node to its second and to what that is linked to, where the lattice allows: what hung on by one
/// thread hangs on by several. Given the flesh, only to what the first node sees through it; without, to all, at the
/// price of a web of one cell. False if that made no new links.
bool widen_links(const std::vector<NodeLink>& threads, const Flesh* flesh, const BccLattice& lattice,
                 FleshNodes& nodes);

}  // namespace supple
