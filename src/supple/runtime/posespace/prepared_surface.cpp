// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/posespace/prepared_surface.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

/// A power of two, so that dividing by it is exact; entries come to lie between −1 and 1.
double scale_of(const MatX& basis, Eigen::Index column) {
  const double largest = basis.rows() > 0 ? basis.col(column).cwiseAbs().maxCoeff() : 0.0;
  return largest > 0 ? std::ldexp(1.0, std::ilogb(largest) + 1) : 1.0;
}

}  // namespace

template <class T>
void PreparedSurface<T>::add(const PoseSpaceModel& model, const VertexBlock& block) {
  constexpr std::size_t width = LanesOf<T>::width, vectors = SurfaceBlock<T>::vectors;
  constexpr std::size_t vertices = SurfaceBlock<T>::tile_vertices;
  SurfaceBlock<T>& added = blocks.emplace_back();
  added.place.assign(block.columns.begin(), block.columns.end());
  added.stored = own_columns(model.sources, model.pose_count(), block.columns);
  added.scale.assign(added.stored.size(), T(1));
  added.first = tiles;
  added.tiles = (block.frames.size() + vertices - 1) / vertices;
  added.begin = basis.size();
  basis.resize(basis.size() + added.tiles * added.tile_size());
  tiles += added.tiles;
  for (std::size_t column = 0; column < added.scale.size(); ++column) {
    const MatX& pose = block.basis[to_size(added.stored[column].pose)];
    const Eigen::Index c = added.stored[column].column;
    const double scale = scale_of(pose, c);
    added.scale[column] = static_cast<T>(scale);
    StoredLanes<T>* target = basis.data() + added.begin + 3 * vectors * column;
    for (std::size_t v = 0; v < block.frames.size(); ++v)
      for (std::size_t i = 0; i < 3; ++i)
        target[v / vertices * added.tile_size() + vectors * i + v % vertices / width].set(
            static_cast<int>(v % width), static_cast<T>(pose(static_cast<Eigen::Index>(3 * v + i), c) / scale));
  }
}

template <class T>
void PreparedSurface<T>::add_sites(const PoseSpaceModel& model) {
  sites = model.sites;
  for (PosedTet& site : sites) {
    for (Index& corner : site.points) {
      const Index vertex = model.points[to_size(corner)];
      const auto known = std::find(site_vertices.begin(), site_vertices.end(), vertex);
      corner = static_cast<Index>(known - site_vertices.begin());
      if (known == site_vertices.end()) site_vertices.push_back(vertex);
    }
  }
}

template <class T>
PreparedSurface<T>::PreparedSurface(const PoseSpaceModel& model) {
  constexpr std::size_t width = LanesOf<T>::width, vertices = SurfaceBlock<T>::tile_vertices;
  std::vector<std::uint32_t> place;  // of the mesh's vertices
  for (const VertexBlock& block : model.surface.blocks) {
    const std::span<const FrameBlend> all = block.frames;
    for (std::size_t v = 0; v < all.size(); ++v)
      place.push_back(static_cast<std::uint32_t>(4 * (tiles * vertices + v)));
    add(model, block);
    // Vectors beyond the end repeat the last frame, as lanes do.
    const std::size_t filled = vertices * blocks.back().tiles;
    for (std::size_t v = 0; v < filled && model.directions == BasisDirections::rotating; v += width)
      frames.emplace_back(all.subspan(std::min(v, all.size() - 1)));
  }
  add_sites(model);
  for (std::size_t v = 0; v < model.surface.vertex.size(); ++v) {
    SurfaceHold<T>& hold = holds.emplace_back();
    for (std::size_t k = 0; k < SoftSurface::nodes; ++k) {
      hold.place[k] = place[to_size(model.surface.vertex[v][k])];
      hold.weight[k] = static_cast<T>(model.surface.weight[v][k]);
    }
  }
}

template <class T>
std::size_t PreparedSurface<T>::block_of(std::size_t vertex) const {
  const auto after = std::partition_point(blocks.begin(), blocks.end(), [&](const SurfaceBlock<T>& block) {
    return block.first * SurfaceBlock<T>::tile_vertices <= vertex;
  });
  return to_size(after - blocks.begin()) - 1;
}

template struct PreparedSurface<float>;
template struct PreparedSurface<double>;

}  // namespace supple
