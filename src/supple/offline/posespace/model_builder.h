// SPDX-License-Identifier: Apache-2.0
// From what was found over the whole mesh (bases of all poses, chosen cubature sites and weights, frames) to the
// PoseSpaceModel that runs: only the rows that a step or a picture asks for, in blocks of sites that the same
// coordinates move.
#pragma once

#include "supple/asset/pose_space_model.h"
#include "supple/mesh/embedding.h"
#include "supple/mesh/volume_mesh.h"
#include "supple/offline/cubature/cubature.h"
#include "supple/offline/fitting/frame_sites.h"
#include "supple/offline/posespace/bases/pose_basis.h"

namespace supple {

struct ModelParts {
  const TetMesh& mesh;
  const Embedding& embedding;  ///< of the surface
  const FrameSites& frames;
  std::span<const PoseBasis> poses;    ///< the neutral pose first
  std::vector<int> patch_sizes;        ///< columns of each patch, one after the other; empty: one patch
  std::span<const Cubature> elements;  ///< for each pose, the same sites
  const Cubature& vertices;
  std::span<const MatX> inertial;  ///< for each pose, mass_averaged() of its basis: what inertial sites see
  const VecX& vertex_mass;         ///< lumped, one per degree of freedom [kg]
  BasisDirections directions = BasisDirections::rotating;
  bool exact_strain = false;
};

/// Points, sites, blocks and surface of the model; the rest is left to the caller.
PoseSpaceModel build_model(const ModelParts& parts);

}  // namespace supple
