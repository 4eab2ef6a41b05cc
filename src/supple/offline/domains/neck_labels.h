// SPDX-License-Identifier: Apache-2.0
// A body cut where it is narrow. How deep an element lies under the surface says how thick the body is around it; bulks
// are where that is largest, and between two of them lies a neck: the deepest way from one to the other passes there.
// Bulks grow until they meet (watershed by flooding: Meyer, Topographic distance and watershed lines, 1994), and stay
// apart where the neck is shallow beside the lesser of both.
#pragma once

#include "supple/mesh/volume_mesh.h"

namespace supple {

struct NeckSettings {
  double narrow = 0.7;       ///< a neck is less deep than this share of the lesser bulk
  int fewest_elements = 20;  ///< of a bulk; smaller ones stay with the neighbour that they share most faces with
};

struct NeckLabels {
  std::vector<Index> label;  ///< of each element, from 0 in the order of the elements
  Index count = 1;
};

/// The mesh hangs together by faces. Every label does so too.
NeckLabels label_necks(const TetMesh& mesh, const NeckSettings& settings = {});
NeckLabels label_necks(const HexMesh& mesh, const NeckSettings& settings = {});

}  // namespace supple
