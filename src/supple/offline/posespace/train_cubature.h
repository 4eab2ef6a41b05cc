// SPDX-License-Identifier: Apache-2.0
// Elements and vertices that stand for all of a character's flesh (offline/cubature), trained around its neutral pose
// and in the poses that it takes; and the linear correction that goes with them (asset/pose_space_model.h).
#pragma once

#include "supple/fem/elastic_body.h"
#include "supple/offline/posespace/reduce_body.h"

namespace supple {

struct TrainingInput {
  const ElasticBody& body;
  const Rig& rest;
  const TetMesh& mesh;
  const MatX& basis;
  const VecX& stiffness;                      ///< Λ = UᵀKU, diagonal
  std::span<const Index> free;                ///< vertices that flesh can move
  const MatX& accelerations;                  ///< of the known motion, see KnownMotion
  std::span<const std::vector<Vec3>> shapes;  ///< rest shapes in poses that the character takes
  double height = 1;
};

struct PoseCubature {
  Cubature elements;  ///< sites are elements of the mesh
  Cubature vertices;
  MatX correction;           ///< Λ − K_c, limited
  double elastic_error = 0;  ///< on samples that were not trained with, of the whole force
  double inertial_error = 0;
};

PoseCubature train_cubature(const TrainingInput& input, const ReduceSettings& settings, Progress& progress);

}  // namespace supple
