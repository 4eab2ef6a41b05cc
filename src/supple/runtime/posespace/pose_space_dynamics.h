// SPDX-License-Identifier: Apache-2.0
// PoseSpaceDynamics: soft tissue on a moving rig, one instance of a character (2016 paper, Eq. 4 to 9).
//
//   M̃ q̈ + D̃ q̇ + f̃(q) = f̃_ext − Uᵀ M B⁻¹ a,   D̃ = α M̃ + β Λ̃
//
// with M̃, Λ̃ of pose_interpolation.h, f̃ of cubature_forces.h and a of inertial_forces.h. Only differences of placements
// enter, each in its own place: the motion is the same wherever in the world, and whichever way, it happens.
//
// Damping is made of the stiffness at rest, Λ̃, and not of K̃(q): flesh that is squeezed may lose stiffness and more,
// and damping must never drive. A step minimises a function (descend() in the .cpp), so Newton's method can look
// where it goes: however violent the motion, what comes out is lower than what went in.
//
// An engine shows frames, and flesh wants small steps. step() takes as many as asked for from the last frame to this
// one: rest shape, bases, frames and the equations at rest are those of the frame's end and are found once, while the
// rig moves smoothly through the sub-steps (inertial_forces.h).
//
// step() allocates nothing and never throws; a step that breaks down is undone, the flesh put at rest, and that is
// reported: no NaN leaves.
#pragma once

#include "supple/base/result.h"
#include "supple/rig/pose.h"
#include "supple/runtime/posespace/inertial_forces.h"
#include "supple/runtime/posespace/level_of_detail.h"
#include "supple/runtime/posespace/step_system.h"
#include "supple/runtime/posespace/surface_shape.h"

namespace supple {

using PoseSpaceIntegrator = SoftIntegrator;
using PoseSpaceSettings = SoftStepSettings;
using PoseSpaceReport = SoftStepReport;

template <class T>
class PoseSpaceDynamics {
 public:
  /// Prepares the model and makes a first instance of the character. `model` must not be null.
  static Result<PoseSpaceDynamics> create(std::shared_ptr<const PoseSpaceModel> model,
                                          const PoseSpaceSettings& settings);
  /// Makes another instance of a character that is prepared already. Instances share all that doesn't move.
  static Result<PoseSpaceDynamics> create(std::shared_ptr<const PreparedModel<T>> prepared,
                                          const PoseSpaceSettings& settings);

  int size() const { return prepared_->size; }
  const PoseSpaceModel& model() const { return *prepared_->model; }
  const std::shared_ptr<const PreparedModel<T>>& prepared() const { return prepared_; }
  const PoseSpaceSettings& settings() const { return settings_; }

  /// Advances the flesh to the moment, `substeps` time steps later, at which the character is at `placement` and in
  /// pose `p`.
  PoseSpaceReport step(const RigidTransform& placement, std::span<const double> p, const SoftForces& forces = {},
                       int substeps = 1);
  /// Level of detail: from the next step on `count` coordinates are enough, rounded up to whole vectors (eight in
  /// single precision). Others fade out, or in, over `seconds`; then they cost nothing, or all (level_of_detail.h).
  void set_detail(int count, double seconds = 0.5) { detail_.ask(prepared_->patches, count, seconds); }
  /// Tells how many coordinates the last step computed.
  int detail() const { return detail_.kept().count(); }
  /// Tells that the character will be put, not moved, to where the next step has it: no inertia comes of it. The flesh
  /// keeps its state.
  void cut() { inertia_.forget(); }
  /// Puts the flesh at rest and forgets the motion of the rig.
  void reset();

  std::span<const T> coordinates() const { return {q_.data(), to_size(size())}; }
  std::span<const T> velocities() const { return {v_.data(), to_size(size())}; }
  /// Puts the flesh elsewhere; the motion of the rig goes on. Coordinates that are not computed stay zero.
  void set_state(std::span<const T> q, std::span<const T> velocity);

  T elastic_energy() { return forces_.energy(q_.data()); }
  T kinetic_energy();

  /// Gives the soft displacement of every vertex of the surface, in the world [m], for any coordinates q, placement and
  /// pose. The state isn't touched. Allocates nothing. In the pose of the last step, bit by bit, it takes the least
  /// time: what the step has found out of the pose is used again.
  void surface_displacements(const RigidTransform& placement, std::span<const double> p, std::span<const T> q,
                             std::span<Vec3> displacements);
  void surface_displacements(const RigidTransform& placement, std::span<const double> p, std::span<const T> q,
                             std::span<Eigen::Vector3f> displacements);

  /// One of several instances that are shown at once, each as its own state has it.
  struct Picture {
    PoseSpaceDynamics* character = nullptr;
    RigidTransform placement = {};
    std::span<const double> p = {};
    std::span<Eigen::Vector3f> displacements = {};
  };
  static constexpr std::size_t shown_together = SurfaceShape<T>::together;
  /// Shows up to `shown_together` different instances, with the bits of one after the other. Where they are of one
  /// character this takes less time (surface_shape.h). Allocates nothing.
  static void surface_displacements(std::span<const Picture> pictures);

  /// Rotations and weights of the pose that surface_displacements() was last asked about.
  const FrameField<T>& shown_frames() const { return shown_frames_; }
  const PoseFactors<T>& shown_pose() const { return shown_pose_; }

  /// The accelerations that the last step ended with.
  std::span<const T> accelerations() const { return {a_.data(), to_size(size())}; }
  /// All that the next step depends on: it has the same bits wherever it is taken.
  void exchange(StateBytes& bytes);

 private:
  struct Scheme;

  PoseSpaceDynamics() = default;
  void set_pose(std::span<const double> p);
  /// Finds all that the sub-steps share. Returns false where the equations at rest can't be solved.
  bool begin_frame(const RigidTransform& placement, std::span<const double> p, int substeps, const Scheme& scheme,
                   T mass_damping);
  bool substep(int number, const RigidTransform& placement, const SoftForces& forces, const Scheme& scheme,
               T mass_damping, PoseSpaceReport& report);
  void add_surface_forces(const RigidTransform& placement, const SoftForces& forces, T* f);
  /// Finds the acceleration of a state that the caller has set: q̈ = M̃⁻¹ (f̃_ext − D̃ q̇ − f̃(q)).
  bool find_acceleration(T mass_damping);
  void find_rates(const Scheme& scheme);
  T find_residual(const Scheme& scheme, T mass_damping);
  /// How the function φ that a step minimises fell in an iteration: about as Newton's method predicts, which has then
  /// said all it can; differently; or not at all.
  enum class Descent { expected, surprising, none };
  /// Goes from next_q_ against along_, by a step that is shortened until φ falls. `energy`, the elastic energy at
  /// next_q_, is brought up to date.
  Descent descend(T& energy);
  T start(const Scheme& scheme, T mass_damping);
  bool solve(const Scheme& scheme, T mass_damping, PoseSpaceReport& report);
  /// Finds rotations and weights of the pose that is shown.
  void show_pose(std::span<const double> p);

  std::shared_ptr<const PreparedModel<T>> prepared_;
  PoseSpaceSettings settings_;
  std::unique_ptr<RigWorkspace> rig_workspace_, shown_workspace_;
  FrameField<T> frames_, shown_frames_;
  PoseFactors<T> shown_pose_;
  CubatureForces<T> forces_;
  InertialForces<T> inertia_;
  SurfaceShape<T> surface_;
  std::vector<Vec3> positions_, shown_positions_;
  std::vector<double> posed_at_;  ///< p of the last set_pose()

  bool accelerated_ = true;           ///< a_ fits q_ and v_
  T energy_ = T(0);                   ///< elastic, after the last step
  T precision_ = T(0);                ///< of linear equations in this one
  std::vector<T> q_, v_, a_, force_;  ///< padded to the stride
  std::vector<T> next_q_, next_v_, next_a_, residual_, along_, elastic_, trial_;
  LevelOfDetail detail_;
  KeptCholesky<T> mass_;
  StepSystem<T> system_;
};

extern template class PoseSpaceDynamics<float>;
extern template class PoseSpaceDynamics<double>;

}  // namespace supple
