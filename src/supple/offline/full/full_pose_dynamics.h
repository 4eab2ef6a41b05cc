// SPDX-License-Identifier: Apache-2.0
// FullPoseDynamics: the truth that reduced soft tissue is measured by. Every vertex of the mesh is free: fixed bones,
// rest shape Φ(p) from the rig, all elements, consistent mass,
//
//   M ü + (α M + β K_rest) u̇ + f(u) = f_ext − M a,   a: acceleration of the rest shape in the world
//
// with the step and damping of PoseSpaceDynamics (runtime/posespace), and gravity and air as there.
//
// Damping is made of the stiffness of the pose at rest, as there. Displacements are kept in the frame of the
// character's root. Damping acts on what moves relative to the turning flesh, so the state of each vertex is carried
// along by the rotation of its surroundings from step to step.
#pragma once

#include "supple/fem/linear_solver.h"
#include "supple/offline/fitting/frame_sites.h"
#include "supple/rig/pose.h"
#include "supple/rig/rig.h"
#include "supple/runtime/soft_step.h"

namespace supple {

class FullPoseDynamics {
 public:
  /// `mesh` with its materials, neutral pose; `rest` is Φ over its vertices. Damping needs a frame to see velocities
  /// in: that of a reduced model's `frames`, or of the elements around each vertex.
  static Result<FullPoseDynamics> create(const TetMesh& mesh, MaterialModel material, std::span<const Index> fixed,
                                         std::shared_ptr<const Rig> rest, const SoftStepSettings& settings,
                                         const FrameSites* frames = nullptr);

  /// The character is at `placement` and in pose `p` one time step later. Of the forces gravity and air count; a step
  /// that breaks down puts the flesh at rest.
  SoftStepReport step(const RigidTransform& placement, std::span<const double> p, const SoftForces& forces = {});
  void cut() { known_ = 0; }

  const VecX& displacements() const { return u_; }  ///< of all vertices, in the root's frame [m]
  const VecX& velocities() const { return v_; }
  /// R of every vertex since the neutral pose, in the pose of the last step.
  const std::vector<Mat3>& rotations() const { return rotations_; }
  double elastic_energy() const { return body_.energy(u_); }                               ///< [J]
  double kinetic_energy() const { return 0.5 * v_.dot(neutral_.consistent_mass() * v_); }  ///< [J]

 private:
  FullPoseDynamics(const TetMesh& mesh, ElasticBody body, FreeVertices free, std::shared_ptr<const Rig> rest,
                   const SoftStepSettings& settings);
  void pose(std::span<const double> p);
  VecX acceleration(const RigidTransform& placement);
  /// Adds drag · (velocity of the rest shape − wind) to an acceleration in the root's frame.
  void add_air(const RigidTransform& placement, const SoftForces& forces, VecX& a) const;
  void find_rest_stiffness();
  bool solve(const VecX& force, double mass_damping, SoftStepReport& report);

  TetMesh mesh_;
  ElasticBody neutral_;
  ElasticBody body_;
  std::shared_ptr<const Rig> rest_;
  SoftStepSettings settings_;
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
