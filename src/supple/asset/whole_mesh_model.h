// SPDX-License-Identifier: Apache-2.0
// What models have in common that keep the whole mesh of a character: the tetrahedra with their materials, what bones
// hold, the rest shape Φ(p) that follows the rig, and how the skin hangs on the mesh,
//   ū_v = Σ_k w_vk u_vk,  k = 1 … 4.
#pragma once

#include "supple/asset/made_for.h"
#include "supple/mesh/volume_mesh.h"
#include "supple/rig/rig.h"

#include <array>
#include <memory>
#include <string>

namespace supple {

struct WholeMeshModel {
  static constexpr int nodes = 4;

  std::string name;                                       ///< of the character
  TetMesh mesh;                                           ///< neutral pose [m], with its materials; no sets or regions
  std::vector<Index> fixed;                               ///< vertices that follow the rig, ascending
  std::shared_ptr<const Rig> rest;                        ///< Φ over all vertices of the mesh
  std::vector<std::array<Index, nodes>> surface_vertex;   ///< of the mesh, for each vertex of the skin
  std::vector<std::array<double, nodes>> surface_weight;  ///< sum one
  double extent = 1;                                      ///< the character's largest [m]
  std::vector<std::string> warnings;                      ///< of the build, a sentence each
  MadeFor made_for;

  Index vertex_count() const { return static_cast<Index>(mesh.vertices.size()); }
  Index surface_vertex_count() const { return static_cast<Index>(surface_vertex.size()); }
};

}  // namespace supple
