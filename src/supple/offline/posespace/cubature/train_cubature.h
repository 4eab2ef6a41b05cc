// SPDX-License-Identifier: Apache-2.0
// Elements and vertices that stand for all of a character's flesh (offline/cubature), one set for all poses of its
// model, trained around each of them and in the poses that it takes; weights for each pose, and the linear corrections
// that go with them (2016 paper, 5.3 and 5.4; asset/pose_space_model.h).
#pragma once

#include "supple/base/progress.h"
#include "supple/fem/elastic_body.h"
#include "supple/offline/cubature/cubature.h"
#include "supple/offline/dynamics/motion_runs.h"
#include "supple/offline/fitting/frame_sites.h"
#include "supple/offline/posespace/cubature/blended_pose.h"

namespace supple {

struct TrainingSettings {
  double tolerance = 0.02;
  /// The share of the whole force that cubature may miss: in the poses of the model, where flesh is usually asked to be
  /// exact, and in other poses. Weights are fitted to twice as many samples afterwards, which leaves some six sevenths
  /// of the error.
  double pose_tolerance = 0.02, posed_tolerance = 0.04;
  int elements = 0;  ///< 0: as the tolerance asks
  int vertices = 0;  ///< 0: as the tolerance asks
  std::uint64_t seed = 1;
};

/// How much more energy than usual the corrections may take away before they fade. Flesh is then some three hundred
/// times as far out as usual, farther than any motion takes it, and must still come back.
inline constexpr double typical_takes = 1e5;

struct TrainingInput {
  const ElasticBody& body;  ///< neutral pose
  const Rig& rest;
  const TetMesh& mesh;
  std::span<const PoseBasis> poses;
  const PoseSpaceWeights* weights = nullptr;  ///< of the poses, where they are several
  std::span<const MatX> stiffness;            ///< Λ_i = Û_iᵀ K_i Û_i
  BasisDirections directions = BasisDirections::rotating;
  std::span<const Index> free;                       ///< vertices that flesh can move
  const MatX& accelerations;                         ///< of the known motion, see KnownMotion
  std::span<const std::vector<double>> known_poses;  ///< that the character takes
  double height = 1;
  const FrameSites* frames = nullptr;  ///< how vertices turn: strain is exact. Null: elements turn as a whole
  /// What flesh does when it moves: needed where strain is exact.
  std::function<const TaughtShapes&()> teach = {};
};

struct PoseCubature {
  std::vector<Cubature> elements;  ///< for each pose, the same sites: elements of the mesh
  Cubature vertices;
  std::vector<MatX> corrections;    ///< C = Λ − K_c, of all poses and then of those …
  std::vector<MatX> linear;         ///< Λ beside them, where strain is exact; empty otherwise
  MatX between;                     ///< … between them, one p a column, whose correction has to be known as well
  double correction_limit = 1e-30;  ///< of the model …
  double correction_reach = 0;      ///< … likewise
  double elastic_error = 0;         ///< on samples that were not trained with, of the whole force; the worst pose's …
  double posed_error = 0;           ///< … and in other poses of the character, as steps see them, all together …
  double worst_posed_error = 0;     ///< … and in the worst of them
  double inertial_error = 0;
  double elastic_training_error = 0;
};

PoseCubature train_cubature(const TrainingInput& input, const TrainingSettings& settings, Progress& progress);

/// Elements with a vertex that can move, whose samples take so many bytes each; at most as many as a GiB holds, evenly
/// spread.
std::vector<Index> candidate_elements(const TetMesh& mesh, std::span<const Index> free, std::size_t bytes);

}  // namespace supple
