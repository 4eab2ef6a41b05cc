// SPDX-License-Identifier: Apache-2.0
// PosedTets: what a pose makes of a few tetrahedra: F_Φ = ∂Φ/∂X, its rotation, and its limited inverse
// (fem/posed_rest.h), eight (four in double precision) at a time.
#pragma once

#include "supple/asset/frame_sites.h"
#include "supple/fem/posed_rest.h"
#include "supple/math/simd/lanes.h"

#include <cstring>
#include <span>

namespace supple {

/// A 3×3 matrix per lane, from its entries in column order.
template <class T>
Eigen::Matrix<Pack<T, 32 / static_cast<int>(sizeof(T))>, 3, 3> from_lanes(
    const T (&entries)[9][32 / static_cast<int>(sizeof(T))]) {
  Eigen::Matrix<Pack<T, 32 / static_cast<int>(sizeof(T))>, 3, 3> result;
  for (int k = 0; k < 9; ++k) std::memcpy(&result.data()[k].v, entries[k], sizeof entries[k]);
  return result;
}

template <class T>
class PosedTets {
 public:
  static constexpr int width = 32 / static_cast<int>(sizeof(T));
  using Lanes = Pack<T, width>;
  using LaneMatrix = Eigen::Matrix<Lanes, 3, 3>;

  PosedTets() = default;
  explicit PosedTets(std::span<const PosedTet> tets)
      : count_(tets.size()), batches_((tets.size() + width - 1) / width) {
    for (std::size_t b = 0; b < batches_.size(); ++b) {
      for (int lane = 0; lane < width; ++lane) {
        // Unused lanes repeat the last element.
        const PosedTet& tet = tets[std::min(b * width + to_size(lane), count_ - 1)];
        for (int k = 0; k < 4; ++k) batches_[b].point[to_size(k)][to_size(lane)] = tet.points[to_size(k)];
        for (int k = 0; k < 9; ++k)
          batches_[b].inverse_edges.data()[k].set(lane, static_cast<T>(tet.inverse_edges.data()[k]));
      }
    }
  }

  std::size_t count() const { return count_; }
  std::size_t batch_count() const { return batches_.size(); }

  /// Poses the tetrahedra of a batch; `positions` are where the points are.
  PosedRest<Lanes> pose(std::size_t batch, std::span<const Vec3> positions) const {
    const Batch& tets = batches_[batch];
    alignas(32) T edges[9][width];
    for (int lane = 0; lane < width; ++lane) {
      const auto at = [&](std::size_t corner) -> const Vec3& {
        return positions[to_size(tets.point[corner][to_size(lane)])];
      };
      const Vec3& origin = at(0);
      for (int k = 0; k < 3; ++k) {
        const Vec3 edge = at(to_size(k) + 1) - origin;
        for (int i = 0; i < 3; ++i) edges[3 * k + i][lane] = static_cast<T>(edge[i]);
      }
    }
    return posed_rest<Lanes>(product(from_lanes<T>(edges), tets.inverse_edges));
  }
  const LaneMatrix& inverse_edges(std::size_t batch) const { return batches_[batch].inverse_edges; }

 private:
  struct Batch {
    std::array<std::array<Index, width>, 4> point;
    LaneMatrix inverse_edges;
  };
  std::size_t count_ = 0;
  std::vector<Batch> batches_;
};

}  // namespace supple
