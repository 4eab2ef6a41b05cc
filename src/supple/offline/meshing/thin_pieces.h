// SPDX-License-Identifier: Apache-2.0
// Thin pieces: flesh around lattice sites that no real node there sees, found from samples of the surface.
//
// Samples nearest to one site that hang together by the surface are a patch; patches around a site that see each other
// through flesh, like both sides of a fin, are a piece. Pieces are linked to each other and to real nodes where the
// surface or a view through flesh leads across. Not all of them become nodes (flesh_nodes.h says which).
#pragma once

#include "supple/offline/meshing/flesh_nodes.h"

namespace supple {

struct ThinPiece {
  Site site = 0;
  std::vector<Vec3> samples;
  std::vector<Index> seen;  ///< real nodes in view
  double unserved = 0;      ///< number of samples that see none
  bool kept = false;
  std::vector<Index> links;  ///< nodes, ascending; pieces are numbered after the real ones
};

struct ThinPieces {
  Index real = 0;  ///< number of real nodes
  std::vector<ThinPiece> pieces;
  std::vector<NodeLink> doubtful;  ///< links by samples across a gap from their node
  std::vector<NodeLink> curved;    ///< pairs of real nodes joined by the surface

  bool is_piece(Index node) const { return node >= real; }
  ThinPiece& piece(Index node) { return pieces[to_size(node - real)]; }
  const ThinPiece& piece(Index node) const { return pieces[to_size(node - real)]; }
  /// Gives the direction from the site of one node to that of another, or −1 where they aren't neighbours.
  int direction(Index a, Index b, const FleshNodes& nodes, const BccLattice& lattice) const;
};

/// Finds the thin pieces around nodes that hold the real ones already.
ThinPieces find_thin_pieces(const Flesh& flesh, const Surface& soup, const BccLattice& lattice,
                            const FleshNodes& nodes);

/// Adds the thin pieces that are needed to the nodes.
void keep_thin_pieces(const Flesh& flesh, const BccLattice& lattice, ThinPieces found, FleshNodes& nodes);

}  // namespace supple
