// SPDX-License-Identifier: Apache-2.0
// The angle between normals as morph targets turn them and those of the deformed surface, gathered over frames.
#pragma once

#include "supple/mesh/normal_turn.h"

#include <array>
#include <span>

namespace supple {

class NormalError {
 public:
  /// Keeps a reference to the surface at rest, which must outlive it.
  explicit NormalError(const Surface& surface);

  /// Adds a frame: displacements, and by how much the normals were turned [rad]. Vertices without a normal to speak of
  /// are left out.
  void add(std::span<const Vec3> displacements, std::span<const Vec3> turns);

  double rms_degrees() const;
  double largest_degrees() const { return largest_; }
  /// The angle that the given share of all normals stays below, to a tenth of a degree.
  double percentile_degrees(double share) const;

 private:
  const Surface* surface_;
  VertexAreas rest_;
  std::array<std::int64_t, 1801> histogram_{};
  std::int64_t count_ = 0;
  double squares_ = 0;
  double largest_ = 0;
};

}  // namespace supple
