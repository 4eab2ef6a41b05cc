// SPDX-License-Identifier: Apache-2.0
// How a lattice tetrahedron is filled when some of its corners are inside: one tetrahedron at a lone corner, a prism
// of three behind a pair or a triple, all of it behind four. `cut(i, o)` is the vertex on the edge from the inside
// corner i to the outside corner o.
//
// Prisms must be cut alike from both sides of a shared lattice face. On the face's quadrilateral (i, j, cut(j, o),
// cut(i, o)) the diagonal leaves from the corner whose `rank(corner, o)` is the higher; ranks are compared within one o
// only, so three of them can't form a cycle. On the quadrilateral on the surface the shorter diagonal is taken where
// both complete the prism.
#pragma once

#include "supple/base/types.h"

#include <algorithm>
#include <array>

namespace supple {

/// Calls emit(tet) with vertices in positive order, given corners in positive order. Inside corners are those with
/// `inside` set; corner[k] is only read for them. rank(i, o) must give distinct, comparable values for distinct i.
/// shorter(u, v, w, x): is the diagonal u-v shorter than w-x?
template <class Cut, class Rank, class Shorter, class Emit>
void fill_lattice_tet(const std::array<Index, 4>& corner, const std::array<bool, 4>& inside, const Cut& cut,
                      const Rank& rank, const Shorter& shorter, const Emit& emit) {
  std::array<std::size_t, 4> order{};  // inside corners first, by an even permutation
  std::size_t in = 0;
  for (std::size_t k = 0; k < 4; ++k) in += inside[k] ? 1 : 0;
  std::size_t next_in = 0, next_out = in;
  for (std::size_t k = 0; k < 4; ++k) order[inside[k] ? next_in++ : next_out++] = k;
  int inversions = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = i + 1; j < 4; ++j) inversions += order[i] > order[j] ? 1 : 0;
  }
  if (inversions % 2 == 1) in >= 2 ? std::swap(order[0], order[1]) : std::swap(order[2], order[3]);
  const auto [a, b, c, d] = order;

  // A prism with triangles (p0 p1 p2) and (q0 q1 q2), p's normal pointing to q's side; `first`, then `second`, leave
  // the p side first: the diagonals are p[second]-q[first], p[third]-q[first], p[third]-q[second].
  const auto prism = [&](const std::array<Index, 3>& p, const std::array<Index, 3>& q, std::size_t first,
                         std::size_t second) {
    const std::size_t third = 3 - first - second;
    const auto oriented = [&](std::array<Index, 4> tet) {
      if ((first + 1) % 3 != second) std::swap(tet[0], tet[1]);
      emit(tet);
    };
    oriented({p[first], p[second], p[third], q[first]});
    oriented({p[second], p[third], q[first], q[second]});
    oriented({p[third], q[first], q[second], q[third]});
  };

  if (in == 4) {
    emit(corner);
  } else if (in == 3) {
    // The corner with the lowest rank is the first whose p is replaced by its cut: diagonals leave from the others.
    std::array<std::size_t, 3> by_rank = {0, 1, 2};
    std::sort(by_rank.begin(), by_rank.end(),
              [&](std::size_t x, std::size_t y) { return rank(order[x], d) < rank(order[y], d); });
    prism({corner[a], corner[b], corner[c]}, {cut(a, d), cut(b, d), cut(c, d)}, by_rank[0], by_rank[1]);
  } else if (in == 2) {
    // Triangles (a, a-c, a-d) and (b, b-c, b-d). On face (a b c) the diagonal leaves from a when a ranks higher.
    const bool from_a_to_c = rank(a, c) > rank(b, c), from_a_to_d = rank(a, d) > rank(b, d);
    const std::array<Index, 3> p = {corner[a], cut(a, c), cut(a, d)}, q = {corner[b], cut(b, c), cut(b, d)};
    const bool free_2_1 = shorter(p[2], q[1], p[1], q[2]);
    if (from_a_to_c && from_a_to_d) {
      free_2_1 ? prism(p, q, 1, 2) : prism(p, q, 2, 1);
    } else if (!from_a_to_c && !from_a_to_d) {
      free_2_1 ? prism(p, q, 0, 1) : prism(p, q, 0, 2);
    } else {
      from_a_to_c ? prism(p, q, 1, 0) : prism(p, q, 2, 0);
    }
  } else if (in == 1) {
    emit({corner[a], cut(a, b), cut(a, c), cut(a, d)});
  }
}

}  // namespace supple
