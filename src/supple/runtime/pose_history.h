// SPDX-License-Identifier: Apache-2.0
// PoseHistory: where a character was in the last three frames of a display, and in between.
//
// Frames come at times of their own; the simulation's steps lie on a grid. Between frames all numbers of a pose follow
// the parabola through the last three frames (Lagrange),
//   x(−a) = Σ_k x_k Π_{j≠k} (a_j − a)/(a_j − a_k),   a: age, counted back from the newest frame, whose age is zero.
// Two frames give a line, one a pose that is held. Quaternions are taken on the side of the frame before and blended by
// their numbers: rigs take them of any length. Ages are differences of time, so that hours of play cost no digits.
#pragma once

#include "supple/rig/pose.h"
#include "supple/rig/pose_layout.h"
#include "supple/runtime/state_bytes.h"

#include <array>

namespace supple {

struct HistoryFrame {
  double age = 0;  ///< [s]
  RigidTransform placement;
  std::vector<double> p;
};

class PoseHistory {
 public:
  PoseHistory() = default;
  explicit PoseHistory(const PoseLayout& layout);

  /// The newest frame; before any was added, the neutral pose at the origin.
  const HistoryFrame& newest() const { return frames_[0]; }
  /// A frame, `seconds` after the newest. Allocates nothing.
  void add(double seconds, const RigidTransform& placement, std::span<const double> p);
  /// The newest frame was another one.
  void replace(const RigidTransform& placement, std::span<const double> p);
  /// What comes next has nothing to do with what was.
  void forget() { known_ = 0; }
  bool empty() const { return known_ == 0; }

  /// The pose that was `age` before the newest frame; `frame` comes from newest(). Allocates nothing.
  void sample(double age, HistoryFrame& frame) const;

  void exchange(StateBytes& bytes);

 private:
  static constexpr int most = 3;
  void align(HistoryFrame& frame, const HistoryFrame& with) const;

  std::vector<Index> rotations_;  ///< places of quaternions in p
  std::array<HistoryFrame, most> frames_;
  int known_ = 0;
};

}  // namespace supple
