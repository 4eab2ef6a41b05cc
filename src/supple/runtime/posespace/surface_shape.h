// SPDX-License-Identifier: Apache-2.0
// SurfaceShape: what is shown of a soft character, ū = A R Σ_i Û_i (w_i Υ q) (2016 paper, section 4.2). Once per
// displayed frame: coordinates are scaled for each pose, so that no basis has to be interpolated.
#pragma once

#include "supple/runtime/posespace/frame_field.h"
#include "supple/runtime/posespace/pose_interpolation.h"
#include "supple/runtime/posespace/soft_forces.h"

namespace supple {

template <class T>
class SurfaceShape {
 public:
  SurfaceShape() = default;
  explicit SurfaceShape(std::shared_ptr<const PreparedModel<T>> prepared);

  /// Displacements of all vertices of the surface, in the frame of the root. Allocates nothing.
  void displacements(const PoseInterpolation<T>& pose, const FrameField<T>& frames, const T* q,
                     const Eigen::Matrix<T, 3, 3>& turn, std::span<Vec3> shown);
  /// f += Uᵀ Aᵀ of a force on a vertex of the surface, in the frame of the root.
  void add_force(const PoseInterpolation<T>& pose, const FrameField<T>& frames, Index vertex, const Vec3& force, T* f);

 private:
  using Vector = Eigen::Matrix<T, 3, 1>;

  /// Vertices v … of a block, as many as a vector holds.
  void move_vertices(std::size_t block, std::size_t v, const FrameField<T>& frames,
                     std::span<const std::size_t> active);
  T times_scaled(const PoseMatrices<T>& basis, std::size_t row, std::span<const std::size_t> active) const;

  std::shared_ptr<const PreparedModel<T>> prepared_;
  std::vector<std::size_t> first_;                  ///< vertex of each block among all, and their number
  std::vector<std::vector<FrameLanes<T>>> frames_;  ///< of each block's vertices
  std::vector<Vector> moved_;                       ///< of the mesh's vertices
  std::vector<T> scaled_;                           ///< coordinates of a block, for each pose
};

extern template class SurfaceShape<float>;
extern template class SurfaceShape<double>;

}  // namespace supple
