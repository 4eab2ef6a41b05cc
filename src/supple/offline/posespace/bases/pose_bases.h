// SPDX-License-Identifier: Apache-2.0
// The basis of every pose that a character's reduced model knows (2016 paper, 5, 6 and 7): the r principal directions,
// in the metric of what is seen (skin_weighted_metric.h), of four kinds of shapes together, each kind brought to one
// size:
//   known motion         how flesh sways over stretches of the clips, far enough to stiffen                        1
//                        (dynamics/motion_runs.h); clips count as the fourth root of their size, so that a hop
//                        doesn't drown a wave
//   made-up motion       the same under motion of the rig that nobody has shown                                   0.7
//   the rig              K⁻¹ M ∂Φ/∂p_j, what any other motion asks for (flesh_responses.h), by the root of its size 0.3
//   linear modes         how flesh rings in that pose, φ_i / λ_i                                                 0.2
//   modal derivatives    how modes curve as they grow, weighted as in Eq. 16 of the 2005 paper                   0.1
// all of them within a patch where bases are local, and none of them against the contacts of the pose
// (offline/modes/constrained_modes.h). A patch's known motion is its part W'_k² / Σ_j W'_j² of that of the whole body,
// the same in all poses, so that bases can be blended. Measured: docs/theory.md.
#pragma once

#include "supple/base/progress.h"
#include "supple/base/stage_store.h"
#include "supple/fem/elastic_body.h"
#include "supple/mesh/embedding.h"
#include "supple/offline/dynamics/motion_runs.h"
#include "supple/offline/fitting/frame_sites.h"
#include "supple/offline/modes/constraint_rows.h"
#include "supple/offline/patches/patches.h"
#include "supple/offline/posespace/bases/flesh_responses.h"
#include "supple/offline/posespace/bases/pose_basis.h"

#include <functional>

namespace supple {

/// What is known of how the character moves; all of it may be empty.
struct KnownMotion {
  std::vector<std::vector<double>> poses;  ///< some that it takes, to choose frame sites by
  MatX accelerations;  ///< of all vertices, turned back by their rotation since the neutral pose; one moment per column
  std::vector<MotionRun> runs;    ///< that bases are taught with
  std::vector<MotionRun> judges;  ///< that nothing is taught with: the error of what was learnt is estimated by them
};

struct PoseBasesInput {
  const ElasticBody& body;  ///< neutral pose
  const TetMesh& mesh;
  const Rig& rest;
  std::span<const Index> fixed;
  const KnownMotion& motion;
  std::function<TaughtShapes()> teach;             ///< simulates motion.runs; called at most once, and only when needed
  const Embedding* skin = nullptr;                 ///< what is seen; null: all mass alike
  const PoseSpaceWeights* weights = nullptr;       ///< of the poses; null: the neutral pose alone
  std::span<const Patch> patches;                  ///< with their numbers of modes; none: `size` global ones
  std::span<const SparseConstraints> contacts;     ///< of each pose; none: nowhere
  double height = 1;                               ///< [m]
  int size = 45;                                   ///< r
  bool exact_strain = false;                       ///< of the model: what was taught is the bent character's
  double most_acceleration = 0, exaggeration = 1;  ///< that it was taught with, see TaughtBody
  StageStore* store = &StageStore::none();
  ContentHash content = {};  ///< of all the above but `patches`, `contacts` and `size`, for the store
};

struct PoseBases {
  std::vector<int> patch_sizes;  ///< columns of each patch; one alone: all
  VecX frequencies;              ///< of the neutral pose's linear modes, ascending [Hz]
};

/// The body in a pose, material of the pose included.
ElasticBody posed_body(const PoseBasesInput& input, const PoseBasis& pose);

/// Fills `basis` of every pose; p, positions and turns are given. Columns are mass-orthonormal within each patch.
Result<PoseBases> make_bases(const PoseBasesInput& input, std::span<PoseBasis> poses, Progress& progress);

}  // namespace supple
