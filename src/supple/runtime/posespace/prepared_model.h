// SPDX-License-Identifier: Apache-2.0
// PreparedModel: a PoseSpaceModel in the layout that the inner loops of a step read. Made once, shared by all instances
// of a character. Rows of matrices are padded to whole vectors; a block holds the columns of its own coordinates only.
#pragma once

#include "supple/math/half.h"
#include "supple/runtime/posespace/posed_tets.h"

#include <type_traits>

namespace supple {

/// The coordinates of a block, and where they are among all.
struct BlockColumns {
  std::vector<int> place;
  int stride = 0;  ///< their number, padded

  int count() const { return static_cast<int>(place.size()); }

  template <class T>
  void gather(const T* all, T* block) const {
    for (std::size_t c = 0; c < place.size(); ++c) block[c] = all[place[c]];
  }
  template <class T>
  void scatter_add(const T* block, T* all) const {
    for (std::size_t c = 0; c < place.size(); ++c) all[place[c]] += block[c];
  }
};

/// Matrices of the same size, one for each pose, padded rows.
template <class T>
struct PoseMatrices {
  std::size_t rows = 0, stride = 0;
  std::vector<T> values;

  const T* pose(std::size_t i) const { return values.data() + i * rows * stride; }
};

template <class T>
struct PreparedElements {
  using Lanes = typename PosedTets<T>::Lanes;

  BlockColumns columns;
  PosedTets<T> tets;
  std::vector<Lanes> weight, mu, lambda;  ///< for each pose all batches
  /// D where there is one pose: for each batch and column nine vectors, a lane for each element. Both D q and Dᵀ s then
  /// run over memory as it lies, without sums across lanes.
  std::vector<Lanes> gradients;
  /// D of several poses: for each batch and column nine vectors of the first pose, then of the second, … A step is
  /// bound by the memory it reads, so in single precision they are stored in half of it, and so is their blend.
  /// 0.05 % of a gradient is little beside cubature's 3 %.
  using Stored = std::conditional_t<std::is_same_v<T, float>, HalfPack, Lanes>;
  std::vector<Stored> pose_gradients;
  /// What stored columns are multiplied with: powers of two. With one pose, ones.
  std::vector<T> scale;

  /// Vectors of a batch, of one pose.
  std::size_t batch_size() const { return 9 * columns.place.size(); }
};

template <class T>
struct PreparedVertices {
  BlockColumns columns;
  PoseMatrices<T> basis;

  std::size_t count() const { return basis.rows / 3; }
};

template <class T>
struct PreparedModel {
  static constexpr int width = PosedTets<T>::width;

  explicit PreparedModel(std::shared_ptr<const PoseSpaceModel> source);

  std::shared_ptr<const PoseSpaceModel> model;
  int size = 0, stride = 0;
  std::size_t poses = 1;
  std::vector<int> regions;  ///< where the columns of each end
  std::vector<PreparedElements<T>> elements;
  std::vector<PreparedVertices<T>> inertia, surface;
  /// Lower triangles, `size` padded columns each: for each pair of poses j ≤ i what w_i w_j is multiplied with …
  std::vector<T> mass;
  /// … and for each pose what w_i is.
  std::vector<T> added, taken, linear;

  std::size_t triangle() const { return static_cast<std::size_t>(size) * static_cast<std::size_t>(stride); }
};

extern template struct PreparedModel<float>;
extern template struct PreparedModel<double>;

}  // namespace supple
