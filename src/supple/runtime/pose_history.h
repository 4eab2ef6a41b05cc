// SPDX-License-Identifier: Apache-2.0
// PoseHistory: the way of a character's pose from one frame of a display to the next.
//
// Frames come at times of their own; the simulation's steps lie on a grid. Between two frames every number of the pose
// follows a cubic that goes on as the frame before has ended (posespace/rig_curve.h): flesh feels accelerations, so
// that a path with corners, as lines or parabolas between frames have them, would be a row of pushes that depends on
// the display's rate. Two frames give a line, one a pose that is held. Quaternions are taken on the side of the frame
// before and blended by their numbers: rigs take them of any length.
#pragma once

#include "supple/rig/pose.h"
#include "supple/rig/pose_layout.h"
#include "supple/runtime/posespace/rig_curve.h"
#include "supple/runtime/state_bytes.h"

namespace supple {

struct PlacedPose {
  RigidTransform placement;
  std::vector<double> p;
};

class PoseHistory {
 public:
  PoseHistory() = default;
  explicit PoseHistory(const PoseLayout& layout);

  /// The newest frame; before any was added, the neutral pose at the origin.
  const PlacedPose& newest() const { return newest_; }
  /// A frame, `seconds` after the newest. Allocates nothing.
  void add(double seconds, const RigidTransform& placement, std::span<const double> p);
  /// The newest frame was another one.
  void replace(const RigidTransform& placement, std::span<const double> p);
  /// What comes next has nothing to do with what was.
  void forget() { known_ = 0; }

  /// The pose that was `age` [s] before the newest frame and not before the last; `pose` is a copy of newest().
  /// Allocates nothing.
  void sample(double age, PlacedPose& pose) const;

  void exchange(StateBytes& bytes);

 private:
  void read(const RigidTransform& placement, std::span<const double> p);

  std::vector<std::size_t> rotations_;  ///< places of quaternions among the numbers
  PlacedPose newest_;
  std::vector<double> numbers_;      ///< of the newest frame: translation, rotation, p
  std::vector<RigCurve<1>> curves_;  ///< of each, from the frame before
  double length_ = 0;                ///< of the last frame [s]
  int known_ = 0;                    ///< frames, at most 3
};

}  // namespace supple
