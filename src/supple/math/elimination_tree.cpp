// SPDX-License-Identifier: Apache-2.0
#include "supple/math/elimination_tree.h"

namespace supple {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// Calls visit(position) for the neighbours of `order[i]` that come before it.
template <class Visit>
void for_earlier_neighbours(const VertexGraph& graph, Index vertex, Index i, const std::vector<Index>& position,
                            const Visit& visit) {
  for (Index e = graph.begin(vertex); e < graph.end(vertex); ++e) {
    const Index j = position[at(graph.neighbours[at(e)])];
    if (j < i) visit(j);
  }
}

std::vector<Index> tree_parents(const VertexGraph& graph, const std::vector<Index>& order,
                                const std::vector<Index>& position) {
  const Index n = graph.size();
  std::vector<Index> parent(at(n), -1);
  std::vector<Index> root(at(n), -1);  // a shortcut towards the root of the part of the tree known so far
  for (Index i = 0; i < n; ++i) {
    for_earlier_neighbours(graph, order[at(i)], i, position, [&](Index j) {
      while (j != i) {
        const Index above = root[at(j)];
        root[at(j)] = i;
        if (above < 0) parent[at(j)] = i;
        j = above < 0 ? i : above;
      }
    });
  }
  return parent;
}

/// Row i of L is the part of the tree between i and its neighbours before i; walking it costs one step per entry of L,
/// which is little beside the factorisation.
std::vector<Index> column_counts(const VertexGraph& graph, const std::vector<Index>& order,
                                 const std::vector<Index>& position, const std::vector<Index>& parent) {
  const Index n = graph.size();
  std::vector<Index> count(at(n), 1);
  std::vector<Index> visited_by(at(n), -1);
  for (Index i = 0; i < n; ++i) {
    visited_by[at(i)] = i;
    for_earlier_neighbours(graph, order[at(i)], i, position, [&](Index j) {
      for (; visited_by[at(j)] != i; j = parent[at(j)]) {
        visited_by[at(j)] = i;
        ++count[at(j)];
      }
    });
  }
  return count;
}

}  // namespace

std::vector<Index> inverse_order(const std::vector<Index>& order) {
  std::vector<Index> inverse(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) inverse[at(order[i])] = static_cast<Index>(i);
  return inverse;
}

std::vector<Index> postorder(const std::vector<Index>& parent) {
  const Index n = static_cast<Index>(parent.size());
  std::vector<Index> first_child(at(n), -1), next_sibling(at(n), -1), stack, result;
  result.reserve(at(n));
  for (Index j = n - 1; j >= 0; --j) {
    if (parent[at(j)] < 0) continue;
    next_sibling[at(j)] = first_child[at(parent[at(j)])];
    first_child[at(parent[at(j)])] = j;
  }
  for (Index root = 0; root < n; ++root) {
    if (parent[at(root)] >= 0) continue;
    stack.push_back(root);
    while (!stack.empty()) {
      const Index j = stack.back();
      const Index child = first_child[at(j)];
      if (child < 0) {
        result.push_back(j);
        stack.pop_back();
      } else {
        first_child[at(j)] = next_sibling[at(child)];
        stack.push_back(child);
      }
    }
  }
  return result;
}

EliminationTree elimination_tree(const VertexGraph& graph, const std::vector<Index>& order) {
  const std::vector<Index> parent = tree_parents(graph, order, inverse_order(order));
  const std::vector<Index> post = postorder(parent);
  const std::vector<Index> new_position = inverse_order(post);
  EliminationTree tree;
  for (const Index old : post) {
    tree.order.push_back(order[at(old)]);
    tree.parent.push_back(parent[at(old)] < 0 ? -1 : new_position[at(parent[at(old)])]);
  }
  tree.count = column_counts(graph, tree.order, inverse_order(tree.order), tree.parent);
  return tree;
}

}  // namespace supple
