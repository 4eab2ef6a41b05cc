// SPDX-License-Identifier: Apache-2.0
// FrameField: the rotations R_i(p) of the points of a body: those of its frame sites (asset/frame_sites.h), blended
// as quaternions.
#pragma once

#include "supple/math/simd/lanes.h"
#include "supple/runtime/posed_tets.h"

#include <Eigen/Geometry>

#include <array>

namespace supple {

/// Frames of as many vertices as a vector holds.
template <class T>
struct FrameLanes {
  std::array<std::array<std::uint32_t, PosedTets<T>::width>, FrameBlend::most> place{};  ///< of a site's first number
  std::array<Pack<T, PosedTets<T>::width>, FrameBlend::most> weight{};

  /// Lanes beyond the end repeat the last frame.
  explicit FrameLanes(std::span<const FrameBlend> frames) {
    for (std::size_t lane = 0; lane < PosedTets<T>::width; ++lane) {
      const FrameBlend& frame = frames[std::min(lane, frames.size() - 1)];
      for (std::size_t k = 0; k < FrameBlend::most; ++k) {
        place[k][lane] = 4 * static_cast<std::uint32_t>(frame.site[k]);
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
  /// `sites` have their corners where update() will have positions of its own.
  explicit FrameField(std::span<const PosedTet> sites) : tets_(sites), site_(sites.size()) {}

  /// Turns as another field of the same sites does. Allocates nothing.
  void take(const FrameField& other) { site_ = other.site_; }

  /// Rotations of the sites when the points are at `positions`.
  void update(std::span<const Vec3> positions) {
    constexpr int width = PosedTets<T>::width;
    for (std::size_t b = 0; b < tets_.batch_count(); ++b) {
      const auto posed = tets_.pose(b, positions);
      for (int lane = 0; lane < width && b * width + to_size(lane) < site_.size(); ++lane) {
        Rotation R;
        for (int k = 0; k < 9; ++k) R.data()[k] = posed.rotation.data()[k][lane];
        site_[b * width + to_size(lane)] = Eigen::Quaternion<T>(R).coeffs();
      }
    }
  }

  /// q and −q are one rotation: all are taken on the side of the first, which weighs most.
  Rotation blend(const FrameBlend& frame) const {
    const auto& first = site_[to_size(frame.site[0])];
    Eigen::Matrix<T, 4, 1> sum = first * static_cast<T>(frame.weight[0]);
    for (std::size_t k = 1; k < FrameBlend::most; ++k) {
      const auto& q = site_[to_size(frame.site[k])];
      const auto w = static_cast<T>(frame.weight[k]);
      sum += q * (q.dot(first) < T(0) ? -w : w);
    }
    const T length = sum.norm();
    if (!(length > T(1e-6))) return Rotation::Identity();
    return Eigen::Quaternion<T>(Eigen::Matrix<T, 4, 1>(sum / length)).toRotationMatrix();
  }

  /// Vectors of many vertices, each turned by its own blend q = (v, w), which needn't be of length one:
  ///   u + (2 / |q|²) (w t + v × t),  t = v × u
  std::array<Lanes, 3> rotated(const FrameLanes<T>& frames, const std::array<Lanes, 3>& u) const {
    const auto q = sum(frames);
    const Lanes square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    const Lanes factor = select(square > Lanes(T(1e-12)), Lanes(T(2)) / square, Lanes(T(0)));
    const Lanes x = q[1] * u[2] - q[2] * u[1], y = q[2] * u[0] - q[0] * u[2], z = q[0] * u[1] - q[1] * u[0];
    return {u[0] + factor * (q[3] * x + q[1] * z - q[2] * y), u[1] + factor * (q[3] * y + q[2] * x - q[0] * z),
            u[2] + factor * (q[3] * z + q[0] * y - q[1] * x)};
  }

  /// The rotations of such blends, column after column: what rotated() makes of the axes.
  std::array<Lanes, 9> rotations(const FrameLanes<T>& frames) const {
    const auto q = sum(frames);
    const Lanes square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], one(T(1));
    const Lanes factor = select(square > Lanes(T(1e-12)), Lanes(T(2)) / square, Lanes(T(0)));
    const Lanes x = factor * q[0], y = factor * q[1], z = factor * q[2];
    const Lanes xx = x * q[0], yy = y * q[1], zz = z * q[2], xy = x * q[1], xz = x * q[2], yz = y * q[2];
    const Lanes wx = x * q[3], wy = y * q[3], wz = z * q[3];
    return {one - yy - zz, xy + wz, xz - wy, xy - wz, one - xx - zz, yz + wx, xz + wy, yz - wx, one - xx - yy};
  }

 private:
  std::array<Lanes, 4> sum(const FrameLanes<T>& frames) const {
    const T* sites = site_.data()->data();
    const auto first = gather_quads(sites, frames.place[0]);
    std::array<Lanes, 4> result = first;
    for (Lanes& entry : result) entry *= frames.weight[0];
    for (std::size_t k = 1; k < FrameBlend::most; ++k) {
      const auto q = gather_quads(sites, frames.place[k]);
      const Lanes along = q[0] * first[0] + q[1] * first[1] + q[2] * first[2] + q[3] * first[3];
      const Lanes weight = with_sign_of(frames.weight[k], along);
      for (std::size_t i = 0; i < 4; ++i) result[i] += weight * q[i];
    }
    return result;
  }

  PosedTets<T> tets_;
  std::vector<Eigen::Matrix<T, 4, 1>> site_;
};

}  // namespace supple
