// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/pose_history.h"

#include <algorithm>

namespace supple {
namespace {

constexpr std::size_t placement_numbers = 7;  // translation, then the quaternion

}  // namespace

PoseHistory::PoseHistory(const PoseLayout& layout) {
  rotations_.push_back(3);
  for (const ParameterGroup& group : layout.groups)
    if (group.kind == ParameterKind::rotation) rotations_.push_back(placement_numbers + to_size(group.first));
  newest_.p = layout.neutral;
  numbers_.assign(placement_numbers + newest_.p.size(), 0.0);
  numbers_[6] = 1;
  curves_.resize(numbers_.size());
}

/// numbers_ ← the frame, with quaternions on the side of what was there.
void PoseHistory::read(const RigidTransform& placement, std::span<const double> p) {
  newest_.placement = placement;
  std::copy(p.begin(), p.end(), newest_.p.begin());
  const auto sided = [&](std::size_t place, const double* q) {
    const Eigen::Map<const Eigen::Vector4d> next(q);
    Eigen::Map<Eigen::Vector4d> now(numbers_.data() + place);
    now = next.dot(now) < 0 ? Eigen::Vector4d(-next) : Eigen::Vector4d(next);
  };
  std::size_t rotation = 1;
  std::copy_n(placement.translation.data(), 3, numbers_.begin());
  sided(3, placement.rotation.coeffs().data());
  for (std::size_t k = 0; k < p.size();) {
    const std::size_t place = placement_numbers + k;
    if (rotation < rotations_.size() && rotations_[rotation] == place) {
      sided(place, p.data() + k);
      ++rotation;
      k += 4;
    } else {
      numbers_[place] = p[k++];
    }
  }
}

void PoseHistory::add(double seconds, const RigidTransform& placement, std::span<const double> p) {
  for (std::size_t k = 0; k < numbers_.size(); ++k) curves_[k].start[0] = numbers_[k];
  read(placement, p);
  for (std::size_t k = 0; k < numbers_.size(); ++k) {
    RigCurve<1>& curve = curves_[k];
    const RigCurve<1>::Vector from = curve.start, to(numbers_[k]);
    if (known_ < 2)
      curve.go_straight(from, to, seconds);
    else
      curve.go_on(from, to, RigCurve<1>::Vector::Zero(), seconds, length_);
  }
  length_ = seconds;
  known_ = std::min(known_ + 1, 3);
}

void PoseHistory::replace(const RigidTransform& placement, std::span<const double> p) {
  read(placement, p);
  for (std::size_t k = 0; k < numbers_.size(); ++k) curves_[k].end[0] = numbers_[k];
}

void PoseHistory::sample(double age, PlacedPose& pose) const {
  if (known_ < 2 || age < 1e-9 || !(length_ > 0)) {
    pose.placement = newest_.placement;
    std::copy(newest_.p.begin(), newest_.p.end(), pose.p.begin());
    return;
  }
  const double s = std::max(0.0, 1 - age / length_);
  const auto at = [&](std::size_t k) { return curves_[k].at(s, length_)[0]; };
  pose.placement.translation = Vec3(at(0), at(1), at(2));
  const Eigen::Vector4d rotation(at(3), at(4), at(5), at(6));
  pose.placement.rotation = unit_quaternion(rotation.data());
  for (std::size_t k = 0; k < pose.p.size(); ++k) pose.p[k] = at(placement_numbers + k);
}

void PoseHistory::exchange(StateBytes& bytes) {
  bytes(newest_.placement);
  bytes(newest_.p);
  bytes(numbers_);
  bytes(curves_);
  bytes(length_);
  bytes(known_);
}

}  // namespace supple
