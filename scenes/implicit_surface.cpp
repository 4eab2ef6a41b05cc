// SPDX-License-Identifier: Apache-2.0
#include "scenes/shapes.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace supple {
namespace {

/// Values at the corners of a grid of cells, and the vertex in each cell that the surface crosses.
struct DualGrid {
  std::array<int, 3> corners{};
  Vec3 origin;
  double cell_size = 0;
  std::vector<double> values;
  std::vector<Index> cell_vertex;  // indexed like the cell's lowest corner; -1: none

  std::size_t at(int i, int j, int k) const {
    return static_cast<std::size_t>(i) +
           static_cast<std::size_t>(corners[0]) *
               (static_cast<std::size_t>(j) + static_cast<std::size_t>(corners[1]) * static_cast<std::size_t>(k));
  }
  Vec3 corner(int i, int j, int k) const { return origin + cell_size * Vec3(i, j, k); }
};

DualGrid empty_grid(const Vec3& low, const Vec3& high, double cell_size) {
  DualGrid grid;
  grid.origin = low;
  grid.cell_size = cell_size;
  for (std::size_t a = 0; a < 3; ++a)
    grid.corners[a] = 2 + static_cast<int>(std::ceil((high - low)[static_cast<int>(a)] / cell_size));
  const std::size_t size = static_cast<std::size_t>(grid.corners[0]) * static_cast<std::size_t>(grid.corners[1]) *
                           static_cast<std::size_t>(grid.corners[2]);
  grid.values.assign(size, 0.0);
  grid.cell_vertex.assign(size, -1);
  return grid;
}

/// Values at the corners of one block; all the same where its middle is too far from the surface for any to differ.
void sample_block(const std::function<double(const Vec3&)>& value, double steepness, const std::array<int, 3>& low,
                  const std::array<int, 3>& high, DualGrid& grid) {
  const Vec3 a = grid.corner(low[0], low[1], low[2]), b = grid.corner(high[0] - 1, high[1] - 1, high[2] - 1);
  const double middle = steepness > 0 ? value((a + b) / 2) : 0.0;
  const bool far = steepness > 0 && std::abs(middle) > steepness * (b - a).norm() / 2;
  for (int k = low[2]; k < high[2]; ++k) {
    for (int j = low[1]; j < high[1]; ++j) {
      for (int i = low[0]; i < high[0]; ++i) grid.values[grid.at(i, j, k)] = far ? middle : value(grid.corner(i, j, k));
    }
  }
}

DualGrid sample(const std::function<double(const Vec3&)>& value, const Vec3& low, const Vec3& high, double cell_size,
                double steepness) {
  constexpr int block = 6;
  DualGrid grid = empty_grid(low, high, cell_size);
  std::array<int, 3> from{}, to{};
  for (from[2] = 0; from[2] < grid.corners[2]; from[2] += block) {
    for (from[1] = 0; from[1] < grid.corners[1]; from[1] += block) {
      for (from[0] = 0; from[0] < grid.corners[0]; from[0] += block) {
        for (std::size_t a = 0; a < 3; ++a) to[a] = std::min(from[a] + block, grid.corners[a]);
        sample_block(value, steepness, from, to, grid);
      }
    }
  }
  return grid;
}

/// The mean of the crossings on a cell's edges; false if it has none.
bool mean_crossing(const DualGrid& grid, int i, int j, int k, Vec3& mean) {
  std::array<double, 8> value{};
  std::array<Vec3, 8> corner;
  for (int c = 0; c < 8; ++c) {
    const int x = i + (c & 1), y = j + (c >> 1 & 1), z = k + (c >> 2);
    value[static_cast<std::size_t>(c)] = grid.values[grid.at(x, y, z)];
    corner[static_cast<std::size_t>(c)] = grid.corner(x, y, z);
  }
  int crossings = 0;
  mean.setZero();
  for (std::size_t a = 0; a < 8; ++a) {
    for (const std::size_t bit : {1u, 2u, 4u}) {
      const std::size_t b = a | bit;
      if (a == b || (value[a] < 0) == (value[b] < 0)) continue;
      mean += corner[a] + value[a] / (value[a] - value[b]) * (corner[b] - corner[a]);
      ++crossings;
    }
  }
  if (crossings > 0) mean /= crossings;
  return crossings > 0;
}

/// Newton's steps along the gradient, no farther than half a cell.
Vec3 drawn_onto(const std::function<double(const Vec3&)>& value, const Vec3& start, double cell_size) {
  const double h = 1e-4 * cell_size;
  Vec3 p = start;
  for (int round = 0; round < 2; ++round) {
    const double f = value(p);
    Vec3 gradient;
    for (int a = 0; a < 3; ++a) gradient[a] = (value(p + h * Vec3::Unit(a)) - f) / h;
    p -= f / std::max(gradient.squaredNorm(), 1e-12) * gradient;
  }
  return (p - start).norm() < 0.5 * cell_size ? p : start;
}

/// Four cells share each edge of the grid; where its ends differ in sign, their vertices make a quad.
void add_quads_of_edges(const DualGrid& grid, int axis, Surface& surface) {
  const int u = (axis + 1) % 3, v = (axis + 2) % 3;
  std::array<int, 3> at{};
  for (at[2] = 1; at[2] + 1 < grid.corners[2]; ++at[2]) {
    for (at[1] = 1; at[1] + 1 < grid.corners[1]; ++at[1]) {
      for (at[0] = 1; at[0] + 1 < grid.corners[0]; ++at[0]) {
        std::array<int, 3> next = at;
        ++next[static_cast<std::size_t>(axis)];
        const bool from_inside = grid.values[grid.at(at[0], at[1], at[2])] < 0;
        if (from_inside == (grid.values[grid.at(next[0], next[1], next[2])] < 0)) continue;
        std::array<Index, 4> quad{};
        constexpr std::array<std::array<int, 2>, 4> around = {{{1, 1}, {0, 1}, {0, 0}, {1, 0}}};
        for (std::size_t c = 0; c < 4; ++c) {
          std::array<int, 3> cell = at;
          cell[static_cast<std::size_t>(u)] -= around[c][0];
          cell[static_cast<std::size_t>(v)] -= around[c][1];
          quad[c] = grid.cell_vertex[grid.at(cell[0], cell[1], cell[2])];
        }
        if (!from_inside) std::swap(quad[1], quad[3]);
        const auto p = [&](std::size_t c) { return surface.vertices[static_cast<std::size_t>(quad[c])]; };
        const std::size_t s = (p(0) - p(2)).norm() <= (p(1) - p(3)).norm() ? 0 : 1;  // along the shorter diagonal
        surface.triangles.push_back({quad[s], quad[s + 1], quad[s + 2]});
        surface.triangles.push_back({quad[s], quad[s + 2], quad[(s + 3) % 4]});
      }
    }
  }
}

}  // namespace

Surface implicit_surface(const std::function<double(const Vec3&)>& value, const Vec3& low, const Vec3& high,
                         double cell_size, double steepness) {
  DualGrid grid = sample(value, low, high, cell_size, steepness);
  Surface surface;
  for (int k = 0; k + 1 < grid.corners[2]; ++k) {
    for (int j = 0; j + 1 < grid.corners[1]; ++j) {
      for (int i = 0; i + 1 < grid.corners[0]; ++i) {
        Vec3 mean;
        if (!mean_crossing(grid, i, j, k, mean)) continue;
        grid.cell_vertex[grid.at(i, j, k)] = static_cast<Index>(surface.vertices.size());
        surface.vertices.push_back(drawn_onto(value, mean, cell_size));
      }
    }
  }
  for (int axis = 0; axis < 3; ++axis) add_quads_of_edges(grid, axis, surface);
  return surface;
}

}  // namespace supple
