// SPDX-License-Identifier: Apache-2.0
// Axis-aligned bounding boxes.
#pragma once

#include "supple/base/types.h"

#include <limits>
#include <span>

namespace supple {

/// The smallest box around some points. Without points it is empty: min > max, and its size is zero.
struct Bounds {
  Vec3 min = Vec3::Constant(std::numeric_limits<double>::infinity());
  Vec3 max = Vec3::Constant(-std::numeric_limits<double>::infinity());

  bool empty() const { return !(min.array() <= max.array()).all(); }
  Vec3 size() const { return empty() ? Vec3(Vec3::Zero()) : Vec3(max - min); }
  Vec3 center() const { return empty() ? Vec3(Vec3::Zero()) : Vec3(0.5 * (min + max)); }
  double diagonal() const { return size().norm(); }

  void add(const Vec3& point) {
    min = min.cwiseMin(point);
    max = max.cwiseMax(point);
  }
};

inline Bounds bounds_of(std::span<const Vec3> points) {
  Bounds bounds;
  for (const Vec3& point : points) bounds.add(point);
  return bounds;
}

}  // namespace supple
