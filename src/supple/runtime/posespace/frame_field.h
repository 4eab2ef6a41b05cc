// SPDX-License-Identifier: Apache-2.0
// FrameField: the rotations R_i(p) of a PoseSpaceModel: those of the frame sites, blended as quaternions.
#pragma once

#include "supple/runtime/posespace/posed_tets.h"

#include <Eigen/Geometry>

namespace supple {

template <class T>
class FrameField {
 public:
  using Rotation = Eigen::Matrix<T, 3, 3>;

  FrameField() = default;
  explicit FrameField(const PoseSpaceModel& model) : tets_(model.sites), site_(model.sites.size()) {}

  /// Rotations of the sites when the model's points are at `positions`.
  void update(std::span<const Vec3> positions) {
    constexpr int width = PosedTets<T>::width;
    for (std::size_t b = 0; b < tets_.batch_count(); ++b) {
      const auto posed = tets_.pose(b, positions);
      for (int lane = 0; lane < width && b * width + static_cast<std::size_t>(lane) < site_.size(); ++lane) {
        Rotation R;
        for (int k = 0; k < 9; ++k) R.data()[k] = posed.rotation.data()[k][lane];
        site_[b * width + static_cast<std::size_t>(lane)] = Eigen::Quaternion<T>(R).coeffs();
      }
    }
  }

  /// q and −q are one rotation: all are taken on the side of the first, which weighs most.
  Rotation blend(const FrameBlend& frame) const {
    const auto& first = site_[static_cast<std::size_t>(frame.site[0])];
    Eigen::Matrix<T, 4, 1> sum = first * static_cast<T>(frame.weight[0]);
    for (std::size_t k = 1; k < FrameBlend::most; ++k) {
      const auto& q = site_[static_cast<std::size_t>(frame.site[k])];
      const auto w = static_cast<T>(frame.weight[k]);
      sum += q * (q.dot(first) < T(0) ? -w : w);
    }
    const T length = sum.norm();
    if (!(length > T(1e-6))) return Rotation::Identity();
    return Eigen::Quaternion<T>(Eigen::Matrix<T, 4, 1>(sum / length)).toRotationMatrix();
  }

 private:
  PosedTets<T> tets_;
  std::vector<Eigen::Matrix<T, 4, 1>> site_;
};

}  // namespace supple
