// SPDX-License-Identifier: Apache-2.0
// Bodies made of many parts, at the sizes of the 2011 paper's Table 1, all made by code:
//
//   flower    12 domains of one tetrahedral mesh: stem, blooms, petals, leaves        (240 coordinates)
//   letters   "SIGGRAPH", eight letters and seven rigid links between them, flying    (160)
//   dragon    40 domains of 11 parts: torso, neck, tail, legs, wings, spikes          (454)
//   station   48 domains of 6 parts made of bricks: modules, trusses, panels, flying  (921)
//   oak       41 branches of five kinds and 1,394 leaves of one                       (11,972)
#pragma once

#include "supple/offline/domains/split_mesh.h"

#include <string_view>

namespace supple::samples {

/// A box of whole cells [low, high) that belongs to a domain.
struct CellBox {
  std::array<int, 3> low, high;
  Index domain = 0;
};

/// A solid of equal cells, cut into tetrahedra or bricks, with the domain of each element. Where boxes overlap the
/// earlier one wins.
template <class Mesh>
struct CellBody {
  Mesh mesh;
  std::vector<Index> labels;
};
CellBody<TetMesh> tetrahedra_of(std::span<const CellBox> boxes, double cell);

/// The flower as one mesh, 50 cm high, and which vertices stand in the ground.
CellBody<TetMesh> flower_body();
std::vector<Index> flower_ground(const TetMesh& mesh);
/// Names of its domains, by label.
std::vector<std::string> flower_names();

/// The plan of "flower", "letters", "dragon", "station" or "oak". Coarse ones have fewer elements; domains and
/// coordinates are as many.
Result<TreePlan> domain_scene(std::string_view name, bool coarse = false);

/// A trunk with this many leaves of one kind, 32 to a twig: what time per domain is measured with.
TreePlan leafy_plan(int leaves);

}  // namespace supple::samples
