// SPDX-License-Identifier: Apache-2.0
// QuasistaticModel: a character's flesh at rest in every pose (2014 paper): the tetrahedra with their materials, what
// bones hold and where the rig carries it, how the flesh turns with the bones, and how the skin hangs on the mesh,
//   x̄_v = Σ_k w_vk x_vk,  k = 1 … 4.
// Rotations come from turning sites, four points each that a rig moves: the bones of a skin, or places in the flesh
// where there are none. Each vertex blends those of some sites (offline/quasistatic/flesh_turns.h).
#pragma once

#include "supple/asset/made_for.h"
#include "supple/mesh/volume_mesh.h"
#include "supple/rig/rig.h"

#include <array>
#include <memory>
#include <string>

namespace supple {

/// Which sites turn a vertex: entries first[v] … first[v + 1] − 1, the largest weight first.
struct TurnBlends {
  std::vector<Index> first;
  std::vector<Index> site;
  std::vector<double> weight;  ///< positive; those of a vertex sum to one
};

struct QuasistaticModel {
  static constexpr int nodes = 4;

  std::string name;                                       ///< of the character
  TetMesh mesh;                                           ///< neutral pose [m], with its materials; no sets or regions
  std::vector<Index> fixed;                               ///< vertices that follow the rig, ascending
  std::shared_ptr<const Rig> rest;                        ///< Φ over all vertices of the mesh
  std::shared_ptr<const Rig> turns;                       ///< four points for each site
  TurnBlends blends;                                      ///< of the mesh's vertices
  std::vector<std::array<Index, nodes>> surface_vertex;   ///< of the mesh, for each vertex of the skin
  std::vector<std::array<double, nodes>> surface_weight;  ///< sum one
  double extent = 1;                                      ///< the character's largest [m]
  std::vector<std::string> warnings;                      ///< of the build, a sentence each
  MadeFor made_for;

  Index vertex_count() const { return static_cast<Index>(mesh.vertices.size()); }
  Index surface_vertex_count() const { return static_cast<Index>(surface_vertex.size()); }
  Index site_count() const { return turns->vertex_count() / 4; }
};

}  // namespace supple
