// SPDX-License-Identifier: Apache-2.0
// A plant that nobody prepared as a plan of domains: its pieces are found (surface_pieces.h) and hung on each other
// (piece_tree.h), large ones are filled with tetrahedra and cut where they branch (branch_labels.h), small ones get a
// few bricks, and copies share what is computed for the first of them.
#pragma once

#include "supple/base/progress.h"
#include "supple/offline/domains/build_domains.h"
#include "supple/offline/domains/piece_tree.h"

namespace supple {

struct PlantSettings {
  bool split = true;              ///< cut pieces where they branch
  int tets = 9000;                ///< of all large pieces together, about
  int branch_size = 14;           ///< r of a domain of tetrahedra
  int whole_size = 24;            ///< r of a plant that can't be told apart
  int leaf_size = 6;              ///< r of a small piece
  int most_kinds = 400;           ///< small pieces of more kinds than these follow what they hang on, rigidly
  std::optional<Vec3> base = {};  ///< the place that holds it [m]; none: the ground
  static constexpr std::size_t most_pieces = 30000;
};

/// What was found, for people.
struct PlantFindings {
  double height = 0;  ///< [m]
  Index pieces = 0, grounded = 0;
  Index copies = 0;       ///< pieces that are copies of others
  Index large = 0;        ///< pieces of tetrahedra, copies included
  Index branches = 0;     ///< domains that large pieces were cut into beyond the first of each
  Index loops = 0;        ///< of branches that stayed in one
  Index rigid = 0;        ///< pieces that only follow
  double widest_gap = 0;  ///< between a piece and what it hangs on [m]
};

struct PlantPlan {
  TreePlan tree;
  std::vector<Index> shown;   ///< for each vertex of the input its vertex of the tree's surface; −1: in no piece
  std::vector<Index> domain;  ///< that carries it; 0 where there is none
  PlantFindings found;
};

/// Fails with a sentence on surfaces without extent, with more pieces than can be told apart, and where nothing can be
/// filled.
Result<PlantPlan> plan_plant(const Surface& surface, const PlantSettings& settings,
                             Progress& progress = Progress::silent());

}  // namespace supple
