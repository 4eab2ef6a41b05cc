// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/meshing/graded_interior.h"

#include "supple/base/parallel.h"

#include <algorithm>
#include <utility>

namespace supple {
namespace {

using CellCoordinates = BccLattice::Coordinates;

/// Is `holds` true for all triples from `low` to `high`?
template <class Holds>
bool all_between(const CellCoordinates& low, const CellCoordinates& high, int step, const Holds& holds) {
  for (int k = low[2]; k <= high[2]; k += step) {
    for (int j = low[1]; j <= high[1]; j += step) {
      for (int i = low[0]; i <= high[0]; i += step) {
        if (!holds(CellCoordinates{i, j, k})) return false;
      }
    }
  }
  return true;
}

CellCoordinates shifted(CellCoordinates x, std::size_t axis, int by) {
  x[axis] += by;
  return x;
}

/// Tells which blocks of two cubes a side lie so deep in the flesh that all tetrahedra in and around them are whole.
class Depth {
 public:
  Depth(const FleshNodes& nodes, const BccLattice& lattice) : nodes_(nodes), lattice_(lattice) {}

  bool whole(const CellCoordinates& block) const {
    const CellCoordinates low = {4 * block[0], 4 * block[1], 4 * block[2]};
    const auto moved = [&](int by) { return CellCoordinates{low[0] + by, low[1] + by, low[2] + by}; };
    const auto surrounded = [&](const CellCoordinates& x) {
      constexpr unsigned all = (1u << BccLattice::neighbor_count) - 1;
      return only_real(x) && joined(x) == all;
    };
    return all_between(moved(1), moved(3), 2, surrounded) &&
           all_between(low, moved(4), 2, [&](const CellCoordinates& x) { return sides_joined(x, moved(4)); }) &&
           neighbors_joined(moved(2));
  }

 private:
  bool only_real(const CellCoordinates& x) const {
    const auto s = to_size(lattice_.site(x));
    return nodes_.real_at[s] >= 0 && !nodes_.has_thin[s];
  }
  unsigned joined(const CellCoordinates& x) const {
    return nodes_.joined[to_size(nodes_.real_at[to_size(lattice_.site(x))])];
  }

  /// Corners of cubes are joined along the edges between them.
  bool sides_joined(const CellCoordinates& x, const CellCoordinates& high) const {
    if (!only_real(x)) return false;
    for (std::size_t a = 0; a < 3; ++a) {
      if (x[a] < high[a] && ((joined(x) >> a) & 1) == 0) return false;
    }
    return true;
  }

  /// The cubes beyond the block's faces have their centres joined to those faces.
  bool neighbors_joined(const CellCoordinates& center) const {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      for (const int side : {-3, 3}) {
        CellCoordinates low = shifted(center, axis, side), high = low;
        for (const std::size_t a : {(axis + 1) % 3, (axis + 2) % 3}) low[a] -= 1, high[a] += 1;
        const auto faces_block = [&](const CellCoordinates& x) {
          if (!only_real(x)) return false;
          for (int d = 3; d <= 10; ++d) {  // the short ones
            const bool toward = BccLattice::directions[to_size(d)][axis] * side < 0;
            if (toward && ((joined(x) >> d) & 1) == 0) return false;
          }
          return true;
        };
        if (!all_between(low, high, 2, faces_block)) return false;
      }
    }
    return true;
  }

  const FleshNodes& nodes_;
  const BccLattice& lattice_;
};

/// Turns a tetrahedron the right way round.
GradedInterior::Tet oriented(GradedInterior::Tet tet) {
  std::array<std::array<std::int64_t, 3>, 3> e{};
  for (std::size_t k = 0; k < 3; ++k) {
    for (std::size_t a = 0; a < 3; ++a) e[k][a] = tet[k + 1][a] - tet[0][a];
  }
  const std::int64_t volume = e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
                              e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
                              e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
  if (volume < 0) std::swap(tet[2], tet[3]);
  return tet;
}

/// A face of a leaf: its middle, and its corners in a ring.
struct Face {
  CellCoordinates middle{};
  std::array<CellCoordinates, 4> corner{};
  std::array<std::array<int, 3>, 4> beyond{};  ///< steps, in leaves, over the edge from corner k to corner k + 1

  Face(const CellCoordinates& center, int half, std::size_t axis, int side) {
    const std::size_t b = (axis + 1) % 3, c = (axis + 2) % 3;
    constexpr std::array<std::array<int, 2>, 4> ring = {{{-1, -1}, {1, -1}, {1, 1}, {-1, 1}}};
    middle = shifted(center, axis, side * half);
    for (std::size_t k = 0; k < 4; ++k)
      corner[k] = shifted(shifted(middle, b, ring[k][0] * half), c, ring[k][1] * half);
    beyond[0][c] = beyond[3][b] = -1;
    beyond[1][b] = beyond[2][c] = 1;
  }
};

CellCoordinates halfway(const CellCoordinates& x, const CellCoordinates& y) {
  return {(x[0] + y[0]) / 2, (x[1] + y[1]) / 2, (x[2] + y[2]) / 2};
}

}  // namespace

template <class Judge>
GradedInterior::Level GradedInterior::judged(const CellCoordinates& finer, const Judge& judge) {
  Level level;
  for (std::size_t a = 0; a < 3; ++a) level.size[a] = finer[a] / 2;
  level.is_whole.assign(to_size(level.size[0]) * to_size(level.size[1]) * to_size(level.size[2]), 0);
  parallel_for(level.size[2], 1, [&](std::int64_t k) {
    for (int j = 0; j < level.size[1]; ++j) {
      for (int i = 0; i < level.size[0]; ++i) {
        const CellCoordinates block = {i, j, static_cast<int>(k)};
        level.is_whole[level.number(block)] = judge(block) ? 1 : 0;
      }
    }
  });
  return level;
}

GradedInterior::GradedInterior(const FleshNodes& nodes, const BccLattice& lattice) {
  const Depth depth(nodes, lattice);
  Level level = judged(lattice.cells(), [&](const CellCoordinates& block) { return depth.whole(block); });
  while (std::find(level.is_whole.begin(), level.is_whole.end(), 1) != level.is_whole.end()) {
    levels_.push_back(std::move(level));
    // Its eight parts, and all that touch them, must be whole.
    const Level& finer = levels_.back();
    level = judged(finer.size, [&](const CellCoordinates& block) {
      return all_between({2 * block[0] - 1, 2 * block[1] - 1, 2 * block[2] - 1},
                         {2 * block[0] + 2, 2 * block[1] + 2, 2 * block[2] + 2}, 1,
                         [&](const CellCoordinates& part) { return finer.whole(part); });
    });
  }
}

void GradedInterior::add_leaf(int level, const CellCoordinates& block, std::vector<Tet>& out) const {
  const Level& same = levels_[to_size(level - 1)];
  const int half = 1 << level;
  const CellCoordinates center = {half * (2 * block[0] + 1), half * (2 * block[1] + 1), half * (2 * block[2] + 1)};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (const int side : {-1, 1}) {
      const Face face(center, half, axis, side);
      const CellCoordinates next = shifted(block, axis, side);
      const bool even = same.whole(next);
      const bool larger =
          even && level < levels() && levels_[to_size(level)].whole({next[0] >> 1, next[1] >> 1, next[2] >> 1});
      if (larger || (even && side < 0)) continue;  // the other one does it
      for (std::size_t k = 0; k < 4; ++k) {
        const CellCoordinates &p = face.corner[k], &q = face.corner[(k + 1) % 4], m = halfway(p, q);
        if (!even) {
          for (const CellCoordinates& end : {p, q}) {
            const CellCoordinates small = shifted(halfway(end, face.middle), axis, side * half / 2);
            out.push_back(oriented({center, face.middle, end, m}));
            out.push_back(oriented({small, face.middle, end, m}));
          }
          continue;
        }
        const CellCoordinates other = shifted(center, axis, 2 * half);
        const auto over = [&](const CellCoordinates& from) {
          return CellCoordinates{from[0] + face.beyond[k][0], from[1] + face.beyond[k][1], from[2] + face.beyond[k][2]};
        };
        if (same.whole(over(block)) && same.whole(over(next))) {
          out.push_back(oriented({center, other, p, q}));
        } else {
          out.push_back(oriented({center, other, p, m}));
          out.push_back(oriented({center, other, m, q}));
        }
      }
    }
  }
}

std::vector<GradedInterior::Tet> GradedInterior::tets() const {
  std::vector<Tet> out;
  for (int level = 1; level <= levels(); ++level) {
    const Level& blocks = levels_[to_size(level - 1)];
    for (int k = 0; k < blocks.size[2]; ++k) {
      for (int j = 0; j < blocks.size[1]; ++j) {
        for (int i = 0; i < blocks.size[0]; ++i) {
          const bool part = level < levels() && levels_[to_size(level)].whole({i >> 1, j >> 1, k >> 1});
          if (!part && blocks.whole({i, j, k})) add_leaf(level, {i, j, k}, out);
        }
      }
    }
  }
  return out;
}

}  // namespace supple
