// SPDX-License-Identifier: Apache-2.0
// InertialForces: what the motion of a rig does to the flesh on it, by cubature over few vertices (2016 paper, 5.4).
//
// A vertex stands in the world at x = W (Φ(p) + R U(p) q) = W Φ + B U q. Backward differences of x over three moments,
// seen by the basis of the last of them, are
//   Uᵀ M B⁻¹ (x' − 2 x + x°)/h² = M̃ (q' − 2 q + q°)/h² + Uᵀ M B⁻¹ a                  ' next, ° previous step
//   a = [ΔΔ(WΦ) − 2 (B_n U_n − B U) q_n + (B_n-1 U_n-1 − B U) q_n-1] / h²
// `a` is the acceleration of the rest shape in the world, which FleshDrive may limit and exaggerate, and of the
// displacement that turns with it and changes with its basis: centrifugal, Euler and Coriolis forces of every limb, and
// what interpolation between poses does. These differences belong to the middle of their three moments, one step ago.
// Backward Euler is of first order anyway; Newmark continues them to the end of the step (DrivenAcceleration in
// flesh_drive.h), and takes q_n + h² q̈_n / 2 for q_n in a, which leaves errors of second order only.
//
// Sub-steps of a frame share bases and rest shapes, those of its end; vertices still move smoothly (rig_curve.h). What
// the new basis makes of the old coordinates is a jump of the displacement, c = (U_n − U) q_n. Flesh hasn't moved, so c
// is handed over at the start of the frame, beside U q, and fades within it.
#pragma once

#include "supple/rig/pose.h"
#include "supple/runtime/flesh_drive.h"
#include "supple/runtime/frame_field.h"
#include "supple/runtime/posespace/pose_interpolation.h"
#include "supple/runtime/posespace/rig_curve.h"

#include <algorithm>
#include <utility>

namespace supple {

template <class T>
class InertialForces {
 public:
  InertialForces() = default;
  InertialForces(std::shared_ptr<const PreparedModel<T>> prepared, double time_step, bool newmark);

  /// What the rig's motion becomes before flesh feels it.
  FleshDrive drive;

  /// Says which coordinates count from the next set_pose() on. Allocates nothing.
  void keep(const KeptColumns& columns);
  /// Takes over bases and rotations of the next pose; `positions` are where the model's points are in it.
  void set_pose(const PoseInterpolation<T>& pose, const FrameField<T>& frames, std::span<const Vec3> positions);

  /// Begins a frame: after `substeps` steps the character is in the pose of set_pose(), at `placement`.
  void begin_frame(const RigidTransform& placement, int substeps);
  /// The next of these steps, 1 to substeps, is being taken.
  void begin_substep(int substep);
  /// Ends the frame, after the last of its steps.
  void end_frame();

  /// Subtracts Uᵀ M B⁻¹ a from f. Gravity and the pull of the air on the resting shape are part of it.
  void add_force(const SoftForces& forces, T* f);

  /// Keeps the coordinates and their acceleration (backward Euler: none) at the end of a step that was taken.
  void remember(const T* q, const T* acceleration);
  /// Takes over coordinates that the caller has changed. The past motion of the rig stays known.
  void restate(const T* q, const T* velocity);
  void forget() { known_ = 0; }

  /// What is known of the past. After restoring, keep() has to say which coordinates count.
  void exchange(StateBytes& bytes) {
    for (auto* moments : {&last_, &before_last_}) bytes(*moments);
    for (Vec3* place : {&last_translation_, &before_last_translation_, &translation_}) bytes(*place);
    for (auto* values : {&q_, &past_q_, &doubled_q_}) bytes(*values);
    for (int* count : {&known_, &substeps_, &last_substeps_}) bytes(*count);
    bytes(driven_);
    bytes(carried_);
    bytes(points_);
    bytes(paths_);
    bytes(translation_path_);
    bytes(held_);
  }

 private:
  struct Motion {  ///< of a cubature vertex at a past moment, in the world without the placement's translation
    Vec3 rest = Vec3::Zero();
    Vec3 handed = Vec3::Zero();                                ///< over by the basis of the frame before
    Mat3 rotation = Mat3::Identity();                          ///< B
    Vec3 displacement = Vec3::Zero(), doubled = Vec3::Zero();  ///< B U q, and B U (2 q + h² q̈)
  };
  struct Moment {  ///< the same while a step is taken
    Vec3 rest = Vec3::Zero();
    Vec3 handed = Vec3::Zero();
    Mat3 rotation = Mat3::Identity();
  };
  struct Path {  ///< within a frame of several steps
    RigCurve<3> rest, handed;
    RigCurve<4> rotation;  ///< a quaternion, not quite of length one
  };
  struct Block {
    const InertialBlock* model = nullptr;
    std::vector<ColumnRun> runs;  ///< of its columns that are kept, whole vectors
    std::size_t first = 0;        ///< of its vertices among all
    std::vector<T> blended;       ///< U of the pose; empty where the model has one pose
    const T* U = nullptr;         ///< three padded rows per vertex
    std::vector<FrameLanes<T>> frames;
  };

  /// Gives U x at vertex `local` of a block; x holds the block's own coordinates only.
  Vec3 basis_times(std::size_t block, std::size_t local, const std::vector<T>& x) const;
  /// Gives U x and U y in one pass over the basis.
  std::pair<Vec3, Vec3> basis_times(std::size_t block, std::size_t local, const std::vector<T>& x,
                                    const std::vector<T>& y) const;
  void gather_pushes(std::size_t block);
  void find_rotations(const Block& block, const FrameField<T>& frames);
  const std::vector<Moment>& moments() const { return at_end_ ? ends_ : moments_; }
  void gather(std::size_t block, const std::vector<T>& all, std::vector<T>& own) const;
  /// At the end of the step, from differences of the last three moments: of the rest shape, and of what it carries.
  Vec3 acceleration(std::size_t k, const Vec3& rest, const Vec3& carried);
  /// Hands over what the new basis changes of the last displacements. Returns how far that part was moving per step.
  Vec3 hand_over(std::size_t block, std::size_t local, Motion& last, Motion& before_last);
  void find_paths();
  void find_path(std::size_t k, const Vec3& pull);

  std::shared_ptr<const PreparedModel<T>> prepared_;
  double h_ = 0;
  bool newmark_ = false;
  std::vector<Block> blocks_;
  std::vector<Vec3> rest_;       ///< Φ at the cubature vertices
  std::vector<Mat3> rotations_;  ///< R there
  int known_ = 0;                ///< how many past steps the motion is known for, at most 3
  std::vector<Motion> last_, before_last_;
  std::vector<DrivenAcceleration> driven_, carried_;
  std::vector<DrivenPoint> points_;
  Vec3 last_translation_ = Vec3::Zero(), before_last_translation_ = Vec3::Zero();
  std::vector<Moment> moments_, ends_;  ///< of this step, within the frame, and of the frame's end
  bool at_end_ = true;                  ///< this step ends there
  Vec3 translation_ = Vec3::Zero(), end_translation_ = Vec3::Zero();
  std::vector<Path> paths_;
  RigCurve<3> translation_path_;
  int substeps_ = 1, last_substeps_ = 1;
  bool held_ = false;                          ///< nothing is known of the past: this frame has no motion
  std::vector<T> q_, past_q_, doubled_q_;      ///< padded
  std::vector<T> own_, own_past_, own_force_;  ///< of a block
  std::vector<T> pushes_;                      ///< on its vertices
  std::vector<T> scratch_;
};

extern template class InertialForces<float>;
extern template class InertialForces<double>;

}  // namespace supple
