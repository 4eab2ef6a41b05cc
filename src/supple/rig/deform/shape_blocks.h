// SPDX-License-Identifier: Apache-2.0
// ShapeBlocks: shapes of a ShapeTable at chosen vertices, sixteen vertices at a time with every shape that moves one
// of them. Their numbers lie as positions do: a shape is twelve vectors to add, and nothing is looked up.
#pragma once

#include "supple/math/simd/lanes.h"
#include "supple/rig/deform/deformers.h"

namespace supple {

class ShapeBlocks {
 public:
  /// `shapes`: how many. The table lives longer than this.
  ShapeBlocks(const ShapeTable& table, std::size_t shapes, Index most_vertices);

  /// Found out again only when other vertices are wanted than the last time. Allocates nothing.
  void choose(std::span<const Index> vertices);
  /// positions += Σ_k weight_k displacement_k of the chosen vertices.
  void add(std::span<const double> weights, std::span<Vec3> positions) const;

 private:
  static constexpr std::size_t width = 16;
  using Numbers = std::array<Pack4, 3 * width / 4>;  ///< x y z of so many vertices
  void add_block(std::size_t first);
  void add(std::size_t block, std::span<const double> weights, double* numbers) const;

  const ShapeTable* table_;
  std::vector<Index> vertices_;
  std::vector<std::size_t> first_;  ///< term of each block, and their number
  std::vector<Numbers> terms_;
  std::vector<Index> shapes_;  ///< for each term, the shape that it belongs to
  std::vector<Vec3> moved_;    ///< scratch: of each shape and vertex of a block
};

}  // namespace supple
