// SPDX-License-Identifier: Apache-2.0
// Elimination tree of a symmetric pattern (Liu 1990): the parent of column j is the first row below the diagonal of
// column j of L. A column depends on its descendants only.
#pragma once

#include "supple/math/sparse/vertex_ordering.h"

#include <vector>

namespace supple {

struct EliminationTree {
  std::vector<Index> order;   ///< position → vertex; positions are a postorder of the tree
  std::vector<Index> parent;  ///< of each position, -1 at roots
  std::vector<Index> count;   ///< entries in each column of L, with the diagonal
};

/// Tree and column counts of `graph` eliminated in an order equivalent to `order` (same fill, postordered).
EliminationTree elimination_tree(const VertexGraph& graph, const std::vector<Index>& order);

/// Positions of a forest in postorder, children in ascending order.
std::vector<Index> postorder(const std::vector<Index>& parent);

/// Gives the inverse of a permutation: inverse[order[i]] = i.
std::vector<Index> inverse_order(const std::vector<Index>& order);

}  // namespace supple
