// SPDX-License-Identifier: Apache-2.0
#include "supple/rig/pose_layout.h"

#include "supple/base/assert.h"

#include <cmath>

namespace supple {

Index parameter_width(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::rotation:
      return 4;
    case ParameterKind::translation:
    case ParameterKind::scale:
      return 3;
    case ParameterKind::scalar:
      break;
  }
  return 1;
}

Index PoseLayout::add(std::string name, ParameterKind kind, std::span<const double> neutral_values, std::string unit,
                      double scale) {
  SUPPLE_ASSERT(static_cast<Index>(neutral_values.size()) == parameter_width(kind));
  const Index first = size();
  groups.push_back({std::move(name), kind, first, std::move(unit), scale});
  neutral.insert(neutral.end(), neutral_values.begin(), neutral_values.end());
  return first;
}

Index PoseLayout::add_rotation(std::string name, const Quat& neutral_rotation, double scale) {
  return add(std::move(name), ParameterKind::rotation, {neutral_rotation.coeffs().data(), 4}, "quaternion", scale);
}

Index PoseLayout::add_scalar(std::string name, double neutral_value, std::string unit, double scale) {
  return add(std::move(name), ParameterKind::scalar, {&neutral_value, 1}, std::move(unit), scale);
}

Index PoseLayout::append(const PoseLayout& other) {
  const Index first = size();
  for (ParameterGroup group : other.groups) {
    group.first += first;
    groups.push_back(std::move(group));
  }
  neutral.insert(neutral.end(), other.neutral.begin(), other.neutral.end());
  return first;
}

double rotation_angle(const Eigen::Vector4d& a, const Eigen::Vector4d& b) {
  const Eigen::Vector4d u = a.stableNormalized();
  const Eigen::Vector4d v = b.stableNormalized();
  // |u − v| and |u + v| are 2 sin and 2 cos of a quarter of the angle: accurate at both ends, which acos(u·v) is not.
  const double minus = (u - v).norm();
  const double plus = (u + v).norm();
  return 4 * std::atan2(std::min(minus, plus), std::max(minus, plus));
}

double group_distance(const ParameterGroup& group, const double* a, const double* b) {
  a += group.first;
  b += group.first;
  switch (group.kind) {
    case ParameterKind::rotation:
      return rotation_angle(Eigen::Map<const Eigen::Vector4d>(a), Eigen::Map<const Eigen::Vector4d>(b));
    case ParameterKind::translation:
    case ParameterKind::scale:
      return (Eigen::Map<const Vec3>(a) - Eigen::Map<const Vec3>(b)).norm();
    case ParameterKind::scalar:
      break;
  }
  return std::abs(*a - *b);
}

double pose_distance(const PoseLayout& layout, std::span<const double> a, std::span<const double> b) {
  SUPPLE_ASSERT(static_cast<Index>(a.size()) == layout.size() && a.size() == b.size());
  double sum = 0;
  for (const ParameterGroup& group : layout.groups) {
    if (group.scale == 0) continue;
    const double d = group.scale * group_distance(group, a.data(), b.data());
    sum += d * d;
  }
  return std::sqrt(sum);
}

Quat unit_quaternion(const double* xyzw) {
  const Eigen::Vector4d coefficients = Eigen::Map<const Eigen::Vector4d>(xyzw).stableNormalized();
  if (!(coefficients.squaredNorm() > 0.5)) return Quat::Identity();  // zero or not a number
  return Quat(coefficients);
}

}  // namespace supple
