// SPDX-License-Identifier: Apache-2.0
// The edges of a triangle soup: every use of an edge by a triangle, with the uses of one edge side by side.
#pragma once

#include "supple/mesh/surface.h"

#include <span>

namespace supple {

/// Side `side` of `triangle` runs between its corners `side` and `side + 1`.
struct EdgeUse {
  Index low = 0, high = 0;  ///< the edge's vertices, low < high
  Index triangle = 0;
  std::int8_t side = 0;
  bool forward = false;  ///< the triangle runs from low to high
};

/// All edge uses, sorted by (low, high), then by triangle. Sides that begin and end at the same vertex are left out.
std::vector<EdgeUse> sorted_edge_uses(std::span<const Triangle> triangles);

/// Calls visit(std::span<const EdgeUse>) once per edge, with all uses of that edge.
template <class Visit>
void for_each_edge(std::span<const EdgeUse> uses, const Visit& visit) {
  for (std::size_t begin = 0; begin < uses.size();) {
    std::size_t end = begin + 1;
    while (end < uses.size() && uses[end].low == uses[begin].low && uses[end].high == uses[begin].high) ++end;
    visit(uses.subspan(begin, end - begin));
    begin = end;
  }
}

/// Edges whose two triangles meet at more than `min_angle_degrees` away from flat, and edges without a partner.
/// These are the lines a draughtsman would draw.
std::vector<std::array<Index, 2>> feature_edges(const Surface& surface, double min_angle_degrees);

}  // namespace supple
