// SPDX-License-Identifier: Apache-2.0
// FrameField: the rotations R_i(p) of a PoseSpaceModel: those of the frame sites, blended as quaternions.
#pragma once

#include "supple/runtime/posespace/posed_tets.h"

#include <Eigen/Geometry>

#include <array>

namespace supple {

/// Frames of as many vertices as a vector holds.
template <class T>
struct FrameLanes {
  std::array<std::array<Index, PosedTets<T>::width>, FrameBlend::most> site{};
  std::array<Pack<T, PosedTets<T>::width>, FrameBlend::most> weight{};

  /// Lanes beyond the end repeat the last frame.
  explicit FrameLanes(std::span<const FrameBlend> frames) {
    for (std::size_t lane = 0; lane < PosedTets<T>::width; ++lane) {
      const FrameBlend& frame = frames[std::min(lane, frames.size() - 1)];
      for (std::size_t k = 0; k < FrameBlend::most; ++k) {
        site[k][lane] = frame.site[k];
        weight[k].set(static_cast<int>(lane), static_cast<T>(frame.weight[k]));
      }
    }
  }
};

template <class T>
class FrameField {
 public:
  using Rotation = Eigen::Matrix<T, 3, 3>;
  using Lanes = Pack<T, PosedTets<T>::width>;

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

  /// The same for many vertices: unit quaternions x, y, z, w.
  std::array<Lanes, 4> blend(const FrameLanes<T>& frames) const {
    const auto first = site_lanes(frames.site[0]);
    std::array<Lanes, 4> sum = first;
    for (Lanes& entry : sum) entry *= frames.weight[0];
    for (std::size_t k = 1; k < FrameBlend::most; ++k) {
      const auto q = site_lanes(frames.site[k]);
      const Lanes along = q[0] * first[0] + q[1] * first[1] + q[2] * first[2] + q[3] * first[3];
      const Lanes weight = select(along < Lanes(T(0)), -frames.weight[k], frames.weight[k]);
      for (std::size_t i = 0; i < 4; ++i) sum[i] += weight * q[i];
    }
    const Lanes square = sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2] + sum[3] * sum[3];
    const auto known = square > Lanes(T(1e-12));
    const Lanes shorter = Lanes(T(1)) / sqrt(select(known, square, Lanes(T(1))));
    for (std::size_t i = 0; i < 4; ++i) sum[i] = select(known, sum[i] * shorter, Lanes(i == 3 ? T(1) : T(0)));
    return sum;
  }

 private:
  std::array<Lanes, 4> site_lanes(const std::array<Index, PosedTets<T>::width>& site) const {
    alignas(32) T entries[4][PosedTets<T>::width];
    for (std::size_t lane = 0; lane < site.size(); ++lane)
      for (Eigen::Index i = 0; i < 4; ++i) entries[i][lane] = site_[static_cast<std::size_t>(site[lane])][i];
    std::array<Lanes, 4> result{};
    for (std::size_t i = 0; i < 4; ++i) std::memcpy(&result[i].v, entries[i], sizeof entries[i]);
    return result;
  }

  PosedTets<T> tets_;
  std::vector<Eigen::Matrix<T, 4, 1>> site_;
};

}  // namespace supple
