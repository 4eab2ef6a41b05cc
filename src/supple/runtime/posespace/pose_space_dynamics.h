// SPDX-License-Identifier: Apache-2.0
// PoseSpaceDynamics: soft tissue on a moving rig, one instance of a character (2016 paper, Eq. 4 to 9).
//
// A vertex stands in the world at x = W (Φ(p) + R U q): W the placement of the character's root, Φ its rest shape, R
// the local rotations of the rest shape. Backward Euler asks for
//   Uᵀ M B⁻¹ (x' − 2 x + x°)/h² + D̃ q̇ + f̃(q) = f̃_ext        ' next, ° previous step; B = W R at the next
// With UᵀMU = 1 this is  q̈ + D̃ q̇ + f̃(q) = f̃_ext − Uᵀ M B⁻¹ a,  where
//   a = [ΔΔ(WΦ) − 2 (B_n − B) U q_n + (B_n-1 − B) U q_n-1] / h²
// is the acceleration of the rest shape in the world, and of the displacement that turns with it: centrifugal, Euler
// and Coriolis forces of every limb. These differences belong to the middle of their three moments, one step ago.
// Backward Euler is of first order anyway; Newmark continues them to the end of the step, 2 a − a°, and takes q_n + h²
// q̈_n / 2 for q_n in a, which leaves errors of second order only. `a` is asked for at the inertial cubature vertices
// only. Only differences of placements enter, each in its own place: the motion is the same wherever in the world, and
// whichever way, it happens.
//
// Rayleigh damping D̃ = α + β K̃(q). step() allocates nothing and never throws; a step that breaks down is undone, the
// flesh put at rest, and that is reported: no NaN leaves.
#pragma once

#include "supple/base/result.h"
#include "supple/rig/pose.h"
#include "supple/runtime/posespace/cubature_forces.h"

namespace supple {

enum class PoseSpaceIntegrator { backward_euler, newmark };

struct PoseSpaceSettings {
  PoseSpaceIntegrator integrator = PoseSpaceIntegrator::newmark;
  double time_step = 1.0 / 240;    ///< [s]
  double mass_damping = 0.0;       ///< α [1/s]
  double stiffness_damping = 0.0;  ///< β [s]
  int iterations = 1;              ///< Newton iterations per step
};

/// A force on a vertex of the surface, in the world [N].
struct SurfaceForce {
  Index vertex = 0;
  Vec3 force = Vec3::Zero();
};

struct SoftForces {
  Vec3 gravity = Vec3::Zero();  ///< [m/s²]. Rigs are drawn as gravity leaves them, so by default there is none.
  Vec3 wind = Vec3::Zero();     ///< velocity of the air [m/s]
  double drag = 0.0;            ///< share of the velocity against the air that is lost per second [1/s]
  std::span<const SurfaceForce> surface = {};
};

struct PoseSpaceReport {
  double residual = 0.0;   ///< |residual| before the last iteration, relative to the first
  bool recovered = false;  ///< the step broke down: the flesh was put at rest
};

template <class T>
class PoseSpaceDynamics {
 public:
  /// `model` is shared, and must not be empty.
  static Result<PoseSpaceDynamics> create(std::shared_ptr<const PoseSpaceModel> model,
                                          const PoseSpaceSettings& settings);

  int size() const { return forces_.size(); }
  const PoseSpaceModel& model() const { return *model_; }
  const PoseSpaceSettings& settings() const { return settings_; }

  /// The character is at `placement` and in pose `p` one time step later.
  PoseSpaceReport step(const RigidTransform& placement, std::span<const double> p, const SoftForces& forces = {});
  /// The next step starts the motion anew: what moved the character there was no motion. The flesh keeps its state.
  void cut() { known_ = 0; }
  /// At rest, motion forgotten.
  void reset();

  std::span<const T> coordinates() const { return {q_.data(), static_cast<std::size_t>(size())}; }
  std::span<const T> velocities() const { return {v_.data(), static_cast<std::size_t>(size())}; }
  /// Puts the flesh elsewhere; the motion of the rig goes on.
  void set_state(std::span<const T> q, std::span<const T> velocity);

  T elastic_energy();
  T kinetic_energy() const;

  /// Soft displacement in the world of every vertex of the surface, for any coordinates q, placement and pose; without
  /// touching the state. Allocates nothing.
  void surface_displacements(const RigidTransform& placement, std::span<const double> p, std::span<const T> q,
                             std::span<Vec3> displacements);

 private:
  struct Motion {   ///< of an inertial cubature vertex: what the next two steps need to know
    Vec3 rest;      ///< W Φ without W's translation
    Mat3 rotation;  ///< B = W R
  };
  struct Scheme;
  /// The rest of the elastic force is the linear one of the neutral pose. Few elements may lose sight of some
  /// coordinates in poses far from the one they were chosen in; this way none of them is ever without stiffness.
  static constexpr T cubature_share = T(0.998);

  PoseSpaceDynamics() = default;
  void pose_points(std::span<const double> p);
  /// f −= Uᵀ M B⁻¹ a, f̃_ext included.
  Vec3 acceleration(Index vertex, const Vec3& rest, const Mat3& B, const Vec3& shift);
  void add_inertia(const RigidTransform& placement, const SoftForces& forces, T* f);
  void add_surface_forces(const RigidTransform& placement, const SoftForces& forces, T* f);
  void remember_motion(const RigidTransform& placement);
  /// q̈ = f̃_ext − D̃ q̇ − f̃(q), of a state that was put in.
  void find_acceleration();
  bool solve(const Scheme& scheme, PoseSpaceReport& report);
  Vec3 basis_times(Index point, const T* q) const;
  void add_basis_transposed(const T* rows, const Vec3& force, T* f) const;

  std::shared_ptr<const PoseSpaceModel> model_;
  PoseSpaceSettings settings_;
  std::unique_ptr<RigWorkspace> rig_workspace_;
  FrameField<T> frames_;
  FrameField<T> shown_frames_;
  CubatureForces<T> forces_;
  std::vector<Vec3> positions_;
  std::vector<Vec3> shown_positions_;
  std::vector<Eigen::Matrix<T, 3, 3>> rotations_;  ///< R at the inertial cubature vertices
  std::vector<T> inertial_basis_;                  ///< U at the cubature vertices, three padded rows each
  std::vector<T> surface_basis_;                   ///< A U, likewise

  T damping_ = T(0);         ///< α and the drag of the air, which Uᵀ M U = 1 makes alike
  bool accelerated_ = true;  ///< a_ fits q_ and v_
  int known_ = 0;            ///< how many past steps the motion is known for, at most 3
  std::vector<Motion> last_, before_last_;
  std::vector<Vec3> accelerations_;  ///< a of the last step
  Vec3 last_translation_ = Vec3::Zero(), before_last_translation_ = Vec3::Zero();

  std::vector<T> q_, v_, a_, force_;  ///< padded to the stride
  std::vector<T> next_q_, next_v_, next_a_, residual_, past_q_, twice_q_, elastic_;
  std::vector<T> linear_;  ///< (1 − cubature_share) times the stiffness of the neutral pose
  DenseCholesky<T> system_;
};

extern template class PoseSpaceDynamics<float>;
extern template class PoseSpaceDynamics<double>;

}  // namespace supple
