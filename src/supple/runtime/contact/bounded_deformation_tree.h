// SPDX-License-Identifier: Apache-2.0
// BoundedDeformationTree: a hierarchy of spheres and boxes around the triangles of a reduced deformable surface, which
// follow from the coordinates q alone (James and Pai, "BD-Tree", 2004). A node costs O(r), whatever it contains, and
// only nodes that a query visits cost anything.
//
// A node wraps its points p directly, not its children's bounds. With x_p(q) = X_p + U_p q, a centre that moves along
//   c(q) = c0 + Ū q
// and D_p = U_p − Ū, every point obeys |x_p − c| ≤ |X_p − c0| + |D_p q|. Two bounds on the last term are cheap:
//   by columns   |D_p q| ≤ Σ_a |q_a| Δ_a         Δ_a = max_p |column a of D_p|      sharp when one coordinate leads
//   by norm      |D_p q| ≤ κ |S q|               κ = max_p ‖D_p S⁻¹‖₂               sharp when all take part
// where S = diag(s_a), s_a the largest motion of any surface point along coordinate a: it makes coordinates alike.
// The radius takes the smaller:  R(q) = max_p |X_p − c0| + min(Σ_a |q_a| Δ_a, κ |S q|).
// Axis by axis, with rows of D_p in place of D_p, the same gives a box around the same centre. Spheres suit round
// things and cost least; boxes suit planks and bars, whose spheres are mostly air: a query asks the box only when the
// sphere has not settled it. Ū is the middle of the range of the U_p, entry by entry, which keeps D_p small. Triangles
// are convex, so what contains their corners contains them.
//
// Bounds are kept and evaluated in single precision: half the memory, twice the speed. Ū and c0 are what they are after
// rounding, everything that grows a bound is rounded up, and a slack (ReducedShape) covers the rounding of the sums.
#pragma once

#include "supple/asset/subspace_model.h"
#include "supple/math/simd/pack.h"
#include "supple/runtime/subspace/basis_rows.h"

#include <span>
#include <vector>

namespace supple {

struct Sphere {
  Vec3 center;
  double radius;
};

/// The coordinates as the tree reads them: padded, with their magnitudes. Belongs to an instance; never reallocates.
struct ReducedShape {
  std::vector<double> q;          ///< r entries
  std::vector<float> padded;      ///< q, then zeros up to a whole SIMD vector
  std::vector<float> magnitudes;  ///< |q_a| or a little more, padded alike
  float scaled_norm = 0.0F;       ///< |S q| or a little more
  double slack = 0.0;             ///< what rounding may take from a bound [m]
};

class BoundedDeformationTree {
 public:
  /// A pair of children stands side by side; a leaf has triangles of the surface instead.
  struct Node {
    Index first_child = 0;  ///< its sibling follows; 0 for a leaf
    Index first = 0;        ///< into triangle_order()
    Index count = 0;        ///< of all triangles below

    bool is_leaf() const { return first_child == 0; }
  };

  static constexpr Index triangles_per_leaf = 4;

  BoundedDeformationTree() = default;
  /// Triangles must name existing vertices, and the basis must have three rows for each of them (as the archive
  /// checks).
  explicit BoundedDeformationTree(const DisplaySurface& surface);

  int size() const { return rows_.size(); }
  bool empty() const { return nodes_.empty(); }
  std::span<const Node> nodes() const { return nodes_; }
  std::span<const Index> triangle_order() const { return order_; }
  std::span<const Triangle> triangles() const { return triangles_; }
  std::span<const Vec3> rest_positions() const { return rest_positions_; }
  const BasisRows<double>& rows() const { return rows_; }

  ReducedShape make_shape() const;
  /// Sets the coordinates q (r entries) of a shape, without allocating.
  void assign(std::span<const double> q, ReducedShape& shape) const;
  /// Gives a sphere that contains every triangle below the node.
  Sphere sphere(Index node, const ReducedShape& shape) const;
  /// So does the box around the sphere's centre with these half widths.
  Vec3 half_widths(Index node, const ReducedShape& shape) const;
  Vec3 position(Index vertex, const ReducedShape& shape) const;

 private:
  using Vector = Pack<float, 8>;
  static constexpr int width = 8;

  void build_nodes(const DisplaySurface& surface);
  void split(Index node, std::span<const Vec3> centroids);
  void bound_node(Index node, const MatX& basis);
  void bound_rest(std::span<const Index> vertices, float* out) const;
  void bound_motion(std::span<const Index> vertices, const MatX& basis, float* out) const;
  /// The vertices of a node's triangles, each once.
  void collect_vertices(const Node& node, std::vector<Index>& vertices) const;
  float* block(Index node) { return bounds_.data() + static_cast<std::ptrdiff_t>(node) * stride_; }
  const float* block(Index node) const { return bounds_.data() + static_cast<std::ptrdiff_t>(node) * stride_; }

  std::vector<Vec3> rest_positions_;
  std::vector<Triangle> triangles_;
  BasisRows<double> rows_;
  std::vector<double> scales_;  ///< s_a
  std::vector<Node> nodes_;
  std::vector<Index> order_;
  double extent_ = 0.0;  ///< largest coordinate of a rest position
  /// For each node its parts at rest, then for each eight coordinates the rows x, y, z of Ū and Δ of the sphere, then
  /// for each eight coordinates Δ of the box along x, y, z.
  std::vector<float> bounds_;
  int padded_ = 0;
  std::ptrdiff_t stride_ = 0;
};

}  // namespace supple
