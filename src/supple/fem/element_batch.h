// SPDX-License-Identifier: Apache-2.0
// Elements as the inner loop reads them: four at a time, one per SIMD lane, in an order that keeps neighbours together.
//
//   elements, sorted along a space-filling curve     [ 0 1 2 3 | 4 5 6 7 | … ]      batch = 4 elements
//   clusters of consecutive batches                  [ cluster 0 ][ cluster 1 ] …   unit of parallel work
//   colours: clusters that share no vertex           colour 0: clusters 0, 2, 7 …   run in parallel, then colour 1 …
//
// Clusters of one colour never write to the same vertex, and each vertex receives its contributions in the order of the
// colours: no locks, and the same bits for any number of threads.
#pragma once

#include "supple/fem/element.h"
#include "supple/fem/material.h"
#include "supple/math/simd/pack.h"
#include "supple/math/sparse/block_matrix.h"

#include <array>
#include <vector>

namespace supple {

using Lanes = Pack<double, 4>;

template <int Nodes>
struct ElementBatch {
  static constexpr int points = ElementShape<Nodes>::points;
  using LaneIndices = std::array<Index, Lanes::width>;

  std::array<Eigen::Matrix<Lanes, 3, Nodes>, points> gradient;
  std::array<Lanes, points> weight;
  Lame<Lanes> lame;
  std::array<LaneIndices, Nodes> vertex;
  std::array<LaneIndices, Nodes * Nodes> block;  ///< where block (a, b) of the element goes in the BlockPattern
  int count;                                     ///< lanes in use; unused ones repeat lane 0 with zero weight
};

template <int Nodes>
struct ElementBatches {
  struct Range {
    Index begin;
    Index end;
  };
  std::vector<ElementBatch<Nodes>> batches;
  std::vector<std::vector<Range>> colours;  ///< for each colour, the batch ranges of its clusters
};

template <int Nodes>
ElementBatches<Nodes> make_element_batches(const VolumeMesh<Nodes>& mesh, const BlockPattern& pattern);

extern template ElementBatches<4> make_element_batches(const TetMesh&, const BlockPattern&);
extern template ElementBatches<8> make_element_batches(const HexMesh&, const BlockPattern&);

}  // namespace supple
