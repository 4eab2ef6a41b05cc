// SPDX-License-Identifier: Apache-2.0
#include "supple/export/normal_error.h"

#include <Eigen/Geometry>

#include <cmath>
#include <numbers>

namespace supple {

NormalError::NormalError(const Surface& surface)
    : surface_(&surface), rest_(vertex_areas(surface.triangles, surface.vertices)) {}

void NormalError::add(std::span<const Vec3> displacements, std::span<const Vec3> turns) {
  std::vector<Vec3> moved = surface_->vertices;
  for (std::size_t v = 0; v < moved.size(); ++v) moved[v] += displacements[v];
  const VertexAreas after = vertex_areas(surface_->triangles, moved);
  for (std::size_t v = 0; v < moved.size(); ++v) {
    if (!rest_.has_normal(v) || !after.has_normal(v)) continue;
    const Vec3 n = rest_.vector[v].normalized();
    const Vec3 played = n + turns[v].cross(n), wanted = after.vector[v];
    const double degrees = std::atan2(played.cross(wanted).norm(), played.dot(wanted)) * 180 / std::numbers::pi;
    largest_ = std::max(largest_, degrees);
    squares_ += degrees * degrees;
    ++histogram_[to_size(10 * degrees)];
    ++count_;
  }
}

double NormalError::rms_degrees() const { return count_ > 0 ? std::sqrt(squares_ / static_cast<double>(count_)) : 0; }

double NormalError::percentile_degrees(double share) const {
  std::int64_t below = 0;
  for (std::size_t bin = 0; bin < histogram_.size(); ++bin) {
    below += histogram_[bin];
    if (static_cast<double>(below) >= share * static_cast<double>(count_))
      return count_ > 0 ? std::min(0.1 * static_cast<double>(bin + 1), largest_) : 0.0;
  }
  return largest_;
}

}  // namespace supple
