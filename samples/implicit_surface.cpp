// SPDX-License-Identifier: Apache-2.0
#include "samples/shapes.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace supple {
namespace {

/// Values at the corners of a grid of cells, and the vertices in each cell that the surface crosses.
struct DualGrid {
  std::array<int, 3> corners{};
  Vec3 origin;
  double cell_size = 0;
  std::vector<double> values;
  std::vector<Index> cell;                      // indexed like its lowest corner: which of `vertices`; -1: none
  std::vector<std::array<Index, 12>> vertices;  // the vertex for each crossed edge of a cell

  std::size_t at(int i, int j, int k) const {
    return to_size(i) + to_size(corners[0]) * (to_size(j) + to_size(corners[1]) * to_size(k));
  }
  Vec3 corner(int i, int j, int k) const { return origin + cell_size * Vec3(i, j, k); }
};

DualGrid empty_grid(const Vec3& low, const Vec3& high, double cell_size) {
  DualGrid grid;
  grid.origin = low;
  grid.cell_size = cell_size;
  for (std::size_t a = 0; a < 3; ++a)
    grid.corners[a] = 2 + static_cast<int>(std::ceil((high - low)[static_cast<int>(a)] / cell_size));
  const std::size_t size = to_size(grid.corners[0]) * to_size(grid.corners[1]) * to_size(grid.corners[2]);
  grid.values.assign(size, 0.0);
  grid.cell.assign(size, -1);
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

/// The twelve edges of a cell: along `axis`, at an offset of 0 or 1 along the two axes that follow it.
constexpr std::size_t edge_number(int axis, int first_offset, int second_offset) {
  return to_size(4 * axis + first_offset + 2 * second_offset);
}

using CellEdges = std::array<Index, 12>;

/// One cell: its corners' values and where its edges are crossed.
struct CellCrossings {
  std::array<bool, 8> inside{};  // corner x + 2 y + 4 z
  std::array<bool, 12> crossed{};
  std::array<Vec3, 12> point;
  bool any = false;
};

std::size_t corner_number(int axis, int along, int first_offset, int second_offset) {
  return to_size((along << axis) | (first_offset << (axis + 1) % 3) | (second_offset << (axis + 2) % 3));
}

CellCrossings crossings_of(const DualGrid& grid, int i, int j, int k) {
  CellCrossings cell;
  std::array<double, 8> value{};
  std::array<Vec3, 8> corner;
  for (int c = 0; c < 8; ++c) {
    const int x = i + (c & 1), y = j + (c >> 1 & 1), z = k + (c >> 2);
    value[to_size(c)] = grid.values[grid.at(x, y, z)];
    corner[to_size(c)] = grid.corner(x, y, z);
    cell.inside[to_size(c)] = value[to_size(c)] < 0;
  }
  for (int e = 0; e < 12; ++e) {
    const std::size_t a = corner_number(e / 4, 0, e & 1, e >> 1 & 1), b = corner_number(e / 4, 1, e & 1, e >> 1 & 1);
    if (cell.inside[a] == cell.inside[b]) continue;
    cell.any = cell.crossed[to_size(e)] = true;
    cell.point[to_size(e)] = corner[a] + value[a] / (value[a] - value[b]) * (corner[b] - corner[a]);
  }
  return cell;
}

/// Which sheet of the surface each crossed edge belongs to: sheets pass from edge to edge over the cell's faces. On a
/// face with four crossings they cut off the two inside corners, the same for both cells that share it.
CellEdges sheets_of(const CellCrossings& cell) {
  CellEdges sheet;
  for (std::size_t e = 0; e < 12; ++e) sheet[e] = static_cast<Index>(e);
  const auto join = [&](std::size_t a, std::size_t b) {
    const Index from = std::max(sheet[a], sheet[b]), to = std::min(sheet[a], sheet[b]);
    std::replace(sheet.begin(), sheet.end(), from, to);
  };
  for (int face = 0; face < 6; ++face) {
    const int normal = face / 2, side = face % 2, g = (normal + 1) % 3, h = (normal + 2) % 3;
    std::array<std::size_t, 4> edges{};  // along g at the offsets 0, 1 of h; along h at the offsets 0, 1 of g
    for (int o = 0; o < 2; ++o) {
      edges[to_size(o)] = edge_number(g, o, side);
      edges[to_size(2 + o)] = edge_number(h, side, o);
    }
    const auto crossed = std::count_if(edges.begin(), edges.end(), [&](std::size_t e) { return cell.crossed[e]; });
    for (int c = 0; c < 4 && crossed > 0; ++c) {
      const int along_g = c & 1, along_h = c >> 1;
      const std::size_t a = edges[to_size(along_h)], b = edges[to_size(2 + along_g)];
      if (crossed == 4 && cell.inside[corner_number(normal, side, along_g, along_h)]) join(a, b);
    }
    if (crossed != 2) continue;
    const auto first = std::find_if(edges.begin(), edges.end(), [&](std::size_t e) { return cell.crossed[e]; });
    join(*first, *std::find_if(first + 1, edges.end(), [&](std::size_t e) { return cell.crossed[e]; }));
  }
  return sheet;
}

/// Newton's steps along the gradient, no farther than half a cell.
Vec3 drawn_onto(const std::function<double(const Vec3&)>& value, const Vec3& start, double cell_size) {
  const double h = 1e-4 * cell_size;
  Vec3 p = start;
  for (int round = 0; round < 2; ++round) {
    const double f = value(p);
    Vec3 gradient;
    for (int a = 0; a < 3; ++a)  // central, so that mirror images stay so
      gradient[a] = (value(p + h * Vec3::Unit(a)) - value(p - h * Vec3::Unit(a))) / (2 * h);
    p -= f / std::max(gradient.squaredNorm(), 1e-12) * gradient;
  }
  return (p - start).norm() < 0.5 * cell_size ? p : start;
}

/// A vertex for each sheet, at the mean of its crossings and then drawn onto the surface; gives each edge its vertex.
CellEdges add_cell_vertices(const std::function<double(const Vec3&)>& value, const CellCrossings& cell,
                            double cell_size, Surface& surface) {
  const CellEdges sheet = sheets_of(cell);
  CellEdges vertex;
  vertex.fill(-1);
  for (std::size_t e = 0; e < 12; ++e) {
    if (!cell.crossed[e] || vertex[e] >= 0) continue;
    Vec3 sum = Vec3::Zero();
    int count = 0;
    for (std::size_t other = e; other < 12; ++other) {
      if (!cell.crossed[other] || sheet[other] != sheet[e]) continue;
      vertex[other] = static_cast<Index>(surface.vertices.size());
      sum += cell.point[other];
      ++count;
    }
    surface.vertices.push_back(drawn_onto(value, sum / count, cell_size));
  }
  return vertex;
}

/// Four cells share each edge of the grid; where its ends differ in sign, their vertices make a quad.
void add_quads_of_edges(const DualGrid& grid, int axis, Surface& surface) {
  const int u = (axis + 1) % 3, v = (axis + 2) % 3;
  std::array<int, 3> at{};
  for (at[2] = 1; at[2] + 1 < grid.corners[2]; ++at[2]) {
    for (at[1] = 1; at[1] + 1 < grid.corners[1]; ++at[1]) {
      for (at[0] = 1; at[0] + 1 < grid.corners[0]; ++at[0]) {
        std::array<int, 3> next = at;
        ++next[to_size(axis)];
        const bool from_inside = grid.values[grid.at(at[0], at[1], at[2])] < 0;
        if (from_inside == (grid.values[grid.at(next[0], next[1], next[2])] < 0)) continue;
        std::array<Index, 4> quad{};
        constexpr std::array<std::array<int, 2>, 4> around = {{{1, 1}, {0, 1}, {0, 0}, {1, 0}}};
        for (std::size_t c = 0; c < 4; ++c) {
          std::array<int, 3> cell = at;
          cell[to_size(u)] -= around[c][0];
          cell[to_size(v)] -= around[c][1];
          quad[c] = grid.vertices[to_size(grid.cell[grid.at(cell[0], cell[1], cell[2])])]
                                 [edge_number(axis, around[c][0], around[c][1])];
        }
        if (!from_inside) std::swap(quad[1], quad[3]);
        const auto p = [&](std::size_t c) { return surface.vertices[to_size(quad[c])]; };
        const std::size_t s = cut_from_first({p(0), p(1), p(2), p(3)}) ? 0 : 1;
        surface.triangles.push_back({quad[s], quad[s + 1], quad[s + 2]});
        surface.triangles.push_back({quad[s], quad[s + 2], quad[(s + 3) % 4]});
      }
    }
  }
}

}  // namespace

bool cut_from_first(const std::array<Vec3, 4>& quad) {
  const double first = (quad[0] - quad[2]).norm(), second = (quad[1] - quad[3]).norm();
  const double tie = 1e-5 * (first + second);
  if (std::abs(first - second) > tie) return first < second;
  for (const int axis : {1, 2, 0}) {
    const auto height = [&](std::size_t c) { return axis == 0 ? std::abs(quad[c].x()) : quad[c][axis]; };
    const double a = std::max(height(0), height(2)), b = std::max(height(1), height(3));
    if (std::abs(a - b) > tie) return a > b;
  }
  return true;
}

double tapered_distance(const Vec3& p, const Vec3& a, const Vec3& b, double ra, double rb) {
  const double t = std::clamp((p - a).dot(b - a) / (b - a).squaredNorm(), 0.0, 1.0);
  return (p - a - t * (b - a)).norm() - (ra + t * (rb - ra));
}

double melted(double a, double b, double reach) {
  const double h = std::max(reach - std::abs(a - b), 0.0) / reach;
  return std::min(a, b) - 0.25 * h * h * reach;
}

Surface implicit_surface(const std::function<double(const Vec3&)>& value, const Vec3& low, const Vec3& high,
                         double cell_size, double steepness) {
  DualGrid grid = sample(value, low, high, cell_size, steepness);
  Surface surface;
  for (int k = 0; k + 1 < grid.corners[2]; ++k) {
    for (int j = 0; j + 1 < grid.corners[1]; ++j) {
      for (int i = 0; i + 1 < grid.corners[0]; ++i) {
        const CellCrossings cell = crossings_of(grid, i, j, k);
        if (!cell.any) continue;
        grid.cell[grid.at(i, j, k)] = static_cast<Index>(grid.vertices.size());
        grid.vertices.push_back(add_cell_vertices(value, cell, cell_size, surface));
      }
    }
  }
  for (int axis = 0; axis < 3; ++axis) add_quads_of_edges(grid, axis, surface);
  return surface;
}

}  // namespace supple
