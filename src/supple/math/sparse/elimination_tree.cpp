// SPDX-License-Identifier: Apache-2.0
#include "supple/math/sparse/elimination_tree.h"

namespace supple {
namespace {

/// Calls visit(position) for the neighbours of `order[i]` that come before it.
template <class Visit>
void for_earlier_neighbours(const VertexGraph& graph, Index vertex, Index i, const std::vector<Index>& position,
                            const Visit& visit) {
  for (Index e = graph.begin(vertex); e < graph.end(vertex); ++e) {
    const Index j = position[to_size(graph.neighbours[to_size(e)])];
    if (j < i) visit(j);
  }
}

std::vector<Index> tree_parents(const VertexGraph& graph, const std::vector<Index>& order,
                                const std::vector<Index>& position) {
  const Index n = graph.size();
  std::vector<Index> parent(to_size(n), -1);
  std::vector<Index> root(to_size(n), -1);  // a shortcut towards the root of the part of the tree known so far
  for (Index i = 0; i < n; ++i) {
    for_earlier_neighbours(graph, order[to_size(i)], i, position, [&](Index j) {
      while (j != i) {
        const Index above = root[to_size(j)];
        root[to_size(j)] = i;
        if (above < 0) parent[to_size(j)] = i;
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
  std::vector<Index> count(to_size(n), 1);
  std::vector<Index> visited_by(to_size(n), -1);
  for (Index i = 0; i < n; ++i) {
    visited_by[to_size(i)] = i;
    for_earlier_neighbours(graph, order[to_size(i)], i, position, [&](Index j) {
      for (; visited_by[to_size(j)] != i; j = parent[to_size(j)]) {
        visited_by[to_size(j)] = i;
        ++count[to_size(j)];
      }
    });
  }
  return count;
}

}  // namespace

std::vector<Index> inverse_order(const std::vector<Index>& order) {
  std::vector<Index> inverse(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) inverse[to_size(order[i])] = static_cast<Index>(i);
  return inverse;
}

std::vector<Index> postorder(const std::vector<Index>& parent) {
  const Index n = static_cast<Index>(parent.size());
  std::vector<Index> first_child(to_size(n), -1), next_sibling(to_size(n), -1), stack, result;
  result.reserve(to_size(n));
  for (Index j = n - 1; j >= 0; --j) {
    if (parent[to_size(j)] < 0) continue;
    next_sibling[to_size(j)] = first_child[to_size(parent[to_size(j)])];
    first_child[to_size(parent[to_size(j)])] = j;
  }
  for (Index root = 0; root < n; ++root) {
    if (parent[to_size(root)] >= 0) continue;
    stack.push_back(root);
    while (!stack.empty()) {
      const Index j = stack.back();
      const Index child = first_child[to_size(j)];
      if (child < 0) {
        result.push_back(j);
        stack.pop_back();
      } else {
        first_child[to_size(j)] = next_sibling[to_size(child)];
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
    tree.order.push_back(order[to_size(old)]);
    tree.parent.push_back(parent[to_size(old)] < 0 ? -1 : new_position[to_size(parent[to_size(old)])]);
  }
  tree.count = column_counts(graph, tree.order, inverse_order(tree.order), tree.parent);
  return tree;
}

}  // namespace supple
