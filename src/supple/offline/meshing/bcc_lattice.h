// SPDX-License-Identifier: Apache-2.0
// The body-centred cubic lattice: corners and centres of equal cubes, and the tetrahedra between them.
//
// In units of half a cube the corners have even coordinates, the centres odd ones. A site has fourteen neighbours: six
// of its own kind at distance 2 (long edges), eight of the other kind at distance √3 (short edges); these are also the
// neighbours of its Voronoi cell, a truncated octahedron. Two centres of cubes that share a face, and one edge of that
// face, span a tetrahedron; all are congruent, with dihedral angles of 60 and 90 degrees, twelve of them per cube.
#pragma once

#include "supple/mesh/bounds.h"

#include <array>
#include <cmath>
#include <utility>

namespace supple {

using Site = std::int64_t;  ///< number of a lattice site

class BccLattice {
 public:
  using Coordinates = std::array<int, 3>;

  static constexpr int neighbor_count = 14;
  /// Direction d and direction 13 - d are opposite; from 0 to 2 and from 11 to 13 they are long.
  static constexpr std::array<Coordinates, neighbor_count> directions = {{{2, 0, 0},
                                                                          {0, 2, 0},
                                                                          {0, 0, 2},
                                                                          {1, 1, 1},
                                                                          {1, 1, -1},
                                                                          {1, -1, 1},
                                                                          {1, -1, -1},
                                                                          {-1, 1, 1},
                                                                          {-1, 1, -1},
                                                                          {-1, -1, 1},
                                                                          {-1, -1, -1},
                                                                          {0, 0, -2},
                                                                          {0, -2, 0},
                                                                          {-2, 0, 0}}};

  /// Holds `bounds` with a rim of two cubes on every side. `cube` is the edge length of the cubes.
  BccLattice(const Bounds& bounds, double cube) : half_(cube / 2) {
    for (int a = 0; a < 3; ++a) cells_[to_size(a)] = 5 + static_cast<int>(std::floor(bounds.size()[a] / cube));
    const Vec3 extent = cube * Vec3(cells_[0] - 1, cells_[1] - 1, cells_[2] - 1);
    // Off the middle by odd parts of a cube, so that boxes and other tidy shapes don't fall on lattice planes.
    origin_ = bounds.center() - 0.5 * extent - cube * Vec3(0.2137, 0.1371, 0.2719);
  }

  double cube() const { return 2 * half_; }
  const Coordinates& cells() const { return cells_; }
  Site site_count() const { return 2 * Site{cells_[0]} * cells_[1] * cells_[2]; }

  Site site(const Coordinates& x) const {
    const Site odd = x[0] & 1;
    return 2 * ((x[0] >> 1) + Site{cells_[0]} * ((x[1] >> 1) + Site{cells_[1]} * (x[2] >> 1))) + odd;
  }
  Coordinates coordinates(Site site) const {
    const int odd = static_cast<int>(site & 1);
    const Site cell = site >> 1;
    const Site row = cell / cells_[0];
    return {2 * static_cast<int>(cell % cells_[0]) + odd, 2 * static_cast<int>(row % cells_[1]) + odd,
            2 * static_cast<int>(row / cells_[1]) + odd};
  }
  Vec3 position(const Coordinates& x) const { return origin_ + half_ * Vec3(x[0], x[1], x[2]); }
  Vec3 position(Site site) const { return position(coordinates(site)); }

  static Coordinates step(const Coordinates& x, int direction) {
    const Coordinates& d = directions[to_size(direction)];
    return {x[0] + d[0], x[1] + d[1], x[2] + d[2]};
  }
  bool holds(const Coordinates& x) const {
    for (std::size_t a = 0; a < 3; ++a) {
      if (x[a] < 0 || x[a] >= 2 * cells_[a]) return false;
    }
    return true;
  }
  /// Gives the direction from one site to another, or −1 where they aren't neighbours.
  static int direction_between(const Coordinates& from, const Coordinates& to) {
    const Coordinates d = {to[0] - from[0], to[1] - from[1], to[2] - from[2]};
    for (int k = 0; k < neighbor_count; ++k) {
      if (directions[to_size(k)] == d) return k;
    }
    return -1;
  }

  Coordinates nearest_site(const Vec3& p) const {
    const Vec3 x = (p - origin_) / half_;
    Coordinates even{}, odd{};
    double to_even = 0, to_odd = 0;
    for (int a = 0; a < 3; ++a) {
      const auto k = to_size(a);
      even[k] = 2 * static_cast<int>(std::lround(x[a] / 2));
      odd[k] = 2 * static_cast<int>(std::floor(x[a] / 2)) + 1;
      to_even += (x[a] - even[k]) * (x[a] - even[k]);
      to_odd += (x[a] - odd[k]) * (x[a] - odd[k]);
    }
    return to_even <= to_odd ? even : odd;
  }

  /// Corners of the tetrahedron that holds a point: two centres of cubes, two ends of an edge.
  std::array<Coordinates, 4> tet_around(const Vec3& p) const {
    const Vec3 x = (p - origin_) / half_;
    Coordinates center{};
    Vec3 d;
    for (int a = 0; a < 3; ++a) {
      center[to_size(a)] = 2 * static_cast<int>(std::floor(x[a] / 2)) + 1;
      d[a] = x[a] - center[to_size(a)];
    }
    std::array<std::size_t, 3> axis = {0, 1, 2};
    const auto farther = [&](std::size_t a, std::size_t b) {
      return std::abs(d[static_cast<int>(a)]) > std::abs(d[static_cast<int>(b)]);
    };
    if (farther(axis[1], axis[0])) std::swap(axis[0], axis[1]);
    if (farther(axis[2], axis[0])) std::swap(axis[0], axis[2]);
    if (farther(axis[2], axis[1])) std::swap(axis[1], axis[2]);
    const auto sign = [&](std::size_t a) { return d[static_cast<int>(a)] < 0 ? -1 : 1; };
    std::array<Coordinates, 4> corners = {center, center, center, center};
    corners[1][axis[0]] += 2 * sign(axis[0]);
    for (const std::size_t end : {std::size_t{2}, std::size_t{3}}) {
      corners[end][axis[0]] += sign(axis[0]);
      corners[end][axis[1]] += sign(axis[1]);
      corners[end][axis[2]] += end == 2 ? 1 : -1;
    }
    return corners;
  }

  /// The number of tetrahedra per cube.
  static constexpr int tet_count = 12;
  /// The k-th tetrahedron of the cube corner at even coordinates x: two ends of an edge, two centres of cubes around
  /// it, in order of positive volume. Some of the tetrahedra at the rim leave the lattice: ask `holds`.
  static std::array<Coordinates, 4> tet(const Coordinates& x, int k) {
    constexpr std::array<std::array<int, 2>, 5> ring = {{{1, 1}, {-1, 1}, {-1, -1}, {1, -1}, {1, 1}}};
    const auto e = to_size(k / 4), b = (e + 1) % 3, c = (e + 2) % 3, turn = to_size(k % 4);
    std::array<Coordinates, 4> corners = {x, x, x, x};
    corners[1][e] += 2;
    for (std::size_t j = 0; j < 2; ++j) {
      corners[2 + j][e] += 1;
      corners[2 + j][b] += ring[turn + j][0];
      corners[2 + j][c] += ring[turn + j][1];
    }
    return corners;
  }
  /// Gives 0 or 1, so that neighbours along long edges differ.
  static int parity(const Coordinates& x) { return ((x[0] + x[1] + x[2] - 3 * (x[0] & 1)) / 2) & 1; }

 private:
  Vec3 origin_;
  double half_;
  Coordinates cells_{};
};

}  // namespace supple
