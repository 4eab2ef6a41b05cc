// SPDX-License-Identifier: Apache-2.0
// FullModel: a character's soft tissue without any reduction: every vertex of its tetrahedra is simulated
// (offline/dynamics/full_pose_dynamics.h). It has what the reduced models are made from. It takes seconds where reduced
// models take milliseconds, and is what they are measured by.
#pragma once

#include "supple/asset/frame_sites.h"
#include "supple/asset/whole_mesh_model.h"
#include "supple/fem/material.h"
#include "supple/rig/deform/pose_space.h"

#include <optional>

namespace supple {

struct FullModel : WholeMeshModel {
  MaterialModel material = MaterialModel::flesh;
  /// Where materials change with the pose (2016 paper, Eq. 36): the poses, and for each of them the materials of all
  /// elements; absent: those of the mesh in all poses.
  std::optional<PoseSpaceWeights> poses;
  std::vector<std::vector<ElasticMaterial>> pose_materials;
  FrameSites frames;             ///< the turning flesh that damping looks from
  double flesh_frequency = 0;    ///< [Hz]
  double damping = 0.2;          ///< ratio, at that frequency
  double most_acceleration = 0;  ///< [m/s²] as in CharacterAsset
  double gain = 1;               ///< likewise
  double exaggeration = 1;       ///< likewise
};

}  // namespace supple
