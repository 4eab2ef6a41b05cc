// SPDX-License-Identifier: Apache-2.0
// PoseLayout: what the numbers of a rig's parameter p mean, and how far apart two poses are.
//
//   distance(p, q)² = Σ_groups (scale · d)²     d = geodesic angle [rad] of two rotations, else Euclidean distance
//
// The scale of a group says what one unit of it counts, so that radians, metres, degrees and sliders mix. Rotations are
// quaternions x y z w of any length: q and −q are the same rotation, and nothing jumps at ±180°. Where a character
// stands in the world is not part of its pose (root_motion.h).
#pragma once

#include "supple/rig/skeleton.h"

#include <span>

namespace supple {

enum class ParameterKind { rotation, translation, scale, scalar };

/// Numbers of one parameter of that kind: 4, 3, 3, 1.
Index parameter_width(ParameterKind kind);

struct ParameterGroup {
  std::string name;  ///< "joint.rotation", "smile", …
  ParameterKind kind = ParameterKind::scalar;
  Index first = 0;     ///< place of its numbers in p
  std::string unit;    ///< of its values: "quaternion", "m", "deg", "" for pure numbers
  double scale = 1.0;  ///< of its differences: "rad", "m", "deg" → distance; 0 leaves it out of the distance
};

struct PoseLayout {
  std::vector<ParameterGroup> groups;
  std::vector<double> neutral;  ///< p of the undeformed character

  Index size() const { return static_cast<Index>(neutral.size()); }

  /// Appends a group; `neutral_values` has as many numbers as the kind. Returns the place of its first number.
  Index add(std::string name, ParameterKind kind, std::span<const double> neutral_values, std::string unit,
            double scale);
  Index add_rotation(std::string name, const Quat& neutral_rotation, double scale = 1.0);
  Index add_scalar(std::string name, double neutral_value, std::string unit, double scale);
  /// Appends all groups of another layout. Returns the place of its first number.
  Index append(const PoseLayout& other);
};

/// Difference between the values of one group, without its scale.
double group_distance(const ParameterGroup& group, const double* a, const double* b);

double pose_distance(const PoseLayout& layout, std::span<const double> a, std::span<const double> b);

/// pose_distance() of one layout, many times over: the same number to rounding, an order of magnitude sooner. Rotations
/// are compared four at a time, without a branch or a call; the arc tangent is a polynomial.
class PoseMetric {
 public:
  PoseMetric() = default;
  explicit PoseMetric(const PoseLayout& layout);

  double distance(std::span<const double> a, std::span<const double> b) const;

 private:
  struct Group {
    Index first = 0;
    double scale = 0;
  };
  std::vector<Group> rotations_, vectors_, scalars_;
};

/// Geodesic angle between the rotations of two quaternions of any length [rad], 0 … π.
double rotation_angle(const Eigen::Vector4d& a, const Eigen::Vector4d& b);

/// Unit quaternion from x y z w; identity where the numbers have no direction.
Quat unit_quaternion(const double* xyzw);

}  // namespace supple
