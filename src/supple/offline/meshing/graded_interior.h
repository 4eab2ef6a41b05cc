// SPDX-License-Identifier: Apache-2.0
// A graded interior: cells that grow towards the inside, so that the same number of tetrahedra gives a finer skin
// (after the octree-graded lattice of Labelle and Shewchuk 2007).
//
// Cubes of the lattice that lie deep in the flesh are gathered into blocks of 2, 4, 8 … cubes a side, the leaves of an
// octree. Leaves that touch, if only at a corner, differ by a factor of two at most. Each leaf has a vertex at its
// centre and at its corners; all of them are sites of the lattice, so that flesh nodes serve as they are. Between
//
//   two leaves of one size   the tetrahedra of the coarser lattice: both centres and an edge of the common face, halved
//                            at the edge's middle if a smaller leaf touches it;
//   a leaf and four smaller  the common face is cut into eight triangles around its middle; each spans one tetrahedron
//                            with the centre of the larger leaf and one with that of the smaller.
//
// These have dihedral angles of 45 degrees at least. Cubes that are left alone keep the tetrahedra of the lattice,
// so nothing near the surface or near thin flesh differs from a uniform mesh of the same spacing.
#pragma once

#include "supple/offline/meshing/flesh_nodes.h"

namespace supple {

class GradedInterior {
 public:
  using Tet = std::array<BccLattice::Coordinates, 4>;

  /// Makes an interior in which all cubes are left alone.
  GradedInterior() = default;
  GradedInterior(const FleshNodes& nodes, const BccLattice& lattice);

  /// Has the cube with this centre become part of a larger leaf?
  bool swallowed(const BccLattice::Coordinates& center) const {
    return !levels_.empty() && levels_[0].whole({center[0] >> 2, center[1] >> 2, center[2] >> 2});
  }
  /// Gives the level of the largest leaf, which has 2^levels cubes a side; 0 where all cubes are left alone.
  int levels() const { return static_cast<int>(levels_.size()); }

  /// The tetrahedra that have a corner at the centre of a larger leaf, in positive order: between them and the
  /// lattice's own between cubes that are left alone, the flesh is filled.
  std::vector<Tet> tets() const;

 private:
  using Coordinates = BccLattice::Coordinates;

  /// Blocks of one size: which may be a leaf, or part of a larger one.
  struct Level {
    Coordinates size{};
    std::vector<std::uint8_t> is_whole;

    bool whole(const Coordinates& block) const {
      for (std::size_t a = 0; a < 3; ++a) {
        if (block[a] < 0 || block[a] >= size[a]) return false;
      }
      return is_whole[number(block)] != 0;
    }
    std::size_t number(const Coordinates& block) const {
      return to_size(block[0]) + to_size(size[0]) * (to_size(block[1]) + to_size(size[1]) * to_size(block[2]));
    }
  };

  /// Joins cubes to blocks of the next size where `judge` says so.
  template <class Judge>
  static Level judged(const Coordinates& finer, const Judge& judge);
  void add_leaf(int level, const Coordinates& block, std::vector<Tet>& out) const;

  std::vector<Level> levels_;  // of 2, 4, 8 … cubes a side
};

}  // namespace supple
