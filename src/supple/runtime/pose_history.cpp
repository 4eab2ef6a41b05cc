// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/pose_history.h"

#include <algorithm>

namespace supple {

PoseHistory::PoseHistory(const PoseLayout& layout) {
  for (const ParameterGroup& group : layout.groups)
    if (group.kind == ParameterKind::rotation) rotations_.push_back(group.first);
  for (HistoryFrame& frame : frames_) frame.p = layout.neutral;
}

void PoseHistory::align(HistoryFrame& frame, const HistoryFrame& with) const {
  if (frame.placement.rotation.dot(with.placement.rotation) < 0)
    frame.placement.rotation.coeffs() = -frame.placement.rotation.coeffs();
  for (const Index first : rotations_) {
    Eigen::Map<Eigen::Vector4d> q(frame.p.data() + first);
    if (q.dot(Eigen::Map<const Eigen::Vector4d>(with.p.data() + first)) < 0) q = -q;
  }
}

void PoseHistory::add(double seconds, const RigidTransform& placement, std::span<const double> p) {
  std::rotate(frames_.begin(), frames_.end() - 1, frames_.end());
  for (HistoryFrame& frame : frames_) frame.age += seconds;
  frames_[0].age = 0;
  known_ = std::min(known_ + 1, most);
  replace(placement, p);
}

void PoseHistory::replace(const RigidTransform& placement, std::span<const double> p) {
  frames_[0].placement = placement;
  std::copy(p.begin(), p.end(), frames_[0].p.begin());
  if (known_ > 1) align(frames_[0], frames_[1]);
}

void PoseHistory::sample(double age, HistoryFrame& frame) const {
  frame.age = age;
  if (known_ < 2 || age < 1e-9) {
    frame.placement = frames_[0].placement;
    std::copy(frames_[0].p.begin(), frames_[0].p.end(), frame.p.begin());
    return;
  }
  std::array<double, most> weight{};
  for (int k = 0; k < known_; ++k) {
    weight[to_size(k)] = 1;
    for (int j = 0; j < known_; ++j)
      if (j != k)
        weight[to_size(k)] *= (frames_[to_size(j)].age - age) / (frames_[to_size(j)].age - frames_[to_size(k)].age);
  }
  Eigen::Vector4d rotation = Eigen::Vector4d::Zero();
  frame.placement.translation.setZero();
  std::fill(frame.p.begin(), frame.p.end(), 0.0);
  for (std::size_t k = 0; k < to_size(known_); ++k) {
    rotation += weight[k] * frames_[k].placement.rotation.coeffs();
    frame.placement.translation += weight[k] * frames_[k].placement.translation;
    for (std::size_t i = 0; i < frame.p.size(); ++i) frame.p[i] += weight[k] * frames_[k].p[i];
  }
  frame.placement.rotation = unit_quaternion(rotation.data());
}

void PoseHistory::exchange(StateBytes& bytes) {
  for (HistoryFrame& frame : frames_) {
    bytes(frame.age);
    bytes(frame.placement);
    bytes(frame.p);
  }
  bytes(known_);
}

}  // namespace supple
