// SPDX-License-Identifier: Apache-2.0
// FullPoseDynamics: the truth that reduced soft tissue is measured by. The same physics, step and damping as
// PoseSpaceDynamics (runtime/posespace), with every vertex of the mesh free instead of r coordinates: fixed bones, rest
// shape Φ(p) from the same rig, all elements, consistent mass.
//
// Damping is made of the stiffness of the pose at rest, as there. Displacements are kept in the frame of the
// character's root. Damping acts on what moves relative to the turning flesh, so the state of each vertex is carried
// along by the rotation of its surroundings from step to step.
#pragma once

#include "supple/fem/linear_solver.h"
#include "supple/offline/posespace/frame_sites.h"
#include "supple/runtime/posespace/pose_space_dynamics.h"

namespace supple {

class FullPoseDynamics {
 public:
  /// `mesh` with its materials, neutral pose; `rest` is Φ over its vertices. Damping needs a frame to see velocities
  /// in: that of a reduced model's `frames`, or of the elements around each vertex.
  static Result<FullPoseDynamics> create(const TetMesh& mesh, MaterialModel material, std::span<const Index> fixed,
                                         std::shared_ptr<const Rig> rest, const PoseSpaceSettings& settings,
                                         const FrameSites* frames = nullptr);

  /// As PoseSpaceDynamics::step(); of the forces only gravity counts.
  PoseSpaceReport step(const RigidTransform& placement, std::span<const double> p, const SoftForces& forces = {});
  void cut() { known_ = 0; }

  const VecX& displacements() const { return u_; }  ///< of all vertices, in the root's frame [m]
  const VecX& velocities() const { return v_; }

 private:
  FullPoseDynamics(const TetMesh& mesh, ElasticBody body, FreeVertices free, std::shared_ptr<const Rig> rest,
                   const PoseSpaceSettings& settings);
  void pose(std::span<const double> p);
  VecX acceleration(const RigidTransform& placement);
  void find_rest_stiffness();
  bool solve(const VecX& force, PoseSpaceReport& report);

  TetMesh mesh_;
  ElasticBody neutral_;
  ElasticBody body_;
  std::shared_ptr<const Rig> rest_;
  PoseSpaceSettings settings_;
  std::shared_ptr<LinearSolver> solver_;
  BlockMatrix K_, K_rest_;
  VecX x_;                       ///< Φ(p)
  FrameSites frames_;            ///< empty: a vertex turns as the elements around it
  std::vector<Mat3> rotations_;  ///< of the vertices since the neutral pose
  VecX u_, v_, a_, past_u_;
  int known_ = 0;
  struct Past {
    VecX rest, displacement, acceleration;  ///< in the world, without the placement's translation
    Vec3 translation = Vec3::Zero();
  };
  Past last_, before_last_;
  VecX driven_;  ///< what acceleration() found in the last step, in the world
};

}  // namespace supple
