// SPDX-License-Identifier: Apache-2.0
#include "supple/math/sparse/vertex_ordering.h"

#include "supple/base/assert.h"

#include <metis.h>

#include <mutex>
#include <numeric>

namespace supple {
namespace {

static_assert(sizeof(idx_t) == sizeof(Index), "METIS must be built with 32-bit indices");

/// Calls edge(a, b) once for each pair of blocks a > b that share an entry below the diagonal.
template <class Edge>
void for_each_block_edge(const Eigen::SparseMatrix<double>& lower, int block_size, const Edge& edge) {
  const Index blocks = static_cast<Index>(lower.cols() / block_size);
  std::vector<Index> seen_by(to_size(blocks), -1);
  for (Index column = 0; column < blocks; ++column) {
    seen_by[to_size(column)] = column;
    for (int c = 0; c < block_size; ++c) {
      for (Eigen::SparseMatrix<double>::InnerIterator it(lower, column * block_size + c); it; ++it) {
        const Index row = static_cast<Index>(it.row() / block_size);
        if (row <= column || seen_by[to_size(row)] == column) continue;
        seen_by[to_size(row)] = column;
        edge(row, column);
      }
    }
  }
}

/// METIS draws from one global stream of random numbers: calls take turns, or orders would depend on timing.
std::mutex& metis_turn() {
  static std::mutex turn;
  return turn;
}

bool is_complete(const VertexGraph& graph) {
  return static_cast<std::int64_t>(graph.neighbours.size()) ==
         static_cast<std::int64_t>(graph.size()) * (graph.size() - 1);
}

/// Order of a connected graph.
std::vector<Index> dissect_connected(VertexGraph graph) {
  idx_t n = graph.size();
  std::vector<Index> order(to_size(n));
  std::iota(order.begin(), order.end(), 0);
  // Any order of a complete graph is as good as another, and METIS has nothing to cut in tiny graphs.
  if (n < 4 || is_complete(graph)) return order;
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_NUMBERING] = 0;
  options[METIS_OPTION_SEED] = 1;
  std::vector<Index> position(to_size(n));
  const std::lock_guard<std::mutex> lock(metis_turn());
  const int status =
      METIS_NodeND(&n, graph.offsets.data(), graph.neighbours.data(), nullptr, options, order.data(), position.data());
  if (status != METIS_OK) std::iota(order.begin(), order.end(), 0);
  return order;
}

/// Vertices of each connected component, one after another; `starts` gets where each begins, and the end.
std::vector<Index> connected_components(const VertexGraph& graph, std::vector<Index>& starts) {
  std::vector<Index> members;
  members.reserve(to_size(graph.size()));
  std::vector<char> seen(to_size(graph.size()), 0);
  for (Index seed = 0; seed < graph.size(); ++seed) {
    if (seen[to_size(seed)]) continue;
    starts.push_back(static_cast<Index>(members.size()));
    members.push_back(seed);
    seen[to_size(seed)] = 1;
    for (std::size_t next = to_size(starts.back()); next < members.size(); ++next) {
      for (Index e = graph.begin(members[next]); e < graph.end(members[next]); ++e) {
        const Index other = graph.neighbours[to_size(e)];
        if (seen[to_size(other)]) continue;
        seen[to_size(other)] = 1;
        members.push_back(other);
      }
    }
  }
  starts.push_back(static_cast<Index>(members.size()));
  return members;
}

/// The component members[begin, end) as a graph of its own; `local` is scratch for vertex → local number.
VertexGraph component_graph(const VertexGraph& graph, const Index* members, Index count, std::vector<Index>& local) {
  VertexGraph part;
  part.offsets.reserve(to_size(count) + 1);
  for (Index i = 0; i < count; ++i) local[to_size(members[i])] = i;
  for (Index i = 0; i < count; ++i) {
    for (Index e = graph.begin(members[i]); e < graph.end(members[i]); ++e)
      part.neighbours.push_back(local[to_size(graph.neighbours[to_size(e)])]);
    part.offsets.push_back(static_cast<Index>(part.neighbours.size()));
  }
  return part;
}

/// Graph of groups of vertices: groups are neighbours where any of their members are.
VertexGraph quotient_graph(const VertexGraph& graph, const std::vector<std::vector<Index>>& groups,
                           const std::vector<Index>& group_of) {
  VertexGraph quotient;
  std::vector<Index> seen_by(groups.size(), -1);
  for (Index g = 0; g < static_cast<Index>(groups.size()); ++g) {
    seen_by[to_size(g)] = g;
    for (const Index v : groups[to_size(g)]) {
      for (Index e = graph.begin(v); e < graph.end(v); ++e) {
        const Index other = group_of[to_size(graph.neighbours[to_size(e)])];
        if (other < 0 || seen_by[to_size(other)] == g) continue;
        seen_by[to_size(other)] = g;
        quotient.neighbours.push_back(other);
      }
    }
    quotient.offsets.push_back(static_cast<Index>(quotient.neighbours.size()));
  }
  return quotient;
}

}  // namespace

VertexGraph block_graph(const Eigen::SparseMatrix<double>& lower, int block_size) {
  const Index blocks = static_cast<Index>(lower.cols() / block_size);
  VertexGraph graph;
  graph.offsets.assign(to_size(blocks) + 1, 0);
  for_each_block_edge(lower, block_size, [&](Index a, Index b) {
    ++graph.offsets[to_size(a) + 1];
    ++graph.offsets[to_size(b) + 1];
  });
  std::partial_sum(graph.offsets.begin(), graph.offsets.end(), graph.offsets.begin());
  graph.neighbours.resize(to_size(graph.offsets.back()));
  std::vector<Index> next(graph.offsets.begin(), graph.offsets.end() - 1);
  for_each_block_edge(lower, block_size, [&](Index a, Index b) {
    graph.neighbours[to_size(next[to_size(a)]++)] = b;
    graph.neighbours[to_size(next[to_size(b)]++)] = a;
  });
  return graph;
}

std::vector<Index> nested_dissection(const VertexGraph& graph) {
  std::vector<Index> starts;
  std::vector<Index> members = connected_components(graph, starts);
  if (starts.size() == 2) return dissect_connected(graph);
  std::vector<Index> order;
  order.reserve(members.size());
  std::vector<Index> local(to_size(graph.size()));
  for (std::size_t c = 0; c + 1 < starts.size(); ++c) {
    const Index* first = members.data() + starts[c];
    for (const Index i : dissect_connected(component_graph(graph, first, starts[c + 1] - starts[c], local)))
      order.push_back(first[i]);
  }
  return order;
}

std::vector<Index> nested_dissection_with_constraints(const VertexGraph& graph,
                                                      const std::vector<char>& zero_diagonal) {
  std::vector<std::vector<Index>> groups;
  std::vector<Index> group_of(to_size(graph.size()), -1);
  std::vector<Index> last;
  for (Index v = 0; v < graph.size(); ++v) {
    if (zero_diagonal[to_size(v)]) continue;
    group_of[to_size(v)] = static_cast<Index>(groups.size());
    groups.push_back({v});
  }
  for (Index v = 0; v < graph.size(); ++v) {
    if (!zero_diagonal[to_size(v)]) continue;
    Index partner = -1;
    for (Index e = graph.begin(v); e < graph.end(v) && partner < 0; ++e) {
      const Index other = graph.neighbours[to_size(e)];
      if (!zero_diagonal[to_size(other)] && groups[to_size(group_of[to_size(other)])].size() == 1)
        partner = group_of[to_size(other)];
    }
    if (partner < 0) {
      last.push_back(v);
    } else {
      group_of[to_size(v)] = partner;
      groups[to_size(partner)].push_back(v);
    }
  }
  std::vector<Index> order;
  for (const Index g : nested_dissection(quotient_graph(graph, groups, group_of)))
    order.insert(order.end(), groups[to_size(g)].begin(), groups[to_size(g)].end());
  order.insert(order.end(), last.begin(), last.end());
  SUPPLE_ASSERT(static_cast<Index>(order.size()) == graph.size());
  return order;
}

}  // namespace supple
