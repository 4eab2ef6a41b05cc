// SPDX-License-Identifier: Apache-2.0
// FullModel: a character's soft tissue without any reduction: every vertex of its tetrahedra is simulated
// (offline/dynamics/full_pose_dynamics.h). It has what the reduced models are made from: mesh, materials, what the
// bones hold, the rest shape Φ(p) that follows the rig, and how the skin hangs on the mesh,
//   ū_v = Σ_k w_vk u_vk,  k = 1 … 4.
// It takes seconds where reduced models take milliseconds, and is what they are measured by.
#pragma once

#include "supple/asset/frame_sites.h"
#include "supple/asset/made_for.h"
#include "supple/fem/material.h"
#include "supple/mesh/volume_mesh.h"
#include "supple/rig/deform/pose_space.h"

#include <memory>
#include <optional>
#include <string>

namespace supple {

struct FullModel {
  static constexpr int nodes = 4;

  std::string name;  ///< of the character
  TetMesh mesh;      ///< neutral pose [m], with its materials; no sets or regions
  MaterialModel material = MaterialModel::flesh;
  /// Where materials change with the pose (2016 paper, Eq. 36): the poses, and for each of them the materials of all
  /// elements; absent: those of the mesh in all poses.
  std::optional<PoseSpaceWeights> poses;
  std::vector<std::vector<ElasticMaterial>> pose_materials;
  std::vector<Index> fixed;                               ///< vertices that follow the rig, ascending
  std::shared_ptr<const Rig> rest;                        ///< Φ over all vertices of the mesh
  FrameSites frames;                                      ///< the turning flesh that damping looks from
  std::vector<std::array<Index, nodes>> surface_vertex;   ///< of the mesh, for each vertex of the skin
  std::vector<std::array<double, nodes>> surface_weight;  ///< sum one
  double extent = 1;                                      ///< the character's largest [m]
  double flesh_frequency = 0;                             ///< [Hz]
  double damping = 0.2;                                   ///< ratio, at that frequency
  double most_acceleration = 0;                           ///< [m/s²] as in CharacterAsset
  double gain = 1;                                        ///< likewise
  double exaggeration = 1;                                ///< likewise
  std::vector<std::string> warnings;                      ///< of the build, a sentence each
  MadeFor made_for;

  Index vertex_count() const { return static_cast<Index>(mesh.vertices.size()); }
  Index surface_vertex_count() const { return static_cast<Index>(surface_vertex.size()); }
};

}  // namespace supple
