// SPDX-License-Identifier: Apache-2.0
// Symbolic analysis of a sparse Cholesky factorisation: which columns of L share a dense panel, and in what order.
//
// Everything here counts in vertices (blocks of the matrix). The steps: fill-reducing order → elimination tree →
// postorder → column counts → fundamental supernodes → amalgamation of small supernodes into their parents where the
// dense arithmetic on added zeros costs less than the bookkeeping saved → an order of the tree that keeps few update
// matrices alive → rows of each supernode. Supernodes are numbered in postorder: children before parents, and each
// subtree is a range.
#pragma once

#include "supple/math/sparse/vertex_ordering.h"

#include <vector>

namespace supple {

struct Supernodes {
  std::vector<Index> order;               ///< position in the elimination order → vertex
  std::vector<Index> first_column;        ///< of each supernode, then the number of vertices
  std::vector<Index> parent;              ///< supernode, -1 at roots
  std::vector<std::int64_t> row_offsets;  ///< of each supernode into rows and relative_rows, then their size
  std::vector<Index> rows;                ///< rows below the triangle, by position, ascending
  /// Place of each row in the front of the parent: its columns count from 0, its rows follow.
  std::vector<Index> relative_rows;
  std::vector<Index> child_offsets;  ///< of each supernode into children, then their size
  std::vector<Index> children;       ///< ascending

  Index size() const { return static_cast<Index>(parent.size()); }
  Index columns(Index s) const { return first_column[to_size(s) + 1] - first_column[to_size(s)]; }
  Index row_count(Index s) const { return static_cast<Index>(row_offsets[to_size(s) + 1] - row_offsets[to_size(s)]); }
};

/// Analysis of `graph` eliminated in `order`; vertices are blocks of block_size rows.
Supernodes find_supernodes(const VertexGraph& graph, const std::vector<Index>& order, int block_size);

}  // namespace supple
