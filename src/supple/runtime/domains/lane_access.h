// SPDX-License-Identifier: Apache-2.0
// Numbers of four domains to and from lanes. What a domain has lies together in memory, so that four numbers of each
// are read at once and transposed: one by one it took as long as the arithmetic on them.
#pragma once

#include "supple/runtime/domains/lane_vectors.h"
#include "supple/runtime/domains/prepared_tree.h"

namespace supple::domains {

using LaneVector = Vector3<Pack4>;
using LaneMatrix = Matrix3<Pack4>;

/// Where the numbers of the four domains of a batch begin.
struct LanePointers {
  const double* at[4];
  LanePointers(const double* base, const std::vector<std::size_t>& offsets, const std::array<Index, 4>& domains) {
    for (std::size_t lane = 0; lane < 4; ++lane) at[lane] = base + offsets[to_size(domains[lane])];
  }
};

/// `count` numbers of each of four domains.
inline void collect(const double* const (&from)[4], int count, Pack4* to) {
  int k = 0;
  for (; k + 4 <= count; k += 4) {
    std::array<Pack4, 4> square;
    for (std::size_t lane = 0; lane < 4; ++lane) square[lane] = load(from[lane] + k);
    transpose(square);
    for (std::size_t i = 0; i < 4; ++i) to[k + static_cast<int>(i)] = square[i];
  }
  for (; k < count; ++k) to[k] = Pack4(Pack4::Vector{from[0][k], from[1][k], from[2][k], from[3][k]});
}

/// The way back, to the first `lanes` domains.
inline void scatter(const Pack4* from, int count, int lanes, double* const (&to)[4]) {
  int k = 0;
  for (; k + 4 <= count; k += 4) {
    std::array<Pack4, 4> square = {from[k], from[k + 1], from[k + 2], from[k + 3]};
    transpose(square);
    for (int lane = 0; lane < lanes; ++lane) store(to[lane] + k, square[to_size(lane)]);
  }
  for (; k < count; ++k)
    for (int lane = 0; lane < lanes; ++lane) to[lane][k] = from[k][lane];
}

/// The same, added to what is there, lane after lane: several may name one place.
inline void scatter_sum(const Pack4* from, int count, int lanes, double* const (&to)[4]) {
  int k = 0;
  for (; k + 4 <= count; k += 4) {
    std::array<Pack4, 4> square = {from[k], from[k + 1], from[k + 2], from[k + 3]};
    transpose(square);
    for (int lane = 0; lane < lanes; ++lane) store(to[lane] + k, load(to[lane] + k) + square[to_size(lane)]);
  }
  for (; k < count; ++k)
    for (int lane = 0; lane < lanes; ++lane) to[lane][k] += from[k][lane];
}

/// Four numbers in single precision. Spelled out: of this compilers make one instruction.
inline Pack4 widened(const float* p) {
  return Pack4(Pack4::Vector{double{p[0]}, double{p[1]}, double{p[2]}, double{p[3]}});
}

inline LaneVector vector_at(const Pack4* p) { return {p[0], p[1], p[2]}; }
inline LaneMatrix matrix_at(const Pack4* p) { return {{p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8]}}; }
inline void put(const LaneVector& v, Pack4* p) {
  p[0] = v.x;
  p[1] = v.y;
  p[2] = v.z;
}
inline void put(const LaneMatrix& m, Pack4* p) {
  for (int k = 0; k < 9; ++k) p[k] = m.m[k];
}

}  // namespace supple::domains
