// SPDX-License-Identifier: Apache-2.0
// QuasistaticModel: a character's flesh at rest in every pose (2014 paper): its whole mesh, and how the flesh turns
// with the bones. Rotations come from turning sites, four points each that a rig moves: the bones of a skin, or places
// in the flesh where there are none. Each vertex blends those of some sites (offline/quasistatic/flesh_turns.h).
#pragma once

#include "supple/asset/whole_mesh_model.h"

namespace supple {

/// Which sites turn a vertex: entries first[v] … first[v + 1] − 1, the largest weight first.
struct TurnBlends {
  std::vector<Index> first;
  std::vector<Index> site;
  std::vector<double> weight;  ///< positive; those of a vertex sum to one
};

struct QuasistaticModel : WholeMeshModel {
  std::shared_ptr<const Rig> turns;  ///< four points for each site
  TurnBlends blends;                 ///< of the mesh's vertices
  Index site_count() const { return turns->vertex_count() / 4; }
};

}  // namespace supple
