// SPDX-License-Identifier: Apache-2.0
// The basis of every pose that a character's reduced model knows (2016 paper, 5, 6 and 7). Three kinds of shapes share
// it (measured on the projection of full simulations: docs/theory.md):
//   linear modes         how flesh rings in that pose                                4/9 of r
//   inertial responses   K⁻¹ M a, how flesh gives way when the rig moves it: to      3/9
//                        accelerations of the character's own clips and of random motion around the pose
//   modal derivatives    how modes curve as they grow, weighted as in Eq. 16 of the  2/9
//                        2005 paper
// all of them within a region where bases are local, and none of them against the contacts of the pose
// (offline/modes/constrained_modes.h).
#pragma once

#include "supple/base/progress.h"
#include "supple/base/stage_store.h"
#include "supple/fem/elastic_body.h"
#include "supple/offline/modes/constraint_rows.h"
#include "supple/offline/posespace/frame_sites.h"
#include "supple/offline/posespace/pose_basis.h"
#include "supple/offline/regions/regions.h"

namespace supple {

/// What is known of how the character moves; all of it may be empty.
struct KnownMotion {
  std::vector<std::vector<double>> poses;  ///< some that it takes, to choose frame sites by
  MatX accelerations;  ///< of all vertices, turned back by their rotation since the neutral pose; one moment per column
  std::vector<std::vector<double>> moments;  ///< the pose of each column
};

struct PoseBasesInput {
  const ElasticBody& body;  ///< neutral pose
  const TetMesh& mesh;
  const Rig& rest;
  std::span<const Index> fixed;
  const KnownMotion& motion;
  const PoseSpaceWeights* weights = nullptr;    ///< of the poses; null: the neutral pose alone
  std::span<const LocalRegion> regions;         ///< with their numbers of modes; none: `size` global ones
  std::span<const SparseConstraints> contacts;  ///< of each pose; none: nowhere
  double height = 1;                            ///< [m]
  int size = 45;                                ///< r
  std::uint64_t seed = 1;
  StageStore* store = &StageStore::none();
  ContentHash content = {};  ///< of all the above but `regions`, `contacts` and `size`, for the store
};

struct PoseBases {
  std::vector<int> region_sizes;  ///< columns of each region; one alone: all
  VecX frequencies;               ///< of the neutral pose's linear modes, ascending [Hz]
};

/// The body in a pose, material of the pose included.
ElasticBody posed_body(const PoseBasesInput& input, const PoseBasis& pose);

/// Fills `basis` of every pose; p, positions and turns are given. Columns are mass-orthonormal within each region.
Result<PoseBases> make_bases(const PoseBasesInput& input, std::span<PoseBasis> poses, Progress& progress);

}  // namespace supple
