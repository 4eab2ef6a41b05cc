// SPDX-License-Identifier: Apache-2.0
// PreparedModel: a PoseSpaceModel in the layout that the inner loops of a step read. Made once, shared by all instances
// of a character. Rows of matrices are padded to whole vectors; a block holds the columns of its own coordinates only.
#pragma once

#include "supple/math/simd/half.h"
#include "supple/math/simd/lanes.h"
#include "supple/runtime/posespace/posed_tets.h"

#include <cstdint>
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

/// Of each of a block's columns, or groups of columns, the poses that have one of their own: what is stored of it.
struct StoredPoses {
  std::vector<std::uint32_t> begin = {0};  ///< of each column among all that is stored, and their end
  std::vector<int> pose;

  std::size_t columns() const { return begin.size() - 1; }
  std::size_t count() const { return pose.size(); }
  void close_column() { begin.push_back(static_cast<std::uint32_t>(pose.size())); }
};

/// What is read in every step: in single precision half of it. Steps are bound by the memory they read, and 0.05 %
/// of a basis is little beside cubature's 3 %.
template <class T>
using StoredLanes = std::conditional_t<std::is_same_v<T, float>, HalfPack, LanesOf<T>>;

/// Matrices of the same size, one for each pose, padded rows.
template <class T>
struct PoseMatrices {
  std::size_t rows = 0, stride = 0;
  std::vector<T> values;  ///< of one pose alone
  /// Of several: for each vector of a row those of the poses that it is stored for; times `scale`, powers of two.
  std::vector<StoredLanes<T>> packed;
  StoredPoses stored;    ///< of each vector of a row
  std::vector<T> scale;  ///< of each column, padded
};

/// Lower triangles of several symmetric matrices that are only ever summed up: of each vector of rows that isn't zero
/// in all of them (patches that don't overlap have nothing in common) the matrices' vectors side by side, so that a
/// weighted sum reads memory as it lies. What several matrices have in common there is stored once; which matrices that
/// are is a pattern. Places have few of them, and lie together by pattern: sums of the same length follow each other.
template <class Vector>
struct TriangleStack {
  struct Place {
    int column, row;
  };
  struct Pattern {
    std::vector<int> group;  ///< of each matrix: which of the vectors of a place it has; −1: zero
    std::size_t groups = 0;  ///< vectors of a place
    std::size_t first = 0;   ///< its groups among those of all patterns
    std::vector<Place> places;
    std::vector<Vector> values;  ///< the vectors of the first place, then of the next, …
  };
  std::size_t matrices = 0;
  std::vector<Pattern> patterns;

  /// Of all patterns.
  std::size_t groups() const { return patterns.empty() ? 0 : patterns.back().first + patterns.back().groups; }
  /// Vectors that are stored.
  std::size_t count() const {
    std::size_t sum = 0;
    for (const Pattern& pattern : patterns) sum += pattern.values.size();
    return sum;
  }
};

template <class T>
struct PreparedElements {
  using Lanes = typename PosedTets<T>::Lanes;

  BlockColumns columns;
  PosedTets<T> tets;
  std::vector<Lanes> weight, mu, lambda;  ///< for each pose all batches
  /// D: for each batch and column nine vectors, a lane for each element, of the first pose that it is stored for, then
  /// of the second, … Both D q and Dᵀ s run over memory as it lies, without sums across lanes. A blend of poses is
  /// stored likewise.
  using Stored = StoredLanes<T>;
  StoredPoses stored;  ///< of each column
  std::vector<Stored> gradients;
  /// What stored columns are multiplied with: powers of two.
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

/// What is shown (prepared_surface.h).
template <class T>
struct PreparedSurface;

template <class T>
struct PreparedModel {
  static constexpr int width = PosedTets<T>::width;

  explicit PreparedModel(std::shared_ptr<const PoseSpaceModel> source);

  std::shared_ptr<const PoseSpaceModel> model;
  int size = 0, stride = 0;
  std::size_t poses = 1;
  std::vector<int> patches;  ///< where the columns of each end
  /// Of each pose, for each padded coordinate, the pose whose basis, or gradients, it has (ColumnSources).
  std::vector<int> sources, gradient_sources;
  std::vector<PreparedElements<T>> elements;
  std::vector<PreparedVertices<T>> inertia;
  std::shared_ptr<const PreparedSurface<T>> surface;
  /// For each pair of poses j ≤ i what w_i w_j is multiplied with: columns of unit mass, so entries of at most two …
  TriangleStack<StoredLanes<T>> mass;
  /// … and for each pose, or for each whose correction is known, what w⁺_i is, rows and columns divided by
  /// `linear_scale`, a power of two above the root of Λ's largest diagonal entry: none of Λ is above one.
  TriangleStack<StoredLanes<T>> linear, corrections;
  std::vector<T> linear_scale;  ///< padded

  /// Entries of a lower triangle in `size` padded columns.
  std::size_t triangle() const { return to_size(size) * to_size(stride); }

 private:
  void prepare_linear();
};

extern template struct PreparedModel<float>;
extern template struct PreparedModel<double>;

}  // namespace supple
