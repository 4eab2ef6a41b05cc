// SPDX-License-Identifier: Apache-2.0
// SurfaceShape: what is shown of a soft character, ū = A R Σ_i Û_i (w_i Υ q) (2016 paper, section 4.2). Once per
// displayed frame: coordinates are scaled for each pose, so that no basis has to be interpolated.
//
// Bases of all poses are read once, and that takes most of the time (prepared_surface.h): two operations for each of
// their numbers, which are halves in single precision. What then is known of a vertex of the mesh, R and the turn of
// the root, is applied there: a skin has several times as many vertices. A skin in floats is half as much to write as
// one in doubles, and has the same numbers where T is float.
#pragma once

#include "supple/runtime/posespace/pose_factors.h"
#include "supple/runtime/posespace/prepared_surface.h"
#include "supple/runtime/soft_step.h"

namespace supple {

template <class T>
class SurfaceShape {
 public:
  SurfaceShape() = default;
  explicit SurfaceShape(std::shared_ptr<const PreparedModel<T>> prepared);

  /// Computes the displacements of all vertices of the surface, in the frame of the root. Allocates nothing.
  void displacements(const PoseFactors<T>& pose, const FrameField<T>& frames, const T* q,
                     const Eigen::Matrix<T, 3, 3>& turn, std::span<Vec3> shown);
  void displacements(const PoseFactors<T>& pose, const FrameField<T>& frames, const T* q,
                     const Eigen::Matrix<T, 3, 3>& turn, std::span<Eigen::Vector3f> shown);
  /// Adds Uᵀ Aᵀ times a force on a vertex of the surface, in the frame of the root, to f.
  void add_force(const PoseFactors<T>& pose, const FrameField<T>& frames, Index vertex, const Vec3& force, T* f);

 private:
  using Lanes = LanesOf<T>;
  using Block = SurfaceBlock<T>;
  using Vectors = std::array<Lanes, 3>;
  using Tile = std::array<Vectors, Block::vectors>;

  /// A column of a pose, and what it is multiplied with.
  struct Term {
    T factor = T(0);
    std::uint32_t column = 0;  ///< its first vector in a tile
  };

  /// Lists the columns of a block whose factor isn't zero.
  std::span<const Term> find_terms(const SurfaceBlock<T>& block, const PoseFactors<T>& pose, const T* q);
  /// Gives Σ_i Û_i (w_i Υ q) for the vertices of a tile.
  static Tile sum(const StoredLanes<T>* tile, std::span<const Term> terms);
  /// Moves the mesh's vertices, all that the surface hangs on.
  void move(const PoseFactors<T>& pose, const FrameField<T>& frames, const T* q, const Eigen::Matrix<T, 3, 3>& turn);

  std::shared_ptr<const PreparedModel<T>> prepared_;
  std::vector<Term> terms_;
  std::vector<T> moved_;  ///< of the mesh's vertices, x, y, z and zero
};

extern template class SurfaceShape<float>;
extern template class SurfaceShape<double>;

}  // namespace supple
