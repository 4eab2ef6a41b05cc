// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/meshing/voxelize.h"

#include "supple/offline/meshing/triangle_bounds.h"

#include "supple/mesh/bounds.h"
#include "supple/mesh/disjoint_sets.h"
#include "supple/offline/meshing/triangle_box.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

using Cell = std::array<int, 3>;
enum Mark : std::uint8_t { unknown, touched, outside };

// ---- input ----------------------------------------------------------------------------------------------------------

Status check_options(const VoxelOptions& options) {
  if (options.resolution < 1 || options.resolution > VoxelOptions::max_resolution)
    return usage_error(fmt::format("A voxel resolution of {} doesn't exist; choose one from 1 to {}.",
                                   options.resolution, VoxelOptions::max_resolution));
  return {};
}

Result<Bounds> checked_bounds(const Surface& surface) {
  Result<Bounds> bounds = triangle_bounds(surface);
  if (!bounds.ok()) return bounds;
  const double longest = bounds->size().maxCoeff();
  if (!(longest > 0) || !std::isfinite(longest))
    return input_error(
        fmt::format("The surface's longest side is {}, which can't be cut into voxels; check its units.", longest));
  return bounds;
}

// ---- grid -----------------------------------------------------------------------------------------------------------

/// Marks of the cells, with a rim of one cell on every side so that the outside hangs together.
class Grid {
 public:
  explicit Grid(const Cell& cells)
      : cells_(cells), row_(cells[0] + 2), layer_(row_ * (cells[1] + 2)), marks_(total(cells), unknown) {}

  static std::size_t total(const Cell& cells) {
    std::size_t count = 1;
    for (const int n : cells) count *= to_size(n) + 2;
    return count;
  }

  Mark at(int i, int j, int k) const { return static_cast<Mark>(marks_[offset(i, j, k)]); }
  void touch(const Cell& cell) { marks_[offset(cell[0], cell[1], cell[2])] = touched; }
  const Cell& cells() const { return cells_; }

  /// Marks all unknown cells reachable from the rim as outside, a run of cells along x at a time.
  void flood_outside() {
    std::vector<Cell> seeds = {{-1, -1, -1}};
    while (!seeds.empty()) {
      const Cell seed = seeds.back();
      seeds.pop_back();
      if (at(seed[0], seed[1], seed[2]) != unknown) continue;
      int begin = seed[0], end = seed[0] + 1;
      while (begin > -1 && at(begin - 1, seed[1], seed[2]) == unknown) --begin;
      while (end < cells_[0] + 1 && at(end, seed[1], seed[2]) == unknown) ++end;
      for (int i = begin; i < end; ++i) marks_[offset(i, seed[1], seed[2])] = outside;
      push_runs(begin, end, seed[1] - 1, seed[2], seeds);
      push_runs(begin, end, seed[1] + 1, seed[2], seeds);
      push_runs(begin, end, seed[1], seed[2] - 1, seeds);
      push_runs(begin, end, seed[1], seed[2] + 1, seeds);
    }
  }

 private:
  std::size_t offset(int i, int j, int k) const { return to_size((i + 1) + (j + 1) * row_ + (k + 1) * layer_); }

  void push_runs(int begin, int end, int j, int k, std::vector<Cell>& seeds) const {
    if (j < -1 || j > cells_[1] || k < -1 || k > cells_[2]) return;
    for (int i = begin; i < end; ++i) {
      if (at(i, j, k) == unknown && (i == begin || at(i - 1, j, k) != unknown)) seeds.push_back({i, j, k});
    }
  }

  Cell cells_;
  std::int64_t row_, layer_;
  std::vector<std::uint8_t> marks_;
};

// Halves a block of cells until single cells remain, leaving out the halves that the triangle doesn't touch. Costs a
// few tests per touched cell, however large or slanted the triangle is.
void touch_block(const TriangleBoxTest& test, const Cell& begin, const Cell& end, Grid& grid) {
  const Vec3 low(begin[0], begin[1], begin[2]), high(end[0], end[1], end[2]);
  if (!test.touches(0.5 * (low + high), 0.5 * (high - low))) return;
  std::size_t axis = 0;
  for (std::size_t a = 1; a < 3; ++a) {
    if (end[a] - begin[a] > end[axis] - begin[axis]) axis = a;
  }
  if (end[axis] - begin[axis] == 1) {
    grid.touch(begin);
    return;
  }
  Cell middle_end = end, middle_begin = begin;
  middle_end[axis] = middle_begin[axis] = (begin[axis] + end[axis]) / 2;
  touch_block(test, begin, middle_end, grid);
  touch_block(test, middle_begin, end, grid);
}

void touch_cells(const std::array<Vec3, 3>& corners, Grid& grid) {
  constexpr double slack = 1e-6;  // a triangle on a wall between cells touches both, whatever the rounding
  Bounds bounds = bounds_of(corners);
  Cell begin{}, end{};
  for (int a = 0; a < 3; ++a) {
    const int last = grid.cells()[to_size(a)] - 1;
    begin[to_size(a)] = std::clamp(static_cast<int>(std::floor(bounds.min[a] - slack)), 0, last);
    end[to_size(a)] = std::clamp(static_cast<int>(std::floor(bounds.max[a] + slack)), 0, last) + 1;
  }
  touch_block(TriangleBoxTest(corners, slack), begin, end, grid);
}

// ---- bricks ---------------------------------------------------------------------------------------------------------

std::vector<Cell> kept_cells(const Grid& grid, bool with_interior) {
  std::vector<Cell> kept;
  const Cell& n = grid.cells();
  for (int k = 0; k < n[2]; ++k) {
    for (int j = 0; j < n[1]; ++j) {
      for (int i = 0; i < n[0]; ++i) {
        const Mark mark = grid.at(i, j, k);
        if (mark == touched || (with_interior && mark == unknown)) kept.push_back({i, j, k});
      }
    }
  }
  return kept;
}

/// Numbers for the places of two neighbouring layers of a grid, forgotten as a sweep along z passes on.
class SlidingLayers {
 public:
  SlidingLayers(int width, int height) : width_(width) {
    for (auto& layer : layers_) layer.assign(to_size(width) * to_size(height), -1);
  }
  /// The sweep has come to layer k: only k and k + 1 (or k - 1 and k) are alive.
  void forget(int k) { std::fill(layer(k).begin(), layer(k).end(), Index{-1}); }
  Index& at(int i, int j, int k) { return layer(k)[to_size(i + j * width_)]; }

 private:
  std::vector<Index>& layer(int k) { return layers_[to_size(k & 1)]; }
  int width_;
  std::array<std::vector<Index>, 2> layers_;
};

/// For each cell the first cell of its piece; pieces hang together through faces.
std::vector<Index> piece_roots(const std::vector<Cell>& cells, const Cell& size) {
  DisjointSets sets(cells.size());
  SlidingLayers numbers(size[0], size[1]);
  int layer = -1;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const auto [i, j, k] = cells[c];
    for (; layer < k; ++layer) numbers.forget(layer + 1);
    const auto number = static_cast<Index>(c);
    numbers.at(i, j, k) = number;
    const auto join = [&](Index other) {
      if (other >= 0) sets.unite(number, other);
    };
    if (i > 0) join(numbers.at(i - 1, j, k));
    if (j > 0) join(numbers.at(i, j - 1, k));
    if (k > 0) join(numbers.at(i, j, k - 1));
  }
  std::vector<Index> roots(cells.size());
  for (std::size_t c = 0; c < cells.size(); ++c) roots[c] = sets.find(static_cast<Index>(c));
  return roots;
}

/// Counts the pieces and drops all but the largest if asked to.
void sort_out_pieces(VoxelBody& body, VoxelPieces wanted) {
  const std::vector<Index> roots = piece_roots(body.cell, body.cells);
  std::vector<Index> size(roots.size(), 0);
  for (const Index root : roots) ++size[to_size(root)];
  body.pieces = static_cast<Index>(std::count_if(size.begin(), size.end(), [](Index n) { return n > 0; }));
  if (wanted == VoxelPieces::all || body.pieces == 1) return;
  const auto largest = static_cast<Index>(std::max_element(size.begin(), size.end()) - size.begin());
  std::vector<Cell> kept;
  for (std::size_t c = 0; c < roots.size(); ++c) {
    if (roots[c] == largest) kept.push_back(body.cell[c]);
  }
  body.dropped_bricks = static_cast<Index>(body.cell.size() - kept.size());
  body.cell = std::move(kept);
}

void add_bricks(VoxelBody& body) {
  constexpr std::array<Cell, 8> corners = {
      {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}}};
  SlidingLayers numbers(body.cells[0] + 1, body.cells[1] + 1);
  int layer = 0;
  body.mesh.elements.reserve(body.cell.size());
  for (const auto& [i, j, k] : body.cell) {
    for (; layer <= k; ++layer) numbers.forget(layer + 1);
    HexMesh::Element& brick = body.mesh.elements.emplace_back();
    for (std::size_t c = 0; c < 8; ++c) {
      const Cell at = {i + corners[c][0], j + corners[c][1], k + corners[c][2]};
      Index& number = numbers.at(at[0], at[1], at[2]);
      if (number < 0) {
        number = static_cast<Index>(body.mesh.vertices.size());
        body.mesh.vertices.emplace_back(body.origin + body.voxel_size * Vec3(at[0], at[1], at[2]));
      }
      brick[c] = number;
    }
  }
}

/// Centred on the box, with as few cells as hold it; a side that is a whole number of cells but for rounding is whole.
void lay_grid(const Bounds& bounds, int resolution, VoxelBody& body) {
  body.voxel_size = bounds.size().maxCoeff() / resolution;
  Vec3 extent;
  for (int a = 0; a < 3; ++a) {
    const int n = std::max(1, static_cast<int>(std::ceil(bounds.size()[a] / body.voxel_size - 1e-6)));
    body.cells[to_size(a)] = n;
    extent[a] = n * body.voxel_size;
  }
  body.origin = bounds.center() - 0.5 * extent;
}

}  // namespace

Result<VoxelBody> voxelize(const Surface& surface, const VoxelOptions& options) {
  SUPPLE_RETURN_IF_ERROR(check_options(options));
  const Result<Bounds> bounds = checked_bounds(surface);
  if (!bounds) return bounds.error();
  VoxelBody body;
  lay_grid(*bounds, options.resolution, body);
  const std::size_t total = Grid::total(body.cells);
  if (!(body.voxel_size > 0) || total > to_size(std::max<std::int64_t>(0, options.max_cells)))
    return input_error(fmt::format(
        "At resolution {} the grid would have {} cells, more than the {} allowed; choose a lower resolution.",
        options.resolution, total, options.max_cells));
  Grid grid(body.cells);
  for (const Triangle& triangle : surface.triangles) {
    std::array<Vec3, 3> corners;
    for (std::size_t c = 0; c < 3; ++c)
      corners[c] = (surface.vertices[to_size(triangle[c])] - body.origin) / body.voxel_size;
    touch_cells(corners, grid);
  }
  if (options.fill_interior) grid.flood_outside();
  body.cell = kept_cells(grid, options.fill_interior);
  if (static_cast<std::int64_t>(body.cell.size()) > options.max_bricks)
    return input_error(fmt::format(
        "At resolution {} the body would have {} bricks, more than the {} allowed; choose a lower resolution.",
        options.resolution, body.cell.size(), options.max_bricks));
  sort_out_pieces(body, options.pieces);
  for (const auto& [i, j, k] : body.cell) ++(grid.at(i, j, k) == touched ? body.surface_bricks : body.interior_bricks);
  add_bricks(body);
  return body;
}

}  // namespace supple
