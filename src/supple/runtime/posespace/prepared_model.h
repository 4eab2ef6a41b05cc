// SPDX-License-Identifier: Apache-2.0
// PreparedModel: a PoseSpaceModel in the layout that the inner loops of a step read. Made once, shared by all instances
// of a character. A step is bound by the memory that it reads, so everything here lies in the order of reading.
//
// Four words are needed. A *coordinate* is an entry of q; its column is what it does in each pose. A *patch* is a part
// of the body with coordinates of its own, neighbours among all r. A *block* holds the elements (or vertices) that the
// same patches move, and only the columns of these; `place` leads from its columns to the coordinates. A *batch* is as
// many elements as a vector has lanes (8 floats or 4 doubles), one lane each, and all arithmetic is on whole vectors
// (*packs*, math/simd). With two patches and three blocks:
//
//   coordinates q    0 1 2 3 4 5 | 6 7 8 9 | . .      r = 10, padded to stride = 12 (of doubles)
//                    patch 0       patch 1   zeros
//   block 0          0 1 2 3 4 5                      elements in patch 0 alone: 6 columns
//   block 1          0 1 2 3 4 5   6 7 8 9            where the patches overlap: 10 columns
//   block 2                        6 7 8 9            place = {6, 7, 8, 9}
//
// A pose that leaves a patch as another pose has it doesn't have columns of its own there: it takes the other's over
// (ColumnSources), and nothing is stored twice. StoredPoses says, column by column, which poses own one. Gradients of a
// block, D_e of nine rows for each element, then lie like this, one [ ] being a pack:
//
//   batch 0 ─ column 0 ─ pose 0 (owns)  [∂u_x/∂X of e0…e7] [∂u_y/∂X] … [∂u_z/∂Z]      nine packs
//          │           └ pose 2 (owns)  nine packs; pose 1 has taken over pose 0's
//          ├ column 1 ─ pose 0          nine packs
//          └ …
//   batch 1 ─ …
//
// Blending poses walks this once from beginning to end, and D q and Dᵀ s walk the blend in the same way: no number is
// summed across lanes, none is looked up. Bases of vertices (PoseMatrices) lie row by row instead, because
// products with them are taken one vertex at a time:
//
//   row 0 ─ columns 0…7 ─ pose 0 [ ] pose 2 [ ];  columns 8…15 ─ pose 0 [ ] pose 1 [ ] pose 2 [ ];  …
//   row 1 ─ …
//
// Symmetric r × r matrices of all poses, or pairs of poses, are only ever summed up with weights: see TriangleStack.
// In single precision packs are stored as halves (11 bits). Each column is divided by a power of two above its largest
// entry, so that halves neither overflow nor lose bits, and the power is multiplied back exactly.
#pragma once

#include "supple/asset/pose_space_model.h"
#include "supple/math/simd/half.h"
#include "supple/math/simd/lanes.h"
#include "supple/runtime/frame_field.h"

#include <cstdint>
#include <type_traits>

namespace supple {

/// The columns of a block, and which of the r coordinates they belong to.
struct BlockColumns {
  std::vector<int> place;  ///< of each column: its coordinate
  int stride = 0;          ///< the number of columns, padded to whole vectors

  int count() const { return static_cast<int>(place.size()); }

  /// Copies the block's own entries out of a vector of all coordinates.
  template <class T>
  void gather(const T* all, T* block) const {
    for (std::size_t c = 0; c < place.size(); ++c) block[c] = all[place[c]];
  }
  /// Adds the block's entries to those of all coordinates.
  template <class T>
  void scatter_add(const T* block, T* all) const {
    for (std::size_t c = 0; c < place.size(); ++c) all[place[c]] += block[c];
  }
};

/// For each column of a block (or each vector of neighbouring columns), the poses that own one and are therefore
/// stored: those of column c are pose[begin[c]] to pose[begin[c + 1] − 1], ascending.
struct StoredPoses {
  std::vector<std::uint32_t> begin = {0};
  std::vector<int> pose;

  std::size_t columns() const { return begin.size() - 1; }
  /// How many (column, pose) pairs are stored.
  std::size_t count() const { return pose.size(); }
  void close_column() { begin.push_back(static_cast<std::uint32_t>(pose.size())); }
};

/// The type of what every step reads: halves in single precision, which is half the memory. Their rounding, 0.05 % of a
/// basis, is little beside the 3 % of cubature. Double precision, which checks the other, stores doubles.
template <class T>
using StoredLanes = std::conditional_t<std::is_same_v<T, float>, HalfPack, LanesOf<T>>;

/// Matrices of the same size, one for each pose, in rows that are padded to whole vectors.
template <class T>
struct PoseMatrices {
  std::size_t rows = 0, stride = 0;
  std::vector<T> values;  ///< the matrix itself where the model has one pose; empty otherwise
  /// With several poses: row after row, vector after vector of a row, pose after pose that is stored there. The numbers
  /// have to be multiplied with `scale`.
  std::vector<StoredLanes<T>> packed;
  StoredPoses stored;    ///< one entry per vector of a row, the same in all rows
  std::vector<T> scale;  ///< a power of two for each column, padded
};

/// Lower triangles of several symmetric matrices that are only ever summed up, Σ_k f_k X_k. A *place* is a vector of
/// rows in one column. Where all matrices are zero (patches that don't overlap have nothing in common) there is no
/// place. Otherwise the vectors that differ between the matrices lie side by side, each once, so that a sum reads
/// memory as it lies:
///
///   place (c, row)     X_0 = X_2 = a,  X_1 = b,  X_3 = 0   →   [a] [b],   group = {0, 1, 0, −1},   sum = (f_0 + f_2) a
///   + f_1 b
///
/// Which matrices agree is a *pattern*. There are few of them, since poses take over whole patches, and places lie
/// together by pattern: the factors of its groups are summed up once, and sums of the same length follow each other.
template <class Vector>
struct TriangleStack {
  struct Place {
    int column, row;
  };
  struct Pattern {
    std::vector<int> group;  ///< for each matrix, which of a place's vectors is its own; −1: it is zero there
    std::size_t groups = 0;  ///< how many vectors a place has
    std::size_t first = 0;   ///< where this pattern's groups begin, counted through all patterns
    std::vector<Place> places;
    std::vector<Vector> values;  ///< `groups` vectors of the first place, then of the next, …
  };
  std::size_t matrices = 0;
  std::vector<Pattern> patterns;

  /// The number of groups of all patterns together.
  std::size_t groups() const { return patterns.empty() ? 0 : patterns.back().first + patterns.back().groups; }
  /// How many vectors are stored in all.
  std::size_t count() const {
    std::size_t sum = 0;
    for (const Pattern& pattern : patterns) sum += pattern.values.size();
    return sum;
  }
};

/// A block of cubature elements.
template <class T>
struct PreparedElements {
  using Lanes = typename PosedTets<T>::Lanes;

  BlockColumns columns;
  PosedTets<T> tets;
  std::vector<Lanes> weight, mu, lambda;  ///< all batches of the first pose, then of the second, …
  using Stored = StoredLanes<T>;
  StoredPoses stored;             ///< one entry per column
  std::size_t rows = 9;           ///< of each element: nine of D, or twelve of its corners where strain is exact
  std::vector<Stored> gradients;  ///< D, as drawn above, of so many packs for a column
  std::vector<T> scale;           ///< a power of two for each column, which its gradients have to be multiplied with
  /// How the four corners of each batch turn; with exact strain only.
  std::vector<std::array<FrameLanes<T>, 4>> corners;

  /// Packs that a batch takes once poses are blended: `rows` for each column.
  std::size_t batch_size() const { return rows * columns.place.size(); }
};

/// A block of inertial cubature vertices: three rows of the basis for each.
template <class T>
struct PreparedVertices {
  BlockColumns columns;
  PoseMatrices<T> basis;

  std::size_t count() const { return basis.rows / 3; }
};

/// The bases of the vertices that are shown (prepared_surface.h).
template <class T>
struct PreparedSurface;

template <class T>
struct PreparedModel {
  static constexpr int width = PosedTets<T>::width;

  explicit PreparedModel(std::shared_ptr<const PoseSpaceModel> source);

  std::shared_ptr<const PoseSpaceModel> model;
  int size = 0, stride = 0;
  std::size_t poses = 1;
  std::vector<int> patches;  ///< for each patch, the end of its coordinates
  /// sources[i · stride + c] is the pose that pose i has column c of its basis from (ColumnSources); `gradient_sources`
  /// says the same of gradients.
  std::vector<int> sources, gradient_sources;
  std::vector<PreparedElements<T>> elements;
  std::vector<PreparedVertices<T>> inertia;
  std::shared_ptr<const PreparedSurface<T>> surface;
  /// One matrix for each pair of poses j ≤ i, to be weighted with w_i w_j: Û_iᵀ M Û_i where i = j, else
  /// Û_iᵀ M Û_j + (Û_iᵀ M Û_j)ᵀ. Columns have unit mass, so no entry is above two.
  TriangleStack<StoredLanes<T>> mass;
  std::vector<T> mass_diagonals;  ///< of these matrices, as they are stored, each padded with zeros to the stride
  /// Λ_i of each pose (with exact strain: of each whose correction is known) and C_i of each pose whose correction is
  /// known, to be weighted with w⁺_i. Rows and columns are
  /// divided by `linear_scale`, a power of two above the root of the largest diagonal entry: no entry of Λ is above
  /// one.
  TriangleStack<StoredLanes<T>> linear, corrections;
  std::vector<T> linear_scale;  ///< one for each coordinate, padded

  /// How many entries a lower triangle takes, kept as `size` columns of `stride` entries each.
  std::size_t triangle() const { return to_size(size) * to_size(stride); }

 private:
  void prepare_linear();
};

extern template struct PreparedModel<float>;
extern template struct PreparedModel<double>;

}  // namespace supple
