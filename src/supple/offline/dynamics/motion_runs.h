// SPDX-License-Identifier: Apache-2.0
// What flesh does when a character moves, every vertex simulated: the teacher of reduced bases.
//
// Shapes that answer to small loads are not enough to move in: where flesh swings far it gives way in others, and a
// basis that lacks them locks (measured: docs/theory.md). So the body is pushed as far as the character's motion pushes
// it,
//
//   M ü + (α M + β K) u̇ + f(u) = −M Rᵀ a(t)
//
// in its neutral pose and with its own material; a is the acceleration of the rest shape in the world, R how each
// vertex has turned. Models whose strain is exact are taught by the character itself instead, in whatever pose it is,
// and see Rᵀ u. The motion is that of stretches of the clips, and of a rig that moves as nobody has shown it,
// around poses of the clips and as fast as they are:
//
//   p(t) = p_0 · exp(Σ_k a_k sin(ω_k t + φ_k))   for every joint, and for the character's placement
#pragma once

#include "supple/base/progress.h"
#include "supple/fem/elastic_body.h"
#include "supple/offline/fitting/frame_sites.h"
#include "supple/rig/pose.h"
#include "supple/rig/rig.h"
#include "supple/runtime/soft_step.h"

#include <memory>
#include <span>
#include <vector>

namespace supple {

/// A stretch of motion in steps that are `finer` times shorter than `step`. Smooth motion may be learnt from in long
/// steps; clips stop and start at their keys, and flesh that is driven hard by them takes shorter ones: what long steps
/// make of them is another motion, and takes longer to solve.
struct MotionRun {
  static constexpr double step = 1.0 / 60;  ///< [s]
  static constexpr int made_up = -1;
  std::vector<RigidTransform> placements;
  std::vector<std::vector<double>> poses;  ///< beside them
  int clip = made_up;                      ///< that it is a part of
  int finer = 1;
  int every = 2;  ///< so many steps one moment is learnt from

  std::size_t length() const { return poses.size(); }
  double time_step() const { return step / finer; }  ///< [s]
};

/// What made-up motion is like.
struct MadeUpMotion {
  std::vector<std::vector<double>> poses;  ///< that it starts from, in turn
  double acceleration = 0;                 ///< of vertices, root mean square [m/s²]; 0: as it comes
  double height = 1;                       ///< of the character [m]
  RigidTransform frame;  ///< of the character at rest: it is moved along these axes, turned about here
  int runs = 8;
  int length = 90;  ///< steps of each
  unsigned seed = 1;
};

/// Joints turn as far around each pose as the poses differ among themselves, and by a few degrees at least.
std::vector<MotionRun> made_up_runs(const Rig& rest, const MadeUpMotion& motion);

/// Displacements of all vertices at some moments.
struct TaughtShapes {
  MatX displacements;                      ///< in directions that turn with the flesh, one moment per column
  std::vector<std::vector<double>> poses;  ///< beside them
  std::vector<int> clips;                  ///< of the run
  std::vector<int> runs;                   ///< that they are of

  Eigen::Index count() const { return displacements.cols(); }
};

struct TaughtBody {
  const TetMesh& mesh;
  MaterialModel material = MaterialModel::flesh;
  std::span<const Index> fixed;
  std::shared_ptr<const Rig> rest;  ///< Φ over the mesh
  double frequency = 4;             ///< of the flesh [Hz], for its damping
  double most_acceleration = 0;     ///< [m/s²], see FleshDrive; 0: any
  double exaggeration = 1;          ///< likewise: flesh learns where it will be driven to
  double extent = 1;                ///< of the character [m]
  /// How vertices turn: the bent character itself is simulated. Null: the neutral pose, pushed.
  const FrameSites* frames = nullptr;
};

/// How runs are simulated: the drive of their rig, and the damping of flesh that nobody has said anything of.
SoftStepSettings teaching_settings(const TaughtBody& body, double time_step = MotionRun::step);

/// Simulates the runs and keeps every so many moments but for the start. What flies apart is left out.
TaughtShapes simulate_runs(const TaughtBody& body, std::span<const MotionRun> runs,
                           Progress& progress = Progress::silent());

}  // namespace supple
