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
#include "supple/rig/deform/pose_space.h"
#include "supple/rig/pose.h"
#include "supple/rig/rig.h"
#include "supple/runtime/flesh_drive.h"

#include <optional>

namespace supple {

class FullPoseDynamics {
 public:
  /// Flesh that is farther from its rest shape than so many times the character's extent has flown apart.
  static constexpr double absurd = 2;

  /// `mesh` with its materials, neutral pose; `rest` is Φ over its vertices. Damping needs a frame to see velocities
  /// in: that of a reduced model's `frames`, or of the elements around each vertex.
  static Result<FullPoseDynamics> create(const TetMesh& mesh, MaterialModel material, std::span<const Index> fixed,
                                         std::shared_ptr<const Rig> rest, const SoftStepSettings& settings,
                                         const FrameSites* frames = nullptr);

  /// The character is at `placement` and in pose `p` one time step later. Of the forces gravity and air count; a step
  /// that breaks down puts the flesh at rest.
  SoftStepReport step(const RigidTransform& placement, std::span<const double> p, const SoftForces& forces = {});
  /// The same under a force alone, in the neutral pose: M ü + D u̇ + f(u) = force. Not to be mixed with step().
  SoftStepReport push(const VecX& force);
  void cut() { known_ = 0; }
  /// Newton's method goes on where φ falls by so much more or less than it expects. A truth has to be converged; who
  /// only wants to see where flesh goes may ask for less.
  void set_surprise(double share) { surprise_ = share; }
  /// Materials that change with the pose (2016 paper, Eq. 36): E(p) = Σ_i w_i(p) E_i, one set of all elements for each
  /// pose of `weights`; an empty one: the mesh's own.
  Status set_materials(PoseSpaceWeights weights, std::span<const std::vector<ElasticMaterial>> of_poses);
  /// From now on flesh moves in the span of these columns alone, which turn with the frames: u = R U q. With all
  /// elements and the exact strain of R U q, this is what a reduced model would do if its basis were its only
  /// approximation.
  void restrict_to(MatX basis) { basis_ = std::move(basis); }
  /// From now on each vertex has its share of the mass for itself. A reduced model has the mass of the neutral pose,
  /// which couples neighbours as if they turned alike; lumped, the two are the same.
  void lump_mass();

  const VecX& displacements() const { return u_; }  ///< of all vertices, in the root's frame [m]
  const VecX& velocities() const { return v_; }
  /// R of every vertex since the neutral pose, in the pose of the last step.
  const std::vector<Mat3>& rotations() const { return rotations_; }
  double elastic_energy() const { return body_.energy(u_); }           ///< [J]
  double kinetic_energy() const { return 0.5 * v_.dot(mass() * v_); }  ///< [J]

 private:
  const BlockMatrix& mass() const { return lumped_ ? *lumped_ : neutral_.consistent_mass(); }
  FullPoseDynamics(const TetMesh& mesh, ElasticBody body, FreeVertices free, std::shared_ptr<const Rig> rest,
                   const SoftStepSettings& settings);
  void pose(std::span<const double> p);
  VecX acceleration(const RigidTransform& placement);
  /// Adds drag · (velocity of the rest shape − wind) to an acceleration in the root's frame.
  void add_air(const RigidTransform& placement, const SoftForces& forces, VecX& a) const;
  void find_rest_stiffness();
  bool solve(const VecX& force, double mass_damping, SoftStepReport& report);
  /// How φ changes along −t delta but for the elastic energy, t slope + ½ t² curvature; what Newton's method expects of
  /// all of it at t = 1, and what is rounding.
  struct Quadratic {
    double slope, curvature, expected, noise;
  };
  struct Descent {
    double length, energy;
    bool surprising;
  };
  /// How far along −delta φ falls, and the elastic energy there; nothing where it doesn't.
  std::optional<Descent> descend(const VecX& from, const VecX& delta, const Quadratic& known, double energy) const;
  /// delta ← A⁻¹ residual, within the span of basis_ where there is one. False where A is not positive there.
  bool solve_linear(const BlockMatrix& A, const VecX& residual, VecX& delta) const;

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
  double surprise_ = 0.002;
  double energy_noise_ = 0;  ///< differences below this are rounding errors [J]
  struct PoseMaterials {
    PoseSpaceWeights weights;
    std::vector<ElasticBody> bodies;  ///< in the neutral pose, each with the materials of one pose
  };
  std::optional<PoseMaterials> materials_;
  std::vector<double> material_weights_, material_scratch_;
  MatX basis_;  ///< turned back; empty: every vertex is free
  std::optional<BlockMatrix> lumped_;
  VecX u_, v_, a_, past_u_;
  int known_ = 0;
  struct Past {
    VecX rest, displacement, acceleration;  ///< in the world, without the placement's translation
    Vec3 translation = Vec3::Zero();
  };
  Past last_, before_last_;
  std::vector<DrivenAcceleration> driven_, carried_;  ///< of the vertices, in the world
  std::vector<DrivenPoint> points_;                   ///< likewise
  FleshDrive drive_;
};

}  // namespace supple
