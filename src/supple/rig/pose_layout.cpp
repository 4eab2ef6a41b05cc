// SPDX-License-Identifier: Apache-2.0
#include "supple/rig/pose_layout.h"

#include "supple/base/assert.h"

#include <algorithm>
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
  // a⁻¹ b = (v, w) up to length, and tan(angle / 2) = |v| / |w|: accurate near 0 and near π, which acos is not.
  const Vec3 u = a.head<3>();
  const Vec3 v = b.head<3>();
  return 2 * std::atan2((a[3] * v - b[3] * u - u.cross(v)).norm(), std::abs(a.dot(b)));
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

PoseMetric::PoseMetric(const PoseLayout& layout) {
  for (const ParameterGroup& group : layout.groups) {
    if (group.scale == 0) continue;
    const bool vector = group.kind == ParameterKind::translation || group.kind == ParameterKind::scale;
    (group.kind == ParameterKind::rotation ? rotations_
     : vector                              ? vectors_
                                           : scalars_)
        .push_back({group.first, group.scale});
  }
}

namespace {

constexpr std::size_t lanes = 16;  ///< rotations done together
using Lanes = Eigen::Array<double, lanes, 1>;

/// Σ (scale · angle)², with tan(angle / 2) = √(sine2 / cosine2).
double sum_of_squared_angles(const Lanes& sine2, const Lanes& cosine2, const Lanes& scale) {
  const Lanes inverse = (sine2 + cosine2 + 1e-300).sqrt().inverse();
  Lanes s = sine2.sqrt() * inverse, c = cosine2.sqrt() * inverse;
  for (int halving = 0; halving < 3; ++halving) {
    c = (0.5 + 0.5 * c).sqrt();
    s = 0.5 * s / c;
  }
  const Lanes x = s * s;
  Lanes series = Lanes::Constant(135135. / 9676800);
  for (const double coefficient : {10395. / 599040, 945. / 42240, 105. / 3456, 15. / 336, 3. / 40, 1. / 6, 1.})
    series = series * x + coefficient;
  return (16 * s * series * scale).square().sum();
}

}  // namespace

double PoseMetric::distance(std::span<const double> a, std::span<const double> b) const {
  double sum = 0;
  for (std::size_t begin = 0; begin < rotations_.size(); begin += lanes) {
    Lanes sine2 = Lanes::Zero(), cosine2 = Lanes::Zero(), scale = Lanes::Zero();
    const std::size_t count = std::min(lanes, rotations_.size() - begin);
    for (std::size_t k = 0; k < count; ++k) {
      const Group& group = rotations_[begin + k];
      const Eigen::Map<const Eigen::Vector4d> p(a.data() + group.first), q(b.data() + group.first);
      const Vec3 u = p.head<3>(), v = q.head<3>();  // as in rotation_angle()
      const double dot = p.dot(q);
      sine2[static_cast<Eigen::Index>(k)] = (p[3] * v - q[3] * u - u.cross(v)).squaredNorm();
      cosine2[static_cast<Eigen::Index>(k)] = dot * dot;
      scale[static_cast<Eigen::Index>(k)] = group.scale;
    }
    sum += sum_of_squared_angles(sine2, cosine2, scale);
  }
  for (const Group& group : vectors_)
    sum +=
        group.scale * group.scale *
        (Eigen::Map<const Vec3>(a.data() + group.first) - Eigen::Map<const Vec3>(b.data() + group.first)).squaredNorm();
  for (const Group& group : scalars_) {
    const double d =
        group.scale * (a[static_cast<std::size_t>(group.first)] - b[static_cast<std::size_t>(group.first)]);
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
