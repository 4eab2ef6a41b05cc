// SPDX-License-Identifier: Apache-2.0
// From what was found over the whole mesh (bases of all poses, chosen cubature sites and weights, frames) to the
// PoseSpaceModel that runs: only the rows that a step or a picture asks for, in blocks of sites that the same
// coordinates move.
#pragma once

#include "supple/asset/pose_space_model.h"
#include "supple/mesh/embedding.h"
#include "supple/mesh/volume_mesh.h"
#include "supple/offline/cubature/cubature.h"
#include "supple/offline/posespace/frame_sites.h"

namespace supple {

/// The reduced model of one pose, over the whole mesh.
struct PoseBasis {
  std::vector<double> p;
  std::vector<Vec3> positions;             ///< Φ(p)
  std::vector<Mat3> turns;                 ///< R(p), of every vertex
  MatX basis;                              ///< Û: the basis, turned back
  std::vector<ElasticMaterial> materials;  ///< of each element; empty: those of the mesh
};

/// Nine rows of an element, see ElementBlock::gradients; `directions` of the world leave the basis where it points.
MatX element_gradient(const TetMesh& mesh, std::size_t element, const PoseBasis& pose, BasisDirections directions);

struct ModelParts {
  const TetMesh& mesh;
  const Embedding& embedding;             ///< of the surface
  const FrameSites& frames;
  std::span<const PoseBasis> poses;       ///< the neutral pose first
  std::vector<int> region_sizes;          ///< columns of each region, one after the other; empty: one region
  std::span<const Cubature> elements;     ///< for each pose, the same sites
  const Cubature& vertices;
  const VecX& vertex_mass;                ///< lumped, one per degree of freedom [kg]
  BasisDirections directions = BasisDirections::rotating;
};

/// Points, sites, blocks and surface of the model; the rest is left to the caller.
PoseSpaceModel build_model(const ModelParts& parts);

}  // namespace supple
