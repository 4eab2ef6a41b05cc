// SPDX-License-Identifier: Apache-2.0
#include "supple/math/sparse/supernodes.h"

#include "supple/base/assert.h"
#include "supple/math/sparse/elimination_tree.h"
#include "supple/math/sparse/front_layout.h"

#include <algorithm>
#include <numeric>

namespace supple {
namespace {

/// A supernode while the tree is being reshaped. Its columns are a chain of runs of the elimination tree's positions.
struct Node {
  Index columns = 0;
  Index rows = 0;
  Index parent = -1;
  Index first_run = -1;
  Index last_run = -1;
};

struct Run {
  Index begin = 0;
  Index end = 0;
  Index next = -1;
};

struct NodeTree {
  std::vector<Node> nodes;  ///< postordered
  std::vector<Run> runs;
};

/// Columns j and j + 1 are in one fundamental supernode when j's rows are j + 1 and all the rows of j + 1.
NodeTree fundamental_supernodes(const EliminationTree& tree) {
  const Index n = static_cast<Index>(tree.order.size());
  NodeTree result;
  std::vector<Index> node_of(to_size(n));
  for (Index j = 0; j < n; ++j) {
    const bool joins =
        j > 0 && tree.parent[to_size(j) - 1] == j && tree.count[to_size(j) - 1] == tree.count[to_size(j)] + 1;
    if (!joins) {
      const Index id = static_cast<Index>(result.nodes.size());
      result.nodes.push_back({.columns = 0, .rows = 0, .parent = -1, .first_run = id, .last_run = id});
      result.runs.push_back({.begin = j, .end = j, .next = -1});
    }
    Node& node = result.nodes.back();
    ++node.columns;
    node.rows = tree.count[to_size(j)] - 1;
    result.runs.back().end = j + 1;
    node_of[to_size(j)] = static_cast<Index>(result.nodes.size()) - 1;
  }
  for (Node& node : result.nodes) {
    const Index above = tree.parent[to_size(result.runs[to_size(node.last_run)].end - 1)];
    node.parent = above < 0 ? -1 : node_of[to_size(above)];
  }
  return result;
}

/// Time of a front in units of one floating-point operation at full speed. The constants are coarse: on a cube of
/// 10,000 DOFs the time of a factorisation hardly moves when any of them is halved or doubled.
double front_cost(double columns, double rows, int block_size) {
  const double k = columns * block_size;
  const double u = static_cast<double>(stripes_of(static_cast<std::int64_t>(rows) * block_size) * stripe);
  const double arithmetic = k * k * k / 3 + k * k * u + k * u * u;
  const double assembly = 8 * u * u + 12 * k * (k + u);
  return arithmetic + assembly + 10'000;
}

class Amalgamation {
 public:
  Amalgamation(NodeTree& tree, int block_size) : tree_(tree), block_size_(block_size), children_(tree.nodes.size()) {}

  void run() {
    for (Index s = 0; s < static_cast<Index>(tree_.nodes.size()); ++s) {
      absorb_children(s);
      if (tree_.nodes[to_size(s)].parent >= 0) children_[to_size(tree_.nodes[to_size(s)].parent)].push_back(s);
    }
    drop_absorbed();
  }

 private:
  /// Takes in those children that make the tree cheaper. The ones with most rows add the fewest zeros: they come first.
  void absorb_children(Index s) {
    std::vector<Index> candidates = std::move(children_[to_size(s)]);
    std::vector<Index>& kept = children_[to_size(s)];
    kept.clear();
    std::stable_sort(candidates.begin(), candidates.end(),
                     [&](Index a, Index b) { return tree_.nodes[to_size(a)].rows > tree_.nodes[to_size(b)].rows; });
    for (const Index child : candidates) {
      if (pays(child, s)) {
        absorb(child, s);
        std::vector<Index> inherited = std::move(children_[to_size(child)]);
        if (inherited.size() > kept.size()) inherited.swap(kept);
        kept.insert(kept.end(), inherited.begin(), inherited.end());
      } else {
        kept.push_back(child);
      }
    }
  }

  bool pays(Index child, Index s) const {
    const Node& c = tree_.nodes[to_size(child)];
    const Node& p = tree_.nodes[to_size(s)];
    return front_cost(c.columns + p.columns, p.rows, block_size_) <
           front_cost(c.columns, c.rows, block_size_) + front_cost(p.columns, p.rows, block_size_);
  }

  void absorb(Index child, Index s) {
    Node& c = tree_.nodes[to_size(child)];
    Node& p = tree_.nodes[to_size(s)];
    for (const Index grandchild : children_[to_size(child)]) tree_.nodes[to_size(grandchild)].parent = s;
    tree_.runs[to_size(c.last_run)].next = p.first_run;
    p.first_run = c.first_run;
    p.columns += c.columns;
    c.columns = 0;
  }

  void drop_absorbed() {
    std::vector<Index> new_id(tree_.nodes.size(), -1);
    std::vector<Node> kept;
    for (std::size_t s = 0; s < tree_.nodes.size(); ++s) {
      if (tree_.nodes[s].columns == 0) continue;
      new_id[s] = static_cast<Index>(kept.size());
      kept.push_back(tree_.nodes[s]);
    }
    for (Node& node : kept) node.parent = node.parent < 0 ? -1 : new_id[to_size(node.parent)];
    tree_.nodes = std::move(kept);
  }

  NodeTree& tree_;
  int block_size_;
  std::vector<std::vector<Index>> children_;
};

/// Renumbers the nodes in the postorder that visits first the children whose subtree needs most room beyond the update
/// matrix it leaves (Liu 1986), which keeps the peak of living update matrices lowest.
void order_for_memory(NodeTree& tree) {
  const std::size_t n = tree.nodes.size();
  std::vector<std::vector<Index>> children(n);
  std::vector<double> peak(n, 0), kept(n, 0);
  for (std::size_t s = 0; s < n; ++s) {
    const double rows = tree.nodes[s].rows;
    kept[s] = rows * rows;
    auto& list = children[s];
    std::stable_sort(list.begin(), list.end(), [&](Index a, Index b) {
      return peak[to_size(a)] - kept[to_size(a)] > peak[to_size(b)] - kept[to_size(b)];
    });
    double alive = 0;
    for (const Index child : list) {
      peak[s] = std::max(peak[s], alive + peak[to_size(child)]);
      alive += kept[to_size(child)];
    }
    peak[s] = std::max(peak[s], alive + kept[s]);
    if (tree.nodes[s].parent >= 0) children[to_size(tree.nodes[s].parent)].push_back(static_cast<Index>(s));
  }
  std::vector<Index> sequence, stack;
  for (std::size_t s = 0; s < n; ++s) {
    if (tree.nodes[s].parent >= 0) continue;
    // A preorder that visits children backwards is, backwards, a postorder that visits them forwards.
    const std::size_t start = sequence.size();
    stack.push_back(static_cast<Index>(s));
    while (!stack.empty()) {
      const Index top = stack.back();
      stack.pop_back();
      sequence.push_back(top);
      stack.insert(stack.end(), children[to_size(top)].begin(), children[to_size(top)].end());
    }
    std::reverse(sequence.begin() + static_cast<std::ptrdiff_t>(start), sequence.end());
  }
  const std::vector<Index> new_id = inverse_order(sequence);
  std::vector<Node> nodes;
  for (const Index s : sequence) {
    nodes.push_back(tree.nodes[to_size(s)]);
    if (nodes.back().parent >= 0) nodes.back().parent = new_id[to_size(nodes.back().parent)];
  }
  tree.nodes = std::move(nodes);
}

void fill_columns(const EliminationTree& elimination, const NodeTree& tree, Supernodes& result) {
  result.first_column.assign(1, 0);
  for (const Node& node : tree.nodes) {
    for (Index r = node.first_run;; r = tree.runs[to_size(r)].next) {
      const Run& run = tree.runs[to_size(r)];
      result.order.insert(result.order.end(), elimination.order.begin() + run.begin,
                          elimination.order.begin() + run.end);
      if (r == node.last_run) break;
    }
    result.first_column.push_back(static_cast<Index>(result.order.size()));
    result.parent.push_back(node.parent);
  }
}

/// Any order of the columns inside a supernode gives the same fill. This one keeps together the columns that the same
/// descendants reach, by the first descendant next to each: the rows of children then lie in longer runs.
void sort_inside_supernodes(const VertexGraph& graph, Supernodes& result) {
  std::vector<Index> supernode_of(result.order.size());
  for (Index s = 0; s < result.size(); ++s)
    for (Index j = result.first_column[to_size(s)]; j < result.first_column[to_size(s) + 1]; ++j)
      supernode_of[to_size(result.order[to_size(j)])] = s;
  std::vector<Index> key(result.order.size());
  for (Index v = 0; v < graph.size(); ++v) {
    key[to_size(v)] = supernode_of[to_size(v)];
    for (Index e = graph.begin(v); e < graph.end(v); ++e)
      key[to_size(v)] = std::min(key[to_size(v)], supernode_of[to_size(graph.neighbours[to_size(e)])]);
  }
  for (Index s = 0; s < result.size(); ++s)
    std::stable_sort(result.order.begin() + result.first_column[to_size(s)],
                     result.order.begin() + result.first_column[to_size(s) + 1],
                     [&](Index a, Index b) { return key[to_size(a)] < key[to_size(b)]; });
}

void fill_children(Supernodes& result) {
  const std::size_t n = result.parent.size();
  result.child_offsets.assign(n + 1, 0);
  for (const Index p : result.parent) {
    if (p >= 0) ++result.child_offsets[to_size(p) + 1];
  }
  std::partial_sum(result.child_offsets.begin(), result.child_offsets.end(), result.child_offsets.begin());
  result.children.resize(to_size(result.child_offsets.back()));
  std::vector<Index> next(result.child_offsets.begin(), result.child_offsets.end() - 1);
  for (std::size_t s = 0; s < n; ++s) {
    if (result.parent[s] >= 0) result.children[to_size(next[to_size(result.parent[s])]++)] = static_cast<Index>(s);
  }
}

/// Rows of a supernode: what its columns and its children reach beyond its last column.
void fill_rows(const VertexGraph& graph, const NodeTree& tree, Supernodes& result) {
  const std::vector<Index> position = inverse_order(result.order);
  std::vector<Index> seen_by(result.order.size(), -1);
  result.row_offsets.assign(1, 0);
  for (Index s = 0; s < result.size(); ++s) {
    const Index end = result.first_column[to_size(s) + 1];
    const auto add = [&](Index row) {
      if (row < end || seen_by[to_size(row)] == s) return;
      seen_by[to_size(row)] = s;
      result.rows.push_back(row);
    };
    for (Index j = result.first_column[to_size(s)]; j < end; ++j) {
      const Index v = result.order[to_size(j)];
      for (Index e = graph.begin(v); e < graph.end(v); ++e) add(position[to_size(graph.neighbours[to_size(e)])]);
    }
    for (Index c = result.child_offsets[to_size(s)]; c < result.child_offsets[to_size(s) + 1]; ++c) {
      const std::size_t child = to_size(result.children[to_size(c)]);
      for (std::int64_t r = result.row_offsets[child]; r < result.row_offsets[child + 1]; ++r)
        add(result.rows[to_size(r)]);
    }
    std::sort(result.rows.begin() + result.row_offsets.back(), result.rows.end());
    result.row_offsets.push_back(static_cast<std::int64_t>(result.rows.size()));
    SUPPLE_ASSERT(result.row_count(s) == tree.nodes[to_size(s)].rows);
  }
}

void fill_relative_rows(Supernodes& result) {
  result.relative_rows.resize(result.rows.size());
  for (Index s = 0; s < result.size(); ++s) {
    const Index p = result.parent[to_size(s)];
    if (p < 0) continue;
    const Index first = result.first_column[to_size(p)], end = result.first_column[to_size(p) + 1];
    const Index* parent_row = result.rows.data() + result.row_offsets[to_size(p)];
    Index place = 0;
    for (std::int64_t r = result.row_offsets[to_size(s)]; r < result.row_offsets[to_size(s) + 1]; ++r) {
      const Index row = result.rows[to_size(r)];
      if (row >= end) {
        while (parent_row[place] != row) ++place;
      }
      result.relative_rows[to_size(r)] = row < end ? row - first : end - first + place;
    }
  }
}

}  // namespace

Supernodes find_supernodes(const VertexGraph& graph, const std::vector<Index>& order, int block_size) {
  const EliminationTree elimination = elimination_tree(graph, order);
  NodeTree tree = fundamental_supernodes(elimination);
  Amalgamation(tree, block_size).run();
  order_for_memory(tree);
  Supernodes result;
  fill_columns(elimination, tree, result);
  sort_inside_supernodes(graph, result);
  fill_children(result);
  fill_rows(graph, tree, result);
  fill_relative_rows(result);
  return result;
}

}  // namespace supple
