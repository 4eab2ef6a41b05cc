// SPDX-License-Identifier: Apache-2.0
// WireGroups: wires that are added up (SumDeformer), on chosen vertices, four of one segment of a wire at a time.
//
// On a segment, curve, tangent and twist are cubic in the place t of a vertex between two handles, so a pose makes four
// coefficients of each segment. A vertex x hangs at t with its distance from the curve, x − C0 = α t0 + m, t0 the unit
// tangent at rest and m normal to it, and α, t0, m are known before there is a pose. With T the new tangent, C the
// curve's displacement and φ the twist (Wire, deformers.h),
//   m' = cos φ m + sin φ t0 × m       β = T·m' / (|T| + t0·T)
//   x' = x + w (C + (m' − m) + T (α − β) / |T| − t0 (α + β))
// which is the least rotation from t0 to T: its square root and its only division are all there is besides products.
#pragma once

#include "supple/math/simd/lanes.h"
#include "supple/rig/rig.h"

namespace supple {

class Wire;

class WireGroups {
 public:
  struct PlacedWire {
    const Wire* wire = nullptr;
    Index first = 0;  ///< of its numbers in p
  };

  /// Keeps pointers to the wires, which must outlive it.
  WireGroups(std::vector<PlacedWire> wires, Index most_vertices);

  /// Which vertices; found out again only when others are wanted than the last time. `rest`: where all vertices are
  /// before the wires move them. Allocates nothing.
  void choose(std::span<const Index> vertices, std::span<const Vec3> rest);
  /// The chosen vertices are elsewhere before the wires move them.
  void put(std::span<const Vec3> positions);
  /// Gives the rest positions of the chosen vertices.
  std::span<const Vec3> places() const { return places_; }
  /// Gives the displacement of each chosen vertex, in the order in which they were chosen; the fourth number is zero.
  /// Allocates nothing.
  std::span<const Pack4> displacements(std::span<const double> p);

 private:
  struct Group {
    std::array<Index, 4> at;   ///< among the chosen vertices
    Pack4 t, weight;           ///< the second is zero in lanes that pad
    Pack4 speed, along;        ///< |C0'| and α
    Pack4Vec3 tangent, aside;  ///< t0 and m
  };
  struct Run {  ///< groups of one segment
    PlacedWire wire;
    Index segment = 0;
    std::size_t begin = 0, end = 0;
  };
  struct Cubic;
  struct Shape {  ///< that a pose gives the curve at a group
    Pack4Vec3 C, T;
    Pack4 sine, cosine;
    Pack4 over_length, over_both;  ///< 1 / |T| and 1 / (|T| + t0·T)
  };
  void hang(const PlacedWire& wire);
  void fill(Group& group, int lane, Index at, const Wire& wire) const;
  void put(Group& group, const Wire& wire, std::span<const Vec3> positions) const;
  void move(const Run& run, std::span<const double> p);
  static void bend(const Cubic& curve, std::span<const Group> groups, Shape* shape);
  void add(std::span<const Group> groups, const Shape* shape);

  std::vector<PlacedWire> wires_;
  std::vector<Index> vertices_;
  std::vector<Index> order_;  ///< scratch
  std::vector<Run> runs_;
  std::vector<Group> groups_;
  std::vector<Vec3> places_;  ///< of the chosen vertices at rest
  std::vector<Pack4> sums_;
};

}  // namespace supple
