// SPDX-License-Identifier: Apache-2.0
#include "supple/rig/pose_layout.h"

#include "supple/base/assert.h"
#include "supple/math/simd/lanes.h"

#include <algorithm>
#include <cmath>
#include <numbers>

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

/// The angle whose sine and cosine have this ratio, neither negative: 0 … π/2. The arc tangent of the smaller over the
/// larger, or of what is left beyond π/4, is at most that of tan π/8 = √2 − 1; there a polynomial meets atan(z) / z in
/// the Chebyshev nodes of z², with an error of 4e-17.
Pack4 angle_of(Pack4 sine, Pack4 cosine) {
  static constexpr std::array<double, 11> coefficients = {1.0,
                                                          -0.3333333333332844,
                                                          0.1999999999885511,
                                                          -0.14285714180976467,
                                                          0.11111106180455946,
                                                          -0.09090773074808414,
                                                          0.07689953496306857,
                                                          -0.06640233930429408,
                                                          0.056883492268090106,
                                                          -0.04348052215716462,
                                                          0.021135373157693246};
  const auto steep = sine > cosine;
  const Pack4 small = select(steep, cosine, sine), large = select(steep, sine, cosine);
  const auto beyond = small > Pack4(std::numbers::sqrt2 - 1) * large;
  const Pack4 divisor = select(beyond, small + large, large), least(1e-300);
  const Pack4 z = select(beyond, small - large, small) / select(divisor > least, divisor, least), zz = z * z;
  Pack4 series(coefficients.back());
  for (std::size_t k = coefficients.size() - 1; k-- > 0;) series = series * zz + Pack4(coefficients[k]);
  const Pack4 angle = select(beyond, Pack4(std::numbers::pi / 4), Pack4(0.0)) + z * series;
  return select(steep, Pack4(std::numbers::pi / 2) - angle, angle);
}

}  // namespace

double PoseMetric::distance(std::span<const double> a, std::span<const double> b) const {
  Pack4 squares(0.0);
  for (std::size_t begin = 0; begin < rotations_.size(); begin += 4) {
    std::array<Pack4, 4> p, q;  // four quaternions each; x, y, z and w of them once transposed
    Pack4 scale(0.0);
    for (std::size_t lane = 0; lane < 4; ++lane) {
      const Group& group = rotations_[std::min(begin + lane, rotations_.size() - 1)];
      p[lane] = load(a.data() + group.first);
      q[lane] = load(b.data() + group.first);
      if (begin + lane < rotations_.size()) scale.set(static_cast<int>(lane), group.scale);
    }
    transpose(p);
    transpose(q);
    const Pack4Vec3 u = {p[0], p[1], p[2]}, v = {q[0], q[1], q[2]};  // as in rotation_angle()
    Pack4Vec3 sine = cross(u, v);
    for (std::size_t i = 0; i < 3; ++i) sine[i] = p[3] * v[i] - q[3] * u[i] - sine[i];
    const Pack4 half = angle_of(sqrt(dot(sine, sine)), abs(dot(u, v) + p[3] * q[3])),
                length = Pack4(2.0) * scale * half;
    squares += length * length;
  }
  double sum = squares[0] + squares[1] + squares[2] + squares[3];
  for (const Group& group : vectors_)
    sum +=
        group.scale * group.scale *
        (Eigen::Map<const Vec3>(a.data() + group.first) - Eigen::Map<const Vec3>(b.data() + group.first)).squaredNorm();
  for (const Group& group : scalars_) {
    const double d = group.scale * (a[to_size(group.first)] - b[to_size(group.first)]);
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
