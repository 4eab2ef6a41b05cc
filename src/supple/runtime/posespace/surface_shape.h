// SPDX-License-Identifier: Apache-2.0
// SurfaceShape: what is shown of a soft character, ū = A R Σ_i Û_i (w_i Υ q) (2016 paper, section 4.2). Once per
// displayed frame: coordinates are scaled for each pose, so that no basis has to be interpolated.
//
// Bases of all poses are read once, and that takes most of the time (prepared_surface.h): two operations for each of
// their numbers, which are halves in single precision. What then is known of a vertex of the mesh, R and the turn of
// the root, is applied there: a skin has several times as many vertices. A skin in floats is half as much to write as
// one in doubles, and has the same numbers where T is float.
//
// Several instances of one character are shown together in less: the bases are read, and widened from halves, once for
// four of them, and so is what each vertex of the skin hangs on. What was one product of a matrix and a vector after
// the other becomes a product of matrices; each instance gets the bits that it would have got alone.
#pragma once

#include "supple/runtime/posespace/pose_factors.h"
#include "supple/runtime/posespace/prepared_surface.h"
#include "supple/runtime/soft_step.h"

namespace supple {

/// An instance that is shown: its pose, its coordinates, the turn of its root, and where its vertices go.
template <class T>
struct SurfacePicture {
  const PoseFactors<T>* pose = nullptr;
  const FrameField<T>* frames = nullptr;
  const T* q = nullptr;
  Eigen::Matrix<T, 3, 3> turn = Eigen::Matrix<T, 3, 3>::Identity();
  std::span<Eigen::Vector3f> shown;
};

template <class T>
class SurfaceShape {
 public:
  /// How many instances are shown together.
  static constexpr std::size_t together = 4;

  SurfaceShape() = default;
  explicit SurfaceShape(std::shared_ptr<const PreparedModel<T>> prepared);

  /// Computes the displacements of all vertices of the surface, in the frame of the root. Allocates nothing.
  void displacements(const PoseFactors<T>& pose, const FrameField<T>& frames, const T* q,
                     const Eigen::Matrix<T, 3, 3>& turn, std::span<Vec3> shown);
  void displacements(const PoseFactors<T>& pose, const FrameField<T>& frames, const T* q,
                     const Eigen::Matrix<T, 3, 3>& turn, std::span<Eigen::Vector3f> shown);
  /// The same for up to `together` instances of one character at once, each with a SurfaceShape of its own to work in.
  static void displacements(std::span<SurfaceShape* const> shapes, std::span<const SurfacePicture<T>> pictures);
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
  /// The same of several instances that have the same columns, for one vector of a tile's vertices, given its first.
  template <std::size_t count>
  static std::array<Vectors, count> sum(const StoredLanes<T>* vector,
                                        const std::array<std::span<const Term>, count>& terms);
  /// Shows `count` instances, two in each vector of a mesh vertex.
  template <std::size_t count>
  static void show_together(std::span<SurfaceShape* const> shapes, std::span<const SurfacePicture<T>> pictures);
  /// Moves the mesh's vertices of all these; those of a pair lie in the first one's `moved_`.
  template <std::size_t count>
  static void move_together(std::span<SurfaceShape* const> shapes, std::span<const SurfacePicture<T>> pictures);
  /// Moves the mesh's vertices, all that the surface hangs on.
  void move(const PoseFactors<T>& pose, const FrameField<T>& frames, const T* q, const Eigen::Matrix<T, 3, 3>& turn);

  std::shared_ptr<const PreparedModel<T>> prepared_;
  std::vector<Term> terms_;
  std::vector<T> moved_;  ///< of the mesh's vertices, x, y, z and zero; room for another instance's beside each
};

extern template class SurfaceShape<float>;
extern template class SurfaceShape<double>;

}  // namespace supple
