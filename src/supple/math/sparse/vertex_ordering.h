// SPDX-License-Identifier: Apache-2.0
// Fill-reducing orderings of a symmetric sparse pattern, by nested dissection (METIS) on the graph of vertices.
//
// Finite element matrices come in b × b blocks, one per pair of neighbouring vertices. Ordering the vertex graph costs
// b² times less than ordering the scalar one and keeps the blocks whole.
#pragma once

#include "supple/base/types.h"

#include <Eigen/SparseCore>

#include <vector>

namespace supple {

/// Undirected graph without loops: neighbours of v are neighbours[offsets[v]] … neighbours[offsets[v + 1] - 1].
struct VertexGraph {
  std::vector<Index> offsets{0};
  std::vector<Index> neighbours;

  Index size() const { return static_cast<Index>(offsets.size()) - 1; }
  Index begin(Index v) const { return offsets[to_size(v)]; }
  Index end(Index v) const { return offsets[to_size(v) + 1]; }
};

/// The graph of the block_size × block_size blocks of a lower triangle. Entries above the diagonal are ignored.
VertexGraph block_graph(const Eigen::SparseMatrix<double>& lower, int block_size);

/// Nested dissection: position in the elimination order → vertex. The same graph always gives the same order.
std::vector<Index> nested_dissection(const VertexGraph& graph);

/// Nested dissection for a matrix some of whose diagonal entries are zero (constraints of a saddle point): each vertex
/// marked in `zero_diagonal` follows at once a neighbour of its own that is not marked, so that its pivot has been
/// filled by the time it is needed. Vertices that find no free neighbour go last.
std::vector<Index> nested_dissection_with_constraints(const VertexGraph& graph, const std::vector<char>& zero_diagonal);

}  // namespace supple
