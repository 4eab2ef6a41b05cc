// SPDX-License-Identifier: Apache-2.0
// PreparedSurface: the bases of what is shown, in the order in which SurfaceShape reads them: once, from beginning to
// end. Vertices of the mesh come in tiles of as many as two vectors hold, a lane for each:
//
//   tile of a block → pose → column that is its own → x, y, z of all vertices of the tile, two vectors each
//
// A product with coordinates then needs no sums across lanes, and poses that don't count are passed over as a whole.
// Two vectors share the work of finding a column, and six sums are enough that none waits for the addition before.
#pragma once

#include "supple/asset/pose_space_model.h"
#include "supple/runtime/frame_field.h"
#include "supple/runtime/posespace/prepared_model.h"

#include <cstdint>

namespace supple {

/// A set of shown mesh vertices that are all moved by the same coordinates, in tiles.
template <class T>
struct SurfaceBlock {
  std::vector<int> place;                       ///< of its columns among all coordinates
  std::vector<PoseColumn> stored;               ///< columns, pose by pose
  std::vector<T> scale;                         ///< of what is stored
  std::size_t first = 0, tiles = 0, begin = 0;  ///< its tiles among all, and where their vectors begin

  /// Vectors that the vertices of a tile fill.
  static constexpr std::size_t vectors = 2;
  static constexpr std::size_t tile_vertices = vectors * to_size(LanesOf<T>::width);

  std::size_t columns() const { return place.size(); }
  /// Tells how many packs a tile has: x, y and z of each stored column of each pose.
  std::size_t tile_size() const { return 3 * vectors * scale.size(); }
};

/// What a vertex of the surface hangs on. `place` is four times the number of a mesh vertex, counted with the lanes
/// that fill up tiles: where its x, y, z and a zero lie.
template <class T>
struct SurfaceHold {
  std::array<std::uint32_t, SoftSurface::nodes> place;
  std::array<T, SoftSurface::nodes> weight;
};

template <class T>
struct PreparedSurface {
  explicit PreparedSurface(const PoseSpaceModel& model);

  std::vector<SurfaceBlock<T>> blocks;
  std::vector<StoredLanes<T>> basis;  ///< divided by the columns' scale, powers of two
  std::vector<FrameLanes<T>> frames;  ///< of each vector of each tile, if directions rotate
  std::vector<SurfaceHold<T>> holds;  ///< of each vertex of the surface
  std::vector<Index> site_vertices;   ///< vertices of the simulation mesh that frames are found from, each once …
  std::vector<PosedTet> sites;        ///< … and the sites, with their corners as places in that list
  std::size_t tiles = 0;

  const StoredLanes<T>* tile(const SurfaceBlock<T>& block, std::size_t t) const {
    return basis.data() + block.begin + t * block.tile_size();
  }
  /// The frames of a tile, counted among all, one for each of its vectors; null where directions don't rotate.
  const FrameLanes<T>* frames_of(std::size_t tile) const {
    return frames.empty() ? nullptr : &frames[tile * SurfaceBlock<T>::vectors];
  }
  /// Gives a single number of the basis, for what happens at single vertices. `column` is counted among those that are
  /// stored.
  T entry(const SurfaceBlock<T>& block, std::size_t vertex, std::size_t direction, std::size_t column) const {
    constexpr std::size_t width = LanesOf<T>::width, vertices = SurfaceBlock<T>::tile_vertices;
    const std::size_t vector = vertex % vertices / width;
    const StoredLanes<T>& lanes =
        tile(block, vertex / vertices)[(3 * column + direction) * SurfaceBlock<T>::vectors + vector];
    return widened(lanes)[static_cast<int>(vertex % width)] * block.scale[column];
  }
  /// Finds the block that a vertex of the mesh is in.
  std::size_t block_of(std::size_t vertex) const;

 private:
  void add(const PoseSpaceModel& model, const VertexBlock& block);
  void add_sites(const PoseSpaceModel& model);
};

extern template struct PreparedSurface<float>;
extern template struct PreparedSurface<double>;

}  // namespace supple
